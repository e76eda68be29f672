package evm

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/holiman/uint256"

	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
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

	blocks      []plannedBlock
	planned     int      // how many of them were begun
	actions     []action // nil: anything usual
	next        int      // among actions
	deployments int      // actions before which the chain has not all of its contracts
}

// Begin plans a chain's history and emits its block 0. The chain's ids must be known.
func (c *Chain) Begin(atomic AtomicTxs, scheduled []ScheduledTx, emit func(*store.Delta)) (*History, error) {
	emit(c.genesis)
	h := &History{chain: c, activity: &activity{chain: c}, atomic: atomic, scheduled: &scheduledTxs{chain: c, txs: scheduled}, emit: emit,
		blocks: c.planBlocks()}
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
	r := h.chain.rng.For("script", h.chain.Row.EVMID)
	r.Shuffle(len(strewn), func(i, j int) { strewn[i], strewn[j] = strewn[j], strewn[i] })
	h.actions = append(first, strewn...)
	return nil
}

// deployed tells whether the chain has all of its contracts.
func (h *History) deployed() bool { return h.next >= h.deployments }

// Next is the next block to make, or false when history is complete. Whatever the plan says, a block is due when value moves to
// or from another chain, and for each scheduled transaction.
func (h *History) Next() (plannedBlock, bool) {
	b := h.nextPlanned()
	b.TimeMS = h.affordable(max(b.TimeMS, h.earliest(h.deployed())))
	at, due := h.nextDue()
	next := b.TimeMS
	if due {
		next = min(next, at)
	}
	if exact, first := h.delayed(next); first {
		return plannedBlock{TimeMS: exact}, true
	}
	switch {
	case due && (at <= b.TimeMS || h.next >= len(h.actions)):
		b = plannedBlock{TimeMS: at}
		if !h.deployed() && h.scheduled.waits(at, h.earliest(false)) {
			b.Size = population.TxsPerBlock // deploy on: the scheduled transaction needs the greeter
		}
		return b, true
	case h.next >= len(h.actions):
		return b, false
	}
	h.planned++
	return b, true
}

// delayed tells whether a block at a time would keep a transaction from the second in which it must stand, and when the block of that
// transaction is to be made instead: what the other one was for comes with it, or after it.
func (h *History) delayed(timeMS uint64) (exact uint64, first bool) {
	at, due := h.scheduled.nextExact()
	if !due || timeMS >= 1000*at {
		return 0, false
	}
	head, _ := h.chain.Builder.Head()
	delay := head.EarliestChild() - head.TimeMilliseconds
	exact = max(1000*at, head.EarliestChild())
	return exact, timeMS+delay >= 1000*(at+1) && exact < 1000*(at+1)
}

// nextPlanned is the next of the planned blocks. What did not fit into them goes into more, right after.
func (h *History) nextPlanned() plannedBlock {
	if h.planned < len(h.blocks) {
		return h.blocks[h.planned]
	}
	return plannedBlock{TimeMS: h.blocks[len(h.blocks)-1].TimeMS, Size: population.TxsPerBlock}
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
	return max(1000*at, h.earliest(true)), true
}

// feeWindow is how many milliseconds an L1 looks back on to see how much gas was used; a C-Chain has all of its gas again sooner.
const feeWindow = 10_000

// earliest is the first millisecond in which another block can stand. While the chain gets its contracts, blocks leave each other
// so much time that gas becomes no dearer.
func (h *History) earliest(deployed bool) uint64 {
	head, _ := h.chain.Builder.Head()
	if !deployed {
		return head.TimeMilliseconds + 1000 + feeWindow
	}
	return head.EarliestChild()
}

const (
	dearestGas = 40 * gwei // for which people act on a C-Chain
	patience   = 10_000    // milliseconds until they look again
)

// affordable is the first time from a given one on at which people find gas on a C-Chain cheap enough. It matters only to a chain
// that has more to do than it can, where the base fee would rise for as long as they went on.
func (h *History) affordable(timeMS uint64) uint64 {
	if h.chain.IsL1() {
		return timeMS
	}
	head, _ := h.chain.Builder.Head()
	for limit := big.NewInt(dearestGas); evm.NextBaseFee(evm.KindC, precompile.FeeConfig{}, head, timeMS).Cmp(limit) > 0; {
		timeMS += patience
	}
	return timeMS
}

// askingProposers is how many percent of the proposers ask for another gas target or delay, on a chain where any do.
const askingProposers = 60

