package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

var (
	// ErrBackwards says that the clock was to go back.
	ErrBackwards = errors.New("the world's clock never goes back")
	// ErrFar says that the clock was to go further than a world reaches.
	ErrFar = errors.New("the world's clock does not go that far")
)

// Furthest is how long after the end of generated history a world's clock may stand.
const Furthest = 30 * 365 * 24 * time.Hour

// stride is how much time the blocks cover that one commit stores: what happens in it is in memory at once.
const stride = 24 * time.Hour

// Advance moves the clock to a time, and before that lets happen on the way, in the order of time and through real blocks, what
// falls due on the P-Chains: stakers begin and end, L1 validators run out of balance. It costs as much as happens. When the
// context ends on the way, or a block cannot be made, the clock stands where it got to.
func (w *World) Advance(ctx context.Context, to time.Time) error {
	if err := w.CanAdvance(to); err != nil {
		return err
	}
	target := to.UnixMilli()
	for ctx.Err() == nil && w.Clock.UnixMilli() < target {
		if err := (due{w}).stride(target); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// CanStand refuses a time at which the world's clock may not stand, whatever would move it there.
func (w *World) CanStand(at time.Time) error {
	if end := time.Unix(w.Meta.Until, 0).Add(Furthest); at.After(end) && at.After(w.Clock.Now()) {
		return fmt.Errorf("%w: %s is after %s", ErrFar, at.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339))
	}
	return nil
}

// CanAdvance says why the clock cannot be moved to a time.
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

// due makes what falls due on the P-Chains, in the order of time.
type due struct{ *World }

// stride moves the clock towards a time in milliseconds: there, or to a stride after the next block that falls due.
func (w due) stride(target int64) error {
	w.writer.Lock()
	defer w.writer.Unlock()
	if target <= w.Clock.UnixMilli() {
		return nil // blocks moved it meanwhile
	}
	by, some, err := w.next(uint64(target))
	if err != nil {
		return err
	}
	made, err := w.make(by, true)
	if some && !made && err == nil { // nobody is left who could propose: only the clock goes on
		_, err = w.make(uint64(target), true)
	}
	return err
}

// until makes what falls due by a time in milliseconds, before an EVM chain makes a block of that time: whose signatures
// count there depends on it. The block will move the clock. The caller holds the writer's lock.
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

// next is until when, on the way to a time, blocks are stored together, and whether any fall due by then.
func (w due) next(target uint64) (by uint64, some bool, err error) {
	first, err := w.first()
	if first > target/1000 {
		return target, false, err
	}
	return min(target, first*1000+uint64(stride.Milliseconds())), true, err
}

// first is when the next block of a P-Chain falls due, of either network.
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

// make makes the blocks that fall due on both P-Chains by a time in milliseconds and stores them together; if it moves the clock,
// that is there afterwards. When that fails the blocks never were. made says whether there were any.
func (w due) make(by uint64, moves bool) (made bool, err error) {
	var all []*extension
	defer func() {
		for _, e := range all {
			if err != nil && len(e.heads) > 0 {
				e.state, e.due = nil, 0
			}
		}
	}()
	next, latest, added := heads{}, int64(0), Added{}
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
		for key, digest := range e.heads {
			next[key] = digest
		}
		latest = max(latest, e.time*1000)
		added.Primary = append(added.Primary, PrimaryAdded{n, e.deltas})
	}
	if moves {
		latest = int64(by)
	}
	if len(next) == 0 && !moves {
		return false, nil
	}
	return len(next) > 0, w.commit(next, latest, added, func(b *store.Batch) error {
		for _, e := range all {
			if err := e.add(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// NextDue is when a P-Chain makes its next block although nobody sends anything; zero when none does.
func (w *World) NextDue() (time.Time, error) {
	w.writer.Lock()
	defer w.writer.Unlock()
	first, err := (due{w}).first()
	if err != nil || first > math.MaxInt64/1000 {
		return time.Time{}, err
	}
	return time.Unix(int64(first), 0), nil
}

// nextDue is when time alone asks for the next block of the P-Chain: a staker begins or ends, or an L1 validator runs out of
// balance. The network's state knows; the rows say it too, for who needs nothing else of the state.
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

// rewound forgets what is known of the network in memory after the world went back, save when something is due if its P-Chain stayed.
func (n *Network) rewound(stayed bool) {
	switch {
	case !stayed:
		n.due = 0
	case n.state != nil:
		n.due = n.state.P.NextStakerChangeTime()
	}
	n.state = nil
}

// nextDeactivation is when the first L1 validator runs out of balance, if that is before next.
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

// advanceP accepts the blocks of the P-Chain that time asks for by a time. Once the last validator's time is over nobody proposes
// any, and the chain stands still.
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

// rewarded decides about a staker's reward as the network's validators do: by the uptime of its node. One that is not known was
// never up.
func (e *extension) rewarded(s *pchain.Staker) bool {
	for i := range e.nodes {
		if string(e.nodes[i].Node) == string(s.NodeID[:]) {
			return e.nodes[i].Uptime >= e.Rules.Staking.UptimeRequirement
		}
	}
	return false
}
