package query_test

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestUpcomingStakers compares what is said of stakers with what their rows say, and the first events with those that come first of all.
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
