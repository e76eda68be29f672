package query_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestUpcomingStakers compares the events of stakers with their rows, and the first events with the earliest of all.
func TestUpcomingStakers(t *testing.T) {
	w := tinyWorld(t)
	day := int64(24 * 60 * 60)
	for now := w.Meta.Until; now < w.Meta.Until+120*day; now += 10 * day {
		w.Clock.Set(time.Unix(now, 0))
		all, err := query.Upcoming(t.Context(), w, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, n := range w.Networks {
			rows, err := n.DB.Stakers(t.Context(), n.Chain(txs.PChain))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range rows {
				who := map[bool]string{false: "validator", true: "delegator"}[s.Delegator]
				if s.Status == store.StakerPending && s.Start > now {
					want = append(want, fmt.Sprintf("%012d %s-start %x", s.Start, who, s.Tx))
				}
				if (s.Status == store.StakerPending || s.Status == store.StakerActive) && s.End > now {
					want = append(want, fmt.Sprintf("%012d %s-end %x", s.End, who, s.Tx))
				}
			}
		}
		for _, e := range all {
			if e.Kind != query.L1Deactivation && e.Kind != query.Unlock {
				got = append(got, fmt.Sprintf("%012d %s %x", e.Time, e.Kind, e.Tx))
			}
		}
		if !slices.IsSortedFunc(all, func(a, b query.Event) int { return cmp.Compare(a.Time, b.Time) }) {
			t.Fatalf("at %d events do not come in the order of time", now)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("at %d %d events of stakers are to come, want %d", now, len(got), len(want))
		}
		for _, limit := range []int{1, 2, 7, len(all) + 1} {
			some, err := query.Upcoming(t.Context(), w, limit)
			if err != nil || !reflect.DeepEqual(some, all[:min(limit, len(all))]) {
				t.Fatalf("at %d the first %d events are others: %v", now, limit, err)
			}
		}
	}
	n := w.Networks[0]
	if _, err := n.DB.DueStakers(t.Context(), n.Chain(txs.PChain), make([]byte, 32), w.Meta.Until); err != nil {
		t.Fatal(err)
	}
	for _, text := range w.DB.Statements() {
		steps, err := w.DB.Explain(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if plan := strings.Join(steps, "; "); strings.Contains(plan, "staker_next") && (strings.Contains(plan, "status<?") || strings.Contains(plan, "TEMP B-TREE")) {
			t.Errorf("to list some stakers all are read: %s", plan)
		}
	}
}

// TestUpcomingLocksAndBalances compares the ends of locks with the unspent outputs, and the first L1 validator to run out of balance with
// the fee that accrues by then.
func TestUpcomingLocksAndBalances(t *testing.T) {
	w := tinyWorld(t)
	deactivated := 0
	for _, days := range []int64{0, 1, 30, 300} {
		now := w.Meta.Until + days*24*60*60
		w.Clock.Set(time.Unix(now, 0))
		all, err := query.Upcoming(t.Context(), w, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range w.Networks {
			var want, got []string
			for _, made := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
				rows, err := n.DB.UTXOsMadeBy(t.Context(), n.Chain(made))
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					u, err := txs.ParseUTXO(made, row.Bytes())
					if err != nil {
						t.Fatal(err)
					}
					until := max(u.Owners().Locktime, u.StakeableUntil())
					if row.Spent == nil && row.Chain != n.Chain(txs.CChain) && row.Amount > 0 && until > uint64(now) && until < math.MaxInt64 {
						want = append(want, fmt.Sprintf("%d %x", until, row.Tx))
					}
				}
			}
			for _, e := range all {
				switch {
				case e.Network != n:
				case e.Kind == query.Unlock:
					got = append(got, fmt.Sprintf("%d %x", e.Time, e.Tx))
				case e.Kind == query.L1Deactivation:
					deactivated++
					checkDeactivation(t, n, e)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) || days == 0 && len(want) == 0 {
				t.Fatalf("%s at %d: %d locks end, want %d", n.Name, now, len(got), len(want))
			}
		}
	}
	if deactivated == 0 {
		t.Error("no balance runs out")
	}
}

// checkDeactivation expects the smallest balance of a validator to be just enough for the seconds up to an event.
func checkDeactivation(t *testing.T, n *sim.Network, e query.Event) {
	t.Helper()
	head, err := n.DB.PrimaryHead(t.Context(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	all, err := n.DB.L1Validators(t.Context(), n.Chain(txs.PChain), head.ID.Number())
	if err != nil {
		t.Fatal(err)
	}
	least := store.Amount(math.MaxUint64)
	for _, v := range all {
		if v.Weight > 0 && v.EndAccumulatedFee > 0 {
			least = min(least, v.EndAccumulatedFee)
		}
	}
	i := slices.IndexFunc(all, func(v store.L1ValidatorView) bool { return bytes.Equal(v.Validation, e.Validation) })
	if i < 0 || all[i].EndAccumulatedFee != least || !bytes.Equal(all[i].Node, e.Node) {
		t.Fatalf("%x runs out of balance first", e.Validation)
	}
	if n.AccruedAt(head, e.Time) > least || n.AccruedAt(head, e.Time+1) <= least || e.Time <= n.Clock.Unix() {
		t.Fatalf("the balance of %x is gone at %d: %d accrue by then, and %d a second later, of %d", e.Validation, e.Time, n.AccruedAt(head, e.Time), n.AccruedAt(head, e.Time+1), least)
	}
}
