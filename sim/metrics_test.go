package sim_test

import (
	"cmp"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/metric"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// TestMetricsAreThoseOfTheBlocks counts every metric of every scope again from the blocks, before and after they go back over the ends of hours.
func TestMetricsAreThoseOfTheBlocks(t *testing.T) {
	w := copied(t)
	from := alice(t, w).EVMAddress()
	newcomer := byte(0)
	pay := func(m *miner.Miner, to byte) {
		t.Helper()
		id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
		ok(t, m.SendPrepared(t.Context(), from, func(n miner.Next) (*types.Transaction, error) {
			return evm.Impersonate(types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: n.Nonce, Gas: 21_000, To: &common.Address{0: 9, 19: to}, Value: big.NewInt(1),
				GasTipCap: new(big.Int), GasFeeCap: new(big.Int).Mul(n.BaseFee, big.NewInt(2))}), id, from)
		}))
	}
	one, two := w.Miners[0], w.Miners[1]
	after := func(d time.Duration) {
		t.Helper()
		ok(t, w.Advance(t.Context(), time.Unix(w.Clock.Unix(), 0).Add(d)))
	}
	some := func() {
		t.Helper()
		for range 2 {
			newcomer++
			pay(one, newcomer)
			pay(one, newcomer)
			pay(two, newcomer)
		}
	}
	compareMetrics(t, w, "generated")
	after(metric.SecondsPerHour*time.Second - time.Duration(w.Clock.Unix()%metric.SecondsPerHour+10)*time.Second)
	some()
	compareMetrics(t, w, "in an hour")
	s, err := w.TakeSnapshot(t.Context(), "")
	ok(t, err)
	after(time.Minute)
	pay(one, 1)
	pay(one, 1)
	compareMetrics(t, w, "when one chain is an hour ahead")
	after(8 * 24 * time.Hour)
	some()
	compareMetrics(t, w, "in the next week")
	ok(t, w.Reorg(t.Context(), one.Chain, 5, make([][]*miner.Transaction, 1)))
	compareMetrics(t, w, "after a chain went back over hours alone")
	path := filepath.Join(t.TempDir(), "world.db")
	ok(t, w.DB.WriteCopy(t.Context(), path))
	ok(t, w.Revert(t.Context(), s.ID, true))
	compareMetrics(t, w, "after a revert")
	after(2 * time.Hour)
	some()
	compareMetrics(t, w, "after a revert, in another hour")
	ok(t, w.Reset(t.Context()))
	compareMetrics(t, w, "after a reset")
	some()
	compareMetrics(t, w, "after a reset, continued")
	w, err = sim.Open(t.Context(), path)
	ok(t, err)
	defer w.Close()
	one, two = w.Miners[0], w.Miners[1]
	some()
	compareMetrics(t, w, "opened again")
	after(time.Hour)
	some()
	compareMetrics(t, w, "opened again, an hour later")
}

// counted is a block with what it adds to the metrics.
type counted struct {
	chain int
	*metric.Activity
}

func activities(t *testing.T, w *sim.World) (all []counted) {
	t.Helper()
	for _, c := range w.Chains {
		deltas, err := w.DB.Deltas(t.Context(), c.Row.ID, 0, math.MaxInt32)
		ok(t, err)
		all = append(all, counted{c.Row.ID, metric.NewActivity(deltas[0].Block.Time, nil)})
		for n := range deltas[1:] {
			a, err := evm.ActivityOf(c.Kind, &deltas[n+1], deltas[n].Block.Time)
			ok(t, err)
			all = append(all, counted{c.Row.ID, a})
		}
	}
	return all
}

