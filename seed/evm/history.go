package evm

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/holiman/uint256"

	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// action is something that happens on a chain, decided when its turn comes. An action that is not possible now answers nil.
type action func(*rand.Rand) (*TxRequest, error)

// AtomicTxs are the transactions that move value between a C-Chain and its network's other chains.
type AtomicTxs interface {
	// NextAtomic is when the next one is due.
	NextAtomic() (at uint64, due bool)
	// ApplyAtomic executes what is due in a block, and says whether anything was.
	ApplyAtomic(p *evm.Pending) (bool, error)
}

// History makes the blocks of a chain, one after the other.
type History struct {
	chain     *Chain
	activity  *activity
	atomic    AtomicTxs // of a C-Chain
	scheduled *scheduledTxs
	emit      func(*store.Delta)

	blocks      []population.PlannedBlock
	planned     int // how many of them were begun
	actions     []action
	next        int // among actions
	deployments int // actions before which the chain has not all of its contracts
}

// Begin plans a chain's history and emits its block 0. The chain's ids must be known.
func (c *Chain) Begin(atomic AtomicTxs, scheduled []ScheduledTx, emit func(*store.Delta)) (*History, error) {
	emit(c.genesis)
	h := &History{chain: c, activity: &activity{chain: c}, atomic: atomic, scheduled: &scheduledTxs{chain: c, txs: scheduled}, emit: emit,
		blocks: population.PlanBlocks(c.rng.For("schedule", c.Row.EVMID), c.size, c.span)}
	deployments := (&deployment{c}).actions()
	h.deployments = len(deployments)
	personas := &personaActivity{h.activity, !c.IsL1() && c.size >= fullSize}
	return h, h.plan(deployments, personas.actions(), c.size-len(scheduled))
}

// plan lists everything that happens, one action a transaction: first what sets the chain up, then what the personas do, strewn
// among what everyone else does.
func (h *History) plan(deployments, personas []action, size int) error {
	opening, later := (&precompileCalls{h.chain}).actions()
	first, rest := append(deployments, opening...), append(personas, later...)
	if need := len(first) + len(rest); need > size {
		return fmt.Errorf("chain %d: %d transactions are too few, its personas need %d", h.chain.Row.EVMID, size, need)
	}
	strewn := make([]action, size-len(first))
	copy(strewn, rest)
	for n := len(rest); n < len(strewn); n++ {
		strewn[n] = h.activity.any
	}
	r := h.chain.rng.For("script", h.chain.Row.EVMID)
	r.Shuffle(len(strewn), func(i, j int) { strewn[i], strewn[j] = strewn[j], strewn[i] })
	h.actions = append(first, strewn...)
	return nil
}

// deployed tells whether the chain has all of its contracts.
func (h *History) deployed() bool { return h.next >= h.deployments }

// Next is the next block to make, or false when history is complete. Whatever the plan says, a block is due when value moves to
// or from another chain, and for each scheduled transaction.
func (h *History) Next() (population.PlannedBlock, bool) {
	b := h.nextPlanned()
	b.Time = max(b.Time, h.earliest(h.deployed()))
	at, due := h.nextDue()
	switch {
	case due && (at <= b.Time || h.next >= len(h.actions)):
		b = population.PlannedBlock{Time: at}
		if !h.deployed() && h.scheduled.waits(at, h.earliest(false)) {
			b.Size = population.TxsPerBlock // deploy on: the scheduled transaction needs the messenger
		}
		return b, true
	case h.next >= len(h.actions):
		return b, false
	}
	h.planned++
	return b, true
}

// nextPlanned is the next of the planned blocks. What did not fit into them goes into more, right after.
func (h *History) nextPlanned() population.PlannedBlock {
	if h.planned < len(h.blocks) {
		return h.blocks[h.planned]
	}
	last := h.blocks[len(h.blocks)-1]
	return population.PlannedBlock{Time: last.Time + 2*uint64(h.planned-len(h.blocks)+1), Size: population.TxsPerBlock}
}