// Make makes a block of the next actions, as many as are due and fit, and says how many transactions it has of the chain's own.
// A block in which nothing fits is not made: the actions wait for the next one. Scheduled transactions come first.
func (h *History) Make(ctx context.Context, b plannedBlock) (int, error) {
	p, err := h.chain.Builder.Open(b.TimeMS)
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
	if population.Chance(h.chain.rng.For("proposer", h.chain.Row.EVMID, b.TimeMS), askingProposers) {
		p.Desire(h.chain.desired)
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
func (h *History) act(p *evm.Pending, b plannedBlock) (done int, err error) {
	if b.rush != nil {
		h.makeWay(b.Size)
	}
	for actions := h.actions[h.next:]; done < min(b.Size, len(actions)); done++ {
		r := h.chain.rng.For("tx", h.chain.Row.EVMID, b.TimeMS, done)
		request, offer, err := h.decide(p, actions[done], b.rush, r)
		if err != nil {
			return 0, err
		}
		if request.Gas+gasAccess > p.GasLeft() {
			break
		}
		if _, err := h.chain.execute(p, request, h.chain.txData(p.Nonce(request.From.Address), p.Header().BaseFee, request, offer, r)); err != nil {
			return 0, fmt.Errorf("chain %d, block %d: %w", h.chain.Row.EVMID, p.Header().Number, err)
		}
		if request.done != nil {
			request.done()
		}
	}
	return done, nil
}

// makeWay puts off what personas were about to do: the next actions are anybody's, as long as there are some.
func (h *History) makeWay(count int) {
	later := h.next
	for n := h.next; n < min(h.next+count, len(h.actions)); n++ {
		if h.actions[n] == nil {
			continue
		}
		for later = max(later, n+1); later < len(h.actions) && h.actions[later] != nil; later++ {
		}
		if later == len(h.actions) {
			return
		}
		h.actions[n], h.actions[later] = nil, h.actions[n]
	}
}

// gasAtomic is more than an atomic transaction uses.
const gasAtomic = 1_000_000

// moveValue executes the atomic transactions that are due, unless the block is full.
func (h *History) moveValue(p *evm.Pending) (bool, error) {
	if h.atomic == nil || p.GasLeft() < gasAtomic {
		return false, nil
	}
	return h.atomic.ApplyAtomic(p)
}

// decide is the transaction of an action, and what its sender offers. Who cannot pay for it is sent money first: that is then
// what happens instead.
func (h *History) decide(p *evm.Pending, do action, rush *rush, r *rand.Rand) (request *TxRequest, o offer, err error) {
	switch {
	case do != nil:
		request, err = do(r)
	case rush != nil:
		request, err = rush.act(h.activity, p.GasLeft(), r)
	}
	if err == nil && request == nil {
		request, err = h.activity.any(r)
	}
	if err != nil {
		return nil, o, err
	}
	time := p.Header().Time
	o = h.chain.offerOf(request.From, time, rush != nil, r)
	cost := new(big.Int).Mul(o.limit(p.Header().BaseFee), new(big.Int).SetUint64(request.Gas+gasAccess))
	if request.Value != nil {
		cost.Add(cost, request.Value)
	}
	if limit, overflow := uint256.FromBig(cost); overflow || p.Balance(request.From.Address).Lt(limit) {
		request = h.chain.gift(h.chain.Personas.Whale, request.From.Address, p.Balance, r)
		o = h.chain.offerOf(request.From, time, rush != nil, r)
	}
	return request, o, nil
}

// plannedBlock is when a block is to be made, in Unix milliseconds, how many transactions it should hold, and what they are beside
// those that were going to happen anyway.
type plannedBlock struct {
	TimeMS uint64
	Size   int
	rush   *rush // nil for everyday life
}

// fullBlock is how many transactions a block of everyday life has on average at most.
const fullBlock = 5

// planBlocks spreads a chain's transactions over history as activity spreads, with rushes on a C-Chain. A
// rush takes blocks away from everyday life, so that a chain has as many with it as without.
func (c *Chain) planBlocks() []plannedBlock {
	r := c.rng.For("schedule", c.Row.EVMID)
	blocks := c.planRushes(c.rng.For("rushes", c.Row.EVMID))
	rest := c.size
	for i := range blocks {
		rest -= blocks[i].Size
	}
	count := max(c.size/population.TxsPerBlock-len(blocks), rest/fullBlock)
	for _, b := range population.PlanBlocks(r, rest, count, c.span) {
		blocks = append(blocks, plannedBlock{TimeMS: 1000*b.Time + uint64(r.IntN(1000)), Size: b.Size})
	}
	slices.SortStableFunc(blocks, func(a, b plannedBlock) int { return cmp.Compare(a.TimeMS, b.TimeMS) })
	return blocks
}
