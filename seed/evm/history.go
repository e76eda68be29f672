package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/holiman/uint256"

	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// action is an event on a chain, decided when its turn comes. It returns nil if it is not possible now.
type action func(*rand.Rand) (*TxRequest, error)

// AtomicTxs holds the transactions that move value between a C-Chain and its network's other chains.
type AtomicTxs interface {
	// NextAtomic returns the time of the next due transaction.
	NextAtomic() (at uint64, due bool)
	// ApplyAtomic executes the due transactions in a block, and reports whether there were any.
	ApplyAtomic(p *evm.BlockExecution) (bool, error)
}

// History makes a chain's blocks one by one.
type History struct {
	chain     *Chain
	activity  *activity
	atomic    AtomicTxs // of a C-Chain
	scheduled *scheduledTxs
	emit      func(*store.Delta)

	blocks      []plannedBlock
	planned     int      // how many of them were begun
	unbegun     int      // transactions in the others
	actions     []action // nil: anything usual
	next        int      // index in actions
	deployments int      // actions until the chain has all its contracts
}

// Begin plans a chain's history and emits its block 0. The chain's ids must be known.
func (c *Chain) Begin(atomic AtomicTxs, scheduled []ScheduledTx, emit func(*store.Delta)) (*History, error) {
	emit(c.genesis)
	size := c.size - len(scheduled)
	h := &History{chain: c, activity: &activity{chain: c}, atomic: atomic, scheduled: &scheduledTxs{chain: c, txs: scheduled}, emit: emit,
		blocks: c.planBlocks(size)}
	for i := range h.blocks {
		h.unbegun += h.blocks[i].Size
	}
	deployments := (&deployment{c}).actions()
	h.deployments = len(deployments)
	personas := &personaActivity{h.activity, !c.IsL1() && c.size >= fullSize}
	return h, h.plan(deployments, personas.actions(), size)
}

// plan lists one action per transaction: the setup of the chain first, then the personas' actions scattered among everyone else's.
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

// deployed reports whether the chain has all its contracts.
func (h *History) deployed() bool { return h.next >= h.deployments }

// Next returns the next block to make, or false when the history is complete. Besides the planned blocks, every transfer to or from another
// chain and every scheduled transaction needs a block.
func (h *History) Next() (plannedBlock, bool) {
	b := h.nextPlanned()
	b.TimeMS = h.affordable(max(b.TimeMS, h.earliest(h.deployed())))
	at, due := h.nextDue()
	if due {
		at = h.accepting(at)
	}
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
	h.begin()
	return b, true
}

func (h *History) begin() {
	if h.planned < len(h.blocks) {
		h.unbegun -= h.blocks[h.planned].Size
		h.planned++
	}
}

// delayed reports whether a block at a time would make a transaction miss the exact second it needs, and when to make that
// transaction's block instead. That block also serves the other one's purpose, or precedes it.
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

// nextPlanned returns the next planned block. It leaves out those whose actions happened before their time, so that some are left for the
// last ones, and lets everyday blocks make up for actions that did not fit. Those that did not fit into the last ones get more blocks right
// after.
func (h *History) nextPlanned() plannedBlock {
	for h.planned < len(h.blocks) {
		b := h.blocks[h.planned]
		switch early := h.unbegun - (len(h.actions) - h.next); {
		case early >= b.Size:
			h.begin()
			continue
		case early > 0:
			b.Size -= early
		case early < 0 && b.rush == nil:
			b.Size++
		}
		return b
	}
	return plannedBlock{TimeMS: h.blocks[len(h.blocks)-1].TimeMS, Size: population.TxsPerBlock}
}

// nextDue returns when an atomic or scheduled transaction asks for a block.
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

// feeWindow is the period over which an L1's fee counts gas, in milliseconds; a C-Chain regains all its gas sooner.
const feeWindow = 10_000

// earliest returns the first millisecond at which another block can follow. While the chain gets its contracts, blocks keep enough distance
// that gas does not become more expensive.
func (h *History) earliest(deployed bool) uint64 {
	head, _ := h.chain.Builder.Head()
	if !deployed {
		return head.TimeMilliseconds + 1000 + feeWindow
	}
	return head.EarliestChild()
}