// nextDue is when an atomic or a scheduled transaction asks for a block.
func (h *History) nextDue() (at uint64, due bool) {
	at, due = h.nextAtomic()
	if scheduled, waits := h.scheduled.next(h.deployed(), h.earliest); waits && (!due || scheduled < at) {
		return scheduled, true
	}
	return at, due
}

func (h *History) nextAtomic() (at uint64, due bool) {
	if h.atomic == nil {
		return 0, false
	}
	at, due = h.atomic.NextAtomic()
	if !due {
		return 0, false
	}
	return max(at, h.earliest(true)), true
}

// feeWindow is how many seconds an L1 looks back on to see how much gas was used.
const feeWindow = 10

// earliest is the first second in which another block can stand. While the chain gets its contracts, blocks leave each other so
// much time that gas becomes no dearer.
func (h *History) earliest(deployed bool) uint64 {
	head, _ := h.chain.Builder.Head()
	if !deployed {
		return head.Time + 1 + feeWindow
	}
	return head.Time + 1
}

// Make makes a block of the next actions, as many as are due and fit, and says how many transactions it has of the chain's own.
// A block in which nothing fits is not made: the actions wait for the next one. Scheduled transactions come first.
func (h *History) Make(ctx context.Context, b population.PlannedBlock) (int, error) {
	p, err := h.chain.Builder.Open(b.Time)
	if err != nil {
		return 0, err
	}
	sent, err := h.scheduled.send(ctx, p, h.deployed())
	if err != nil {
		return 0, err
	}
	acted, err := h.act(p, b)
	if err != nil {
		return 0, err
	}
	moved, err := h.moveValue(p)
	if err != nil || acted+sent == 0 && !moved {
		return 0, err
	}
	delta, err := p.Seal()
	if err != nil {
		return 0, err
	}
	h.next += acted
	h.emit(delta)
	return acted + sent, nil
}

// act executes the next actions in a block.
func (h *History) act(p *evm.Pending, b population.PlannedBlock) (done int, err error) {
	for actions := h.actions[h.next:]; done < min(b.Size, len(actions)); done++ {
		r := h.chain.rng.For("tx", h.chain.Row.EVMID, b.Time, done)
		request, err := h.decide(p, actions[done], r)
		if err != nil {
			return 0, err
		}
		if request.Gas+gasAccess > p.GasLeft() {
			break
		}
		if _, err := h.chain.execute(p, request, h.chain.txData(p, request, r)); err != nil {
			return 0, fmt.Errorf("chain %d, block %d: %w", h.chain.Row.EVMID, p.Header().Number, err)
		}
		if request.done != nil {
			request.done()
		}
	}
	return done, nil
}

// moveValue executes the atomic transactions that are due.
func (h *History) moveValue(p *evm.Pending) (bool, error) {
	if h.atomic == nil {
		return false, nil
	}
	return h.atomic.ApplyAtomic(p)
}

// decide is the transaction of an action. Who cannot pay for it is sent money first: that is then what happens instead.
func (h *History) decide(p *evm.Pending, do action, r *rand.Rand) (*TxRequest, error) {
	request, err := do(r)
	if err == nil && request == nil {
		request, err = h.activity.any(r)
	}
	if err != nil {
		return nil, err
	}
	cost := new(big.Int).Mul(p.Header().BaseFee, big.NewInt(3))
	cost.Mul(cost, new(big.Int).SetUint64(request.Gas+gasAccess))
	if request.Value != nil {
		cost.Add(cost, request.Value)
	}
	limit, overflow := uint256.FromBig(cost)
	if overflow || p.Balance(request.From.Address).Lt(limit) {
		return transfer(h.chain.Personas.Whale, request.From.Address, population.Units(50, 18)), nil
	}
	return request, nil
}
