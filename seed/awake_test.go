package seed_test

import (
	"fmt"
	"math"
	"testing"

	"snowglobe/seed"
	"snowglobe/seed/population"
	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// TestTheWorldIsAwakeWhereItEnds: every chain has transactions in the last hour of history, and more on the last day than on an average day of the
// week a month before, or of the whole history if that is shorter. No daily chart ends with a zero.
func TestTheWorldIsAwakeWhereItEnds(t *testing.T) {
	const week = 7 * population.Day
	until := seed.DefaultUntil.Unix()
	for _, profile := range profiles(t) {
		w := world(t, profile, 1)
		for name, blocks := range blocksOf(t, w) {
			in := func(from, to int64) (count int64) {
				for _, b := range blocks {
					if from <= b.time && b.time < to {
						count += b.txs
					}
				}
				return count
			}
			if in(until-population.Hour, until) == 0 {
				t.Errorf("%s: %s has no transaction in the last hour", profile, name)
			}
			days, before := int64(7), in(until-5*week, until-4*week)
			if profile == "tiny" {
				days, before = 14, in(0, until)
			}
			if last := in(until-population.Day, until); last*days <= before {
				t.Errorf("%s: %s has %d transactions on the last day, and had %d in %d days", profile, name, last, before, days)
			}
			if last := blocks[len(blocks)-1].time; last > until {
				t.Errorf("%s: %s ends at %d, after history", profile, name, last)
			}
		}
		checkCharts(t, w, until-population.Day)
	}
}

type blockTxs struct{ time, txs int64 }

// blocksOf returns the blocks of every EVM, P- and X-Chain, without their genesis.
func blocksOf(t *testing.T, w *sim.World) map[string][]blockTxs {
	t.Helper()
	all := map[string][]blockTxs{}
	for _, c := range w.Chains {
		for _, b := range must(w.DB.Blocks(t.Context(), c.Row.ID, 1, math.MaxInt64))(t) {
			all[c.Row.Name] = append(all[c.Row.Name], blockTxs{b.Time, int64(b.Txs)})
		}
	}
	for i := range w.Networks {
		for _, chain := range []int{store.PChain, store.XChain} {
			for _, b := range must(w.DB.PrimaryBlocks(t.Context(), store.PrimaryChain(i, chain), 1, math.MaxInt64))(t) {
				name := fmt.Sprint("network ", i, " chain ", chain)
				all[name] = append(all[name], blockTxs{b.Time, int64(b.Txs)})
			}
		}
	}
	return all
}

// checkCharts checks the newest points of the daily charts of activity.
func checkCharts(t *testing.T, w *sim.World, lastDay int64) {
	t.Helper()
	for _, c := range w.Chains {
		for _, name := range []string{"txCount", "activeAddresses", "activeSenders", "gasUsed", "avgTps", "feesPaid"} {
			q := query.SeriesQuery{Metric: metric.ByName(name), Scope: metric.Scope(c.Row.ID), Interval: metric.Day, To: math.MaxInt64, Limit: 2}
			points, _, err := query.Series(t.Context(), w, q)
			if err != nil || len(points) != 2 {
				t.Fatalf("%s of %s: %d points, %v", name, c.Row.Name, len(points), err)
			}
			if points[0].Start != lastDay || points[0].Value.Amount.IsZero() {
				t.Errorf("%s of %s ends at %d with %v", name, c.Row.Name, points[0].Start, points[0].Value)
			}
		}
	}
}
