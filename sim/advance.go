package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"snowglobe/sim/miner"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

var (
	// ErrBackwards refuses to move the clock back.
	ErrBackwards = errors.New("the world's clock never goes back")
	// ErrFar refuses to move the clock beyond Furthest.
	ErrFar = errors.New("the world's clock cannot go that far")
)

// Furthest bounds the clock: it may stand this long after the end of the generated history.
const Furthest = 30 * 365 * 24 * time.Hour

// stride bounds how much chain time one commit covers, and with it the memory that Advance needs.
const stride = 24 * time.Hour

// Advance moves the clock to a time. On the way it makes the blocks that fall due, in the order of time: those of the P-Chains, where stakers
// start and end and L1 validators run out of balance, and those of C-Chains since Helicon that settle transactions. The cost grows with what happens. If the context ends, or a block cannot be
// made, the clock stays where it got to.
func (w *World) Advance(ctx context.Context, to time.Time) error {
	if err := w.CanAdvance(to); err != nil {
		return err
	}
	target := to.UnixMilli()
	for ctx.Err() == nil && w.Clock.UnixMilli() < target {
		next, settles, err := w.nextSettlement(ctx, target)
		if err != nil {
			return err
		}
		for ctx.Err() == nil && w.Clock.UnixMilli() < next {
			if err := (due{w}).stride(ctx, next); err != nil {
				return err
			}
		}
		if settles == nil || ctx.Err() != nil {
			continue
		}
		if made, err := settles.Settle(ctx); err != nil {
			return err
		} else if !made { // a client decided otherwise meanwhile
			if err := (due{w}).stride(ctx, target); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// nextSettlement returns the first C-Chain on which a block falls due by a time that settles transactions, and when; otherwise that time. Times
// are in milliseconds.
func (w *World) nextSettlement(ctx context.Context, by int64) (at int64, settles *miner.Miner, err error) {
	at = by
	for _, n := range w.Networks {
		c := n.CChain()
		if c == nil {
			continue
		}
		m := w.MinerOf(c)
		time, due, err := m.SettlesAt(ctx)
		if err != nil {
			return at, nil, err
		}
		if due && (int64(time) < at || settles == nil && int64(time) == at) {
			at, settles = int64(time), m
		}
	}
	return at, settles, nil
}

// CanStand refuses a time at which the clock may not stand.
func (w *World) CanStand(at time.Time) error {
	if end := time.Unix(w.Meta.Until, 0).Add(Furthest); at.After(end) && at.After(w.Clock.Now()) {
		return fmt.Errorf("%w: %s is after %s", ErrFar, at.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339))
	}
	return nil
}

// CanAdvance returns why the clock cannot move to a time, or nil.
func (w *World) CanAdvance(to time.Time) error {
	if err := w.CanStand(to); err != nil {
		return err
	}
	if w.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	if to.UnixMilli() < w.Clock.UnixMilli() {
		return fmt.Errorf("%w: it is %s", ErrBackwards, w.Clock.Now().Format(time.RFC3339))
	}
	return nil
}

// due makes the blocks that fall due on the P-Chains, in the order of time.
type due struct{ *World }

// stride moves the clock to a time in milliseconds, or, if that is nearer, to one stride after the next block that falls due.
func (w due) stride(ctx context.Context, target int64) error {
	defer w.lock(ctx)()
	if target <= w.Clock.UnixMilli() {
		return nil // blocks moved it meanwhile
	}
	by, some, err := w.next(uint64(target))
	if err != nil {
		return err
	}
	made, err := w.make(by, true)
	if some && !made && err == nil { // no validator is left to propose: only the clock moves on
		_, err = w.make(uint64(target), true)
	}
	return err
}

// until makes the blocks that fall due by a time in milliseconds. It runs before an EVM chain makes a block of that time, because
// the validator sets that verify warp messages depend on it. The clock follows with that block. The caller holds the writer's
// lock.
func (w due) until(time uint64) error {
	for {
		by, some, err := w.next(time)
		if err != nil || !some {
			return err
		}
		if made, err := w.make(by, false); err != nil || !made {
			return err
		}
	}
}

// next returns the end of the next stride on the way to a time, and whether any blocks fall due by then.
func (w due) next(target uint64) (by uint64, some bool, err error) {
	first, err := w.first()
	if first > target/1000 {
		return target, false, err
	}
	return min(target, first*1000+uint64(stride.Milliseconds())), true, err
}

// first returns when the next P-Chain block of either network falls due.
func (w due) first() (uint64, error) {
	next := uint64(math.MaxUint64)
	for _, n := range w.Networks {
		due, err := n.nextDue(context.Background()) // a block under way is not cut short
		if err != nil {
			return 0, err
		}
		next = min(next, due)
	}
	return next, nil
}

// make makes the blocks that fall due on both P-Chains by a time in milliseconds and commits them together. If moves is set, the
// clock moves there too. If anything fails, none of the blocks exist. made reports whether there were any.
func (w due) make(by uint64, moves bool) (made bool, err error) {
	var all []*extension
	defer func() {
		for _, e := range all {
			if err != nil && len(e.heads) > 0 {
				e.state, e.due = nil, 0
			}
		}
	}()
	c := commit{heads: heads{}}
	for _, n := range w.Networks {
		due, err := n.nextDue(context.Background())
		if err != nil {
			return false, err
		}
		if due > by/1000 {
			continue
		}
		if err := n.restore(context.Background()); err != nil {
			return false, err
		}
		e := &extension{Network: n, heads: heads{}}
		all = append(all, e)
		if err := e.advanceP(uint64(by) / 1000); err != nil {
			return false, err
		}
		maps.Copy(c.heads, e.heads)
		c.time = max(c.time, e.time*1000)
		c.added.Primary = append(c.added.Primary, PrimaryAdded{n, e.deltas})
	}
	if moves {
		c.time = int64(by)
	}
	if len(c.heads) == 0 && !moves {
		return false, nil
	}
	c.write = func(b *store.Batch) error {
		return each(all, func(e *extension) error { return e.add(b) })
	}
	return len(c.heads) > 0, w.commit(c)
}

// NextDue returns when a P-Chain makes its next block without any transaction, or zero if none will.
func (w *World) NextDue(ctx context.Context) (time.Time, error) {
	defer w.lock(ctx)()
	first, err := (due{w}).first()
	if err != nil || first > math.MaxInt64/1000 {
		return time.Time{}, err
	}
	return time.Unix(int64(first), 0), nil
}

// nextDue returns when the P-Chain makes its next block without any transaction: when a staker starts or ends, or an L1 validator
// runs out of balance. It asks the restored state if there is one, and otherwise the rows, which is cheaper than restoring.
func (n *Network) nextDue(ctx context.Context) (uint64, error) {
	if n.state != nil {
		return n.state.P.NextStakerChangeTime(), nil
	}
	if n.due > 0 {
		return n.due, nil
	}
	chain := n.Chain(txs.PChain)
	head, err := n.DB.PrimaryHead(ctx, chain)
	if err != nil {
		return 0, err
	}
	stakers, err := n.DB.NextStakers(ctx, chain, math.MinInt64, 1)
	if err != nil {
		return 0, err
	}
	next := uint64(math.MaxUint64)
	for i := range stakers {
		switch s := &stakers[i]; s.Status {
		case store.StakerPending:
			next = min(next, uint64(s.Start))
		case store.StakerActive:
			next = min(next, uint64(s.End))
		}
	}
	if next, err = n.nextDeactivation(ctx, head, next); err == nil {
		n.due = next
	}
	return next, err
}

// rewound forgets the network's state in memory after a rewind. If the P-Chain itself stayed, nextDue is kept.
func (n *Network) rewound(stayed bool) {
	switch {
	case !stayed:
		n.due = 0
	case n.state != nil:
		n.due = n.state.P.NextStakerChangeTime()
	}
	n.state = nil
}

// nextDeactivation returns when the first L1 validator runs out of balance, or next if that comes first.
func (n *Network) nextDeactivation(ctx context.Context, head *store.PrimaryBlock, next uint64) (uint64, error) {
	validators, err := n.DB.L1Validators(ctx, n.Chain(txs.PChain), head.ID.Number())
	if err != nil {
		return 0, err
	}
	first := uint64(math.MaxUint64)
	for i := range validators {
		if v := &validators[i]; v.Weight > 0 && v.EndAccumulatedFee > 0 {
			first = min(first, uint64(v.EndAccumulatedFee))
		}
	}
	if now := uint64(head.Time); first < math.MaxUint64 && next > now {
		next = now + n.Rules.ValidatorFees.Seconds(head.L1Active, head.L1Excess, first-uint64(head.AccruedFees), next-now)
	}
	return next, nil
}

// advanceP accepts the P-Chain blocks that fall due by a time. Once no validator is left to propose, the chain stands still.
func (e *extension) advanceP(by uint64) error {
	for {
		b, err := e.state.P.BuildDue(by, e.rewarded)
		if err != nil || b == nil {
			return err
		}
		switch err := e.accept(b, txs.PChain); {
		case errors.Is(err, errNoProposer):
			return nil
		case err != nil:
			return err
		}
	}
}

// rewarded decides on a staker's reward as validators do, by the uptime of its node.
func (e *extension) rewarded(s *pchain.Staker) bool {
	var known *store.Node
	for i := range e.nodes {
		if string(e.nodes[i].Node) == string(s.NodeID[:]) {
			known = &e.nodes[i]
		}
	}
	return e.Uptime(s.NodeID, known) >= e.state.P.UptimeRequirement(s)
}
