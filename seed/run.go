package seed

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/holiman/uint256"

	"snowglobe/sim"
	"snowglobe/sim/evm"
)

// run plays a chain's history, block by block. The blocks of a C-Chain stand among those of its network's P- and X-chain.
func (s *evmChain) run(ctx context.Context, creation *sim.Creation, moments []moment, size int, progress func(int)) error {
	creation.AddChain(s.chain)
	creation.AddBlock(s.first)
	size -= len(s.icmEndpoint.mail)
	script, err := s.script(size)
	if err != nil {
		return err
	}
	ready := len(s.setup())
	for n, next := 0, 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := plannedBlockAt(moments, n)
		m.time = max(m.time, s.after(next >= ready))
		switch at, due := s.nextDue(next >= ready); {
		case due && (at <= m.time || next >= size):
			if m = (moment{time: at}); next < ready && s.messengerMissing(at) {
				m.size = perBlock // nobody writes before there is a messenger
			}
		case next >= size:
			return nil
		default:
			n++
		}
		done, handled, err := s.block(ctx, creation, m, script[next:], next >= ready)
		if err != nil {
			return err
		}
		next += done
		progress(done + handled)
	}
}

// appointment is when the chain must make a block next, whatever its own people do: because value crosses, or for its mail.
func (s *evmChain) nextDue(ready bool) (at uint64, due bool) {
	at, due = s.atomicTx()
	if mail, waits := s.nextScheduled(ready); waits && (!due || mail < at) {
		return mail, true
	}
	return at, due
}

// hurried tells whether the appointment at a time, before the chain has its contracts, is one with mail that needs them.
func (s *evmChain) messengerMissing(at uint64) bool {
	mail, waits := s.nextScheduled(false)
	return waits && mail <= at && !s.icmEndpoint.mail[s.icmEndpoint.next].early
}

// crossing is when value crosses to or from the chain next, in a block of its own.
func (s *evmChain) atomicTx() (at uint64, due bool) {
	if s.primaryNetwork == nil || len(s.primaryNetwork.atomicTxs) == 0 {
		return 0, false
	}
	return max(s.primaryNetwork.atomicTxs[0].at, s.after(true)), true
}

// feeWindow is how many seconds an L1 looks back on to see how much gas was used.
const feeWindow = 10

// after is the first second in which another block can stand. While the chain gets its contracts, blocks leave each other so
// much time that gas becomes no dearer.
func (s *evmChain) after(ready bool) uint64 {
	head, _ := s.builder.Head()
	if !ready {
		return head.Time + 1 + feeWindow
	}
	return head.Time + 1
}

// momentAt is the n-th block to be. What did not fit into the planned blocks goes into more of them, right after.
func plannedBlockAt(moments []moment, n int) moment {
	if n < len(moments) {
		return moments[n]
	}
	last := moments[len(moments)-1]
	return moment{time: last.time + 2*uint64(n-len(moments)+1), size: perBlock}
}

// script is everything that happens, one step a transaction: first what sets the chain up, then the personas' parts
// strewn among everyone else's doings.
func (s *evmChain) script(size int) ([]action, error) {
	opening, later := s.precompileCalls()
	script, personaActions := append(s.setup(), opening...), append(s.personaActions(), later...)
	if need := len(script) + len(personaActions); need > size {
		return nil, fmt.Errorf("chain %d: %d transactions are too few, its people need %d", s.chain.EVMID, size, need)
	}
	rest := make([]action, size-len(script))
	copy(rest, personaActions)
	for n := len(personaActions); n < len(rest); n++ {
		rest[n] = s.live
	}
	r := s.rng.For("script", s.chain.EVMID)
	r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return append(script, rest...), nil
}

// block makes one block of the next steps, as many as are due and fit, and says how many those were. A block in which
// nothing fits is not made: the steps wait for the next moment. The mail comes first: it is to be on time.
func (s *evmChain) block(ctx context.Context, creation *sim.Creation, m moment, steps []action, ready bool) (done, handled int, err error) {
	if s.primaryNetwork != nil {
		if err := s.primaryNetwork.advance(m.time); err != nil {
			return 0, 0, err
		}
	}
	p, err := s.builder.Open(m.time)
	if err != nil {
		return 0, 0, err
	}
	if handled, err = s.handle(ctx, p, ready); err != nil {
		return 0, 0, err
	}
	for ; done < min(m.size, len(steps)); done++ {
		r := s.rng.For("tx", s.chain.EVMID, m.time, done)
		i, err := s.decide(p, steps[done], r)
		if err != nil {
			return 0, 0, err
		}
		if i.gas+gasAccess > p.Room() {
			break
		}
		if err := s.perform(p, i, r); err != nil {
			return 0, 0, err
		}
	}
	crossed, err := s.cross(p)
	if err != nil || done+handled == 0 && !crossed {
		return 0, 0, err
	}
	delta, err := p.Seal()
	if err != nil {
		return 0, 0, err
	}
	creation.AddBlock(delta)
	return done, handled, nil
}

// cross moves what is due between the chain and its network's others, and says whether anything was.
func (s *evmChain) cross(p *evm.Pending) (bool, error) {
	if s.primaryNetwork == nil {
		return false, nil
	}
	return s.primaryNetwork.cross(p)
}

// decide is what somebody wants now. Who cannot pay for it is sent money first: that is then what happens instead.
func (s *evmChain) decide(p *evm.Pending, do action, r *rand.Rand) (*txRequest, error) {
	i, err := do(r)
	if err == nil && i == nil {
		i, err = s.live(r)
	}
	if err != nil {
		return nil, err
	}
	cost := new(big.Int).Mul(p.Header().BaseFee, big.NewInt(3))
	cost.Mul(cost, new(big.Int).SetUint64(i.gas+gasAccess))
	if i.value != nil {
		cost.Add(cost, i.value)
	}
	limit, overflow := uint256.FromBig(cost)
	if overflow || p.Balance(i.from.address).Lt(limit) {
		return pay(s.people["whale"], i.from.address, units(300, 18)), nil
	}
	return i, nil
}