func compareMetrics(t *testing.T, w *sim.World, when string) {
	t.Helper()
	all := activities(t, w)
	scopes := map[metric.Scope]func(counted) bool{metric.Total: func(counted) bool { return true }}
	for _, c := range w.Chains {
		network, err := metric.ScopeOf(c.Row.Network)
		ok(t, err)
		scopes[metric.Scope(c.Row.ID)] = func(b counted) bool { return b.chain == c.Row.ID }
		scopes[network] = func(b counted) bool {
			for _, o := range w.Chains {
				if o.Row.ID == b.chain {
					return o.Row.Network == c.Row.Network
				}
			}
			return false
		}
	}
	for scope, within := range scopes {
		blocks := slices.DeleteFunc(slices.Clone(all), func(b counted) bool { return !within(b) })
		for i := range metric.Interval(len(metric.Intervals)) {
			compareTallies(t, w.DB, scope, i, blocks, when)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

func compareTallies(t *testing.T, db *store.DB, scope metric.Scope, i metric.Interval, blocks []counted, when string) {
	t.Helper()
	seen := newLifetimes(blocks)
	by := map[int64][]counted{}
	for _, b := range blocks {
		by[i.Start(b.Time)] = append(by[i.Start(b.Time)], b)
	}
	var starts []int64
	for start := range by {
		starts = append(starts, start)
	}
	slices.SortFunc(starts, func(a, b int64) int { return cmp.Compare(b, a) })
	for n := range metric.Metrics {
		for _, m := range []*metric.Metric{&metric.Metrics[n], metric.Metrics[n].Rolled()} {
			if forHoursAndDays := m.Amount == metric.NewAddresses || m.Amount == metric.NewDeployers || m.Amount == metric.Metrics[n].Latest; forHoursAndDays && i > metric.Day {
				continue
			}
			have, err := db.ReadingsSince(t.Context(), m, scope, i, 0, math.MaxInt64)
			ok(t, err)
			if len(have) != len(starts) {
				t.Errorf("%s: %s in scope %d has %d %ss, want %d", when, m.Name, scope, len(have), metric.Intervals[i], len(starts))
				return
			}
			sum := int64(0)
			for k, start := range starts {
				want := metric.Reading{Start: start, Amount: *quantity(m.Amount, by[start], seen, i, start), Over: 1}
				if m.Over != "" {
					want.Over = int64(quantity(m.Over, by[start], seen, i, start).Uint64())
				}
				if m.Elapsed {
					want.First, want.Last = by[start][0].Time, 0
					for _, b := range by[start] {
						want.First, want.Last = min(want.First, b.Time), max(want.Last, b.Time)
					}
				}
				if have[k] != want {
					t.Errorf("%s: %s in scope %d in the %s at %d is %v, want %v", when, m.Name, scope, metric.Intervals[i], start, have[k], want)
				}
				if k > 0 {
					sum += int64(want.Amount.Uint64())
				}
			}
			if m.Running && len(starts) > 0 {
				before, err := db.SumBefore(t.Context(), m, scope, i, starts[0])
				ok(t, err)
				if before != sum {
					t.Errorf("%s: %s in scope %d sums up to %d before the %s at %d, want %d", when, m.Name, scope, before, metric.Intervals[i], starts[0], sum)
				}
			}
		}
	}
}

// participation is an address in a role.
type participation struct {
	address common.Address
	role    metric.Role
}

// lifetimes holds the first and the last time of each address in each role.
type lifetimes struct{ first, last map[participation]int64 }

func newLifetimes(blocks []counted) *lifetimes {
	l := &lifetimes{map[participation]int64{}, map[participation]int64{}}
	for _, b := range blocks {
		for p := range participations(b) {
			if at, known := l.first[p]; !known || b.Time < at {
				l.first[p] = b.Time
			}
			l.last[p] = max(l.last[p], b.Time)
		}
	}
	return l
}

func participations(blocks ...counted) map[participation]bool {
	all := map[participation]bool{}
	for _, b := range blocks {
		for _, p := range b.Participants {
			for _, role := range []metric.Role{metric.Present, metric.Sender, metric.Deployer} {
				if p.Roles&(1<<role) != 0 {
					all[participation{p.Address, role}] = true
				}
			}
		}
	}
	return all
}

// quantity computes a column of a tally from the blocks of its interval.
func quantity(q metric.Quantity, blocks []counted, seen *lifetimes, i metric.Interval, start int64) *uint256.Int {
	sum, top := new(uint256.Int), [2]int64{0, 0}
	role := map[metric.Quantity]metric.Role{metric.Senders: metric.Sender, "last_senders": metric.Sender, metric.Deployers: metric.Deployer, metric.NewDeployers: metric.Deployer, "last_deployers": metric.Deployer}[q]
	raise := func(amount, seconds int64) { // of equal rates, that of the shorter time
		if amount > 0 && seconds > 0 && (amount*top[1] > top[0]*seconds || amount*top[1] == top[0]*seconds && seconds < top[1] || top[1] == 0) {
			top = [2]int64{amount, seconds}
		}
	}
	for _, b := range blocks {
		switch q {
		case metric.Txs:
			sum.AddUint64(sum, uint64(b.Txs))
		case metric.Gas:
			sum.AddUint64(sum, uint64(b.Gas))
		case metric.Contracts:
			sum.AddUint64(sum, uint64(b.Contracts))
		case metric.Fees:
			sum.Add(sum, &b.Fees)
		case metric.Prices:
			sum.Add(sum, &b.Prices)
		case metric.TopPrice:
			if b.TopPrice.Gt(sum) {
				sum.Set(&b.TopPrice)
			}
		case metric.TopGas, metric.TopGasTime:
			raise(b.Gas, b.Gap)
		case metric.TopTxs, metric.TopTxsTime:
			raise(b.Txs, b.Gap)
		}
	}
	switch q {
	case metric.TopGas, metric.TopTxs:
		return sum.SetUint64(uint64(top[0]))
	case metric.TopGasTime, metric.TopTxsTime:
		return sum.SetUint64(uint64(top[1]))
	}
	for p := range participations(blocks...) {
		switch {
		case p.role != role:
		case q == metric.Addresses, q == metric.Senders, q == metric.Deployers,
			(q == metric.NewAddresses || q == metric.NewDeployers) && i.Start(seen.first[p]) == start,
			(q == "last_addresses" || q == "last_senders" || q == "last_deployers") && i.Start(seen.last[p]) == start:
			sum.AddUint64(sum, 1)
		}
	}
	return sum
}
