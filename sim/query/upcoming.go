package query

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"snowglobe/fixtures"
	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// EventKind names an event that the clock will cause.
type EventKind string

// Events caused by time.
const (
	ValidatorStart EventKind = "validator-start"
	ValidatorEnd   EventKind = "validator-end"
	DelegatorStart EventKind = "delegator-start"
	DelegatorEnd   EventKind = "delegator-end"
	L1Deactivation EventKind = "l1-deactivation" // an L1 validator's balance is used up
	Unlock         EventKind = "unlock"          // an output's locktime passes
)

// Activations lists the kinds for the activation of an upgrade, each named as the upgrade.
var Activations = func() (kinds []EventKind) {
	for _, u := range rules.Upgrades() {
		if u >= rules.Helicon { // the others were before every world
			kinds = append(kinds, EventKind(u.String()))
		}
	}
	return kinds
}()

// EventKinds lists all kinds.
var EventKinds = append([]EventKind{ValidatorStart, ValidatorEnd, DelegatorStart, DelegatorEnd, L1Deactivation, Unlock}, Activations...)

// Event happens at a time, in Unix seconds, unless a transaction comes first.
type Event struct {
	Kind    EventKind
	Time    int64
	Network *sim.Network
	Tx      []byte // of the staker or the output
	Node    []byte // of the staker or the L1 validator

	Validation []byte // of an L1 validator
}

// Upcoming lists the next events, soonest first, up to a limit. Of the L1 validators it lists only the first to be deactivated: how long
// the others' balances last depends on how many are left.
func Upcoming(ctx context.Context, w *sim.World, limit int) ([]Event, error) {
	lists := []func(ctx context.Context, n *sim.Network, limit int) ([]Event, error){stakerEvents, deactivations, unlocks, activations}
	parts := make([][]Event, len(w.Networks)*len(lists))
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(runtime.GOMAXPROCS(0))
	for i, n := range w.Networks {
		for j, list := range lists {
			reading.Go(func() (err error) {
				parts[i*len(lists)+j], err = list(ctx, n, limit)
				return err
			})
		}
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	all := slices.Concat(parts...)
	order := make([]int, len(all)) // is sorted in place of the events, which are large
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(all[a].Time, all[b].Time), cmp.Compare(a, b)) })
	sorted := make([]Event, min(len(all), limit))
	for i := range sorted {
		sorted[i] = all[order[i]]
	}
	return sorted, nil
}

// stakerEvents returns the events of all pending stakers, and as many ends of each subnet's active stakers as the list can show.
func stakerEvents(ctx context.Context, n *sim.Network, limit int) (all []Event, err error) {
	now := n.Clock.Unix()
	stakers, err := n.DB.NextStakers(ctx, n.Chain(txs.PChain), now, limit)
	for i := range stakers {
		s := &stakers[i]
		start, end := ValidatorStart, ValidatorEnd
		if s.Delegator {
			start, end = DelegatorStart, DelegatorEnd
		}
		e := Event{Network: n, Tx: s.Tx, Node: s.Node}
		if s.Status == store.StakerPending && s.Start > now {
			e.Kind, e.Time = start, s.Start
			all = append(all, e)
		}
		if s.End > now {
			e.Kind, e.Time = end, s.End
			all = append(all, e)
		}
	}
	return all, err
}

// activations returns the upgrades of a network that are to come and have a date.
func activations(_ context.Context, n *sim.Network, _ int) (all []Event, err error) {
	for _, u := range rules.Upgrades() {
		if at := int64(n.Rules.ActivationTime(u)); at > n.Clock.Unix() && at < fixtures.Unscheduled {
			all = append(all, Event{Kind: EventKind(u.String()), Time: at, Network: n})
		}
	}
	return all, nil
}

func deactivations(ctx context.Context, n *sim.Network, _ int) ([]Event, error) {
	chain := n.Chain(txs.PChain)
	head, err := n.DB.PrimaryHead(ctx, chain)
	if err != nil {
		return nil, err
	}
	validators, err := n.DB.L1Validators(ctx, chain, head.ID.Number())
	if err != nil {
		return nil, err
	}
	var first *store.L1ValidatorView
	for i := range validators {
		v := &validators[i]
		if v.Weight > 0 && v.EndAccumulatedFee > 0 && (first == nil || v.EndAccumulatedFee < first.EndAccumulatedFee) {
			first = v
		}
	}
	if first == nil {
		return nil, nil
	}
	limit := uint64(sim.Furthest / time.Second)
	lasts := n.Rules.ValidatorFees.Seconds(head.L1Active, head.L1Excess, uint64(first.EndAccumulatedFee)-uint64(head.AccruedFees), limit)
	at := head.Time + int64(lasts)
	if lasts == limit || at <= n.Clock.Unix() {
		return nil, nil
	}
	return []Event{{Kind: L1Deactivation, Time: at, Network: n, Node: first.Node, Validation: first.Validation}}, nil
}

func unlocks(ctx context.Context, n *sim.Network, _ int) (all []Event, err error) {
	for _, c := range []txs.Chain{txs.PChain, txs.XChain} {
		rows, err := n.DB.LockedUTXOs(ctx, n.Chain(c))
		if err != nil {
			return nil, err
		}
		for i := range rows {
			u, err := txs.ParseUTXO(n.Kind(rows[i].ID.Chain()), rows[i].Bytes())
			if err != nil {
				return nil, err
			}
			until := max(u.Owners().Locktime, u.StakeableUntil())
			if until > uint64(n.Clock.Unix()) && until <= math.MaxInt64 {
				all = append(all, Event{Kind: Unlock, Time: int64(until), Network: n, Tx: rows[i].Tx})
			}
		}
	}
	return all, nil
}