const (
	dearestGas = 40 * gwei // the highest price at which people act on a C-Chain
	patience   = 10_000    // milliseconds until they look again
)

// affordable returns the first time from a given one at which gas on a C-Chain is cheap enough for people. It matters only to a chain with
// more to do than it has room for, on which the base fee would otherwise rise without end.
func (h *History) affordable(timeMS uint64) uint64 {
	if h.chain.IsL1() {
		return timeMS
	}
	for limit := big.NewInt(dearestGas); ; timeMS += patience {
		next, err := h.chain.Builder.NextHeader(timeMS, evm.Override{})
		if err != nil || next.BaseFee.Cmp(limit) <= 0 && !errors.Is(h.chain.Builder.Accepts(timeMS), evm.ErrQueueFull) {
			return timeMS // making the block reports the error
		}
	}
}

// accepting returns the first time from a given one at which a C-Chain has settled enough to accept another block.
func (h *History) accepting(timeMS uint64) uint64 {
	if later, err := h.chain.Builder.AcceptsFrom(timeMS, 500, evm.Override{}); err == nil {
		return later
	}
	return timeMS // making the block reports the error
}

// askingProposers is the percentage of proposers that vote for another gas target or delay, on a chain where any do.
const askingProposers = 60

// Make makes a block of the next actions, as many as are due and fit, and returns how many of its transactions are the chain's own. It
// makes no block if nothing fits: the actions wait for the next one. Scheduled transactions come first.
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

func (h *History) act(p *evm.BlockExecution, b plannedBlock) (done int, err error) {
	if b.rush != nil {
		h.makeWay(b.Size)
	}
	for actions := h.actions[h.next:]; done < min(b.Size, len(actions)); done++ {
		r := h.chain.rng.For("tx", h.chain.Row.EVMID, b.TimeMS, done)
		left := p.GasLeft()
		if b.rush != nil {
			left = p.SustainedGas()
		}
		request, offer, err := h.decide(p, actions[done], b.rush, left, r)
		if err != nil {
			return 0, err
		}
		if request.Gas+gasAccess > left {
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

// makeWay postpones the personas' next actions in favor of anybody's, as long as there are some.
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

// gasAtomic exceeds the gas of an atomic transaction.
const gasAtomic = 1_000_000

// moveValue executes the atomic transactions that are due, unless the block is full.
func (h *History) moveValue(p *evm.BlockExecution) (bool, error) {
	if h.atomic == nil || p.GasLeft() < gasAtomic {
		return false, nil
	}
	return h.atomic.ApplyAtomic(p)
}

// decide returns an action's transaction and the fees that its sender offers. If the sender cannot pay, it returns a gift to the sender
// instead.
func (h *History) decide(p *evm.BlockExecution, do action, rush *rush, gasLeft uint64, r *rand.Rand) (request *TxRequest, o offer, err error) {
	switch {
	case do != nil:
		request, err = do(r)
	case rush != nil:
		request, err = rush.act(h.activity, gasLeft, r)
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

// plannedBlock holds a block's planned time in Unix milliseconds, its number of transactions, and the rush they belong to.
type plannedBlock struct {
	TimeMS uint64
	Size   int
	rush   *rush // nil for everyday life
}

// fullBlock bounds the average transactions in a block of everyday life.
const fullBlock = 5

// planBlocks spreads so many transactions over a chain's history as activity spreads, with rushes on a C-Chain. A rush takes its blocks from
// everyday life, so it does not change their number.
func (c *Chain) planBlocks(size int) []plannedBlock {
	r := c.rng.For("schedule", c.Row.EVMID)
	blocks := c.planRushes(c.rng.For("rushes", c.Row.EVMID))
	rest := size
	for i := range blocks {
		rest -= blocks[i].Size
	}
	count := max(size/population.TxsPerBlock-len(blocks), rest/fullBlock)
	for _, b := range population.PlanBlocks(r, rest, count, c.span) {
		blocks = append(blocks, plannedBlock{TimeMS: 1000*b.Time + uint64(r.IntN(1000)), Size: b.Size})
	}
	slices.SortStableFunc(blocks, func(a, b plannedBlock) int { return cmp.Compare(a.TimeMS, b.TimeMS) })
	return blocks
}
