package query_test

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/metric"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

const day = 24 * 60 * 60

// afterwards lists the times after the history at which series are requested.
var afterwards = []int64{0, 1, day - 1, 3 * day, 20 * day}

// atTimes sets the clock to several times after the history in turn.
func atTimes(w *sim.World, do func(now int64)) {
	for _, after := range afterwards {
		w.Clock.Set(time.Unix(w.Meta.Until+after, 0))
		do(w.Meta.Until + after)
	}
}

// pChain holds a P-Chain's blocks and its rows about validators.
type pChain struct {
	n       *sim.Network
	blocks  []store.PrimaryBlock
	stakers []store.Staker
	l1      []store.L1ValidatorView
	states  map[store.UTXONumber][]store.L1ValidatorState
	fees    map[int64]uint64 // accrued, at times already asked for
}

func readPChain(t *testing.T, n *sim.Network) *pChain {
	t.Helper()
	chain := n.Chain(txs.PChain)
	p := &pChain{n: n, states: map[store.UTXONumber][]store.L1ValidatorState{}, fees: map[int64]uint64{}}
	var err error
	if p.blocks, err = n.DB.PrimaryBlocks(t.Context(), chain, 0, math.MaxInt32); err != nil {
		t.Fatal(err)
	}
	if p.stakers, err = n.DB.Stakers(t.Context(), chain); err != nil {
		t.Fatal(err)
	}
	if p.l1, err = n.DB.L1Validators(t.Context(), chain, math.MaxInt32); err != nil {
		t.Fatal(err)
	}
	for _, v := range p.l1 {
		if p.states[v.L1Validator.ID], err = n.DB.L1ValidatorHistory(t.Context(), v.L1Validator.ID); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// accrued returns the fee that one validator would have paid up to a time.
func (p *pChain) accrued(at int64) uint64 {
	if fee, known := p.fees[at]; known {
		return fee
	}
	i := len(p.blocks) - 1
	for i > 0 && p.blocks[i].Time > at {
		i--
	}
	p.fees[at] = uint64(p.n.AccruedAt(&p.blocks[i], at))
	return p.fees[at]
}

// paid returns the fees of an L1 validator up to a time.
func (p *pChain) paid(v *store.L1ValidatorView, at int64) (sum uint64) {
	states := p.states[v.L1Validator.ID]
	for i, s := range states {
		from := uint64(p.blocks[s.Height].AccruedFees)
		if s.EndAccumulatedFee == 0 || s.Weight == 0 || p.blocks[s.Height].Time > at {
			continue
		}
		to := p.accrued(at)
		if i+1 < len(states) {
			to = min(to, uint64(p.blocks[states[i+1].Height].AccruedFees))
		}
		if to = min(to, uint64(s.EndAccumulatedFee)); to > from {
			sum += to - from
		}
	}
	return sum
}

// TestFeesOfL1Validators adds up each validator's fees, day by day, and compares with the series of every payer.
func TestFeesOfL1Validators(t *testing.T) {
	w := tinyWorld(t)
	var all []*pChain
	payers := map[string]bool{"": true}
	for _, n := range w.Networks {
		p := readPChain(t, n)
		all = append(all, p)
		for _, v := range p.l1[:min(4, len(p.l1))] {
			payers[string(v.Subnet)], payers[string(v.Node)], payers[string(v.Validation)] = true, true, true
		}
	}
	payers["nobody"] = true
	atTimes(w, func(now int64) {
		var total uint64
		for _, p := range all {
			var sum uint64
			for i := range p.l1 {
				sum += p.paid(&p.l1[i], now)
			}
			if got, err := query.FeesPaid(t.Context(), p.n); err != nil || got != sum {
				t.Fatalf("%s has paid %d at %d, want %d: %v", p.n.Name, got, now, sum, err)
			}
			total += sum
		}
		if total == 0 {
			t.Fatal("nobody has paid")
		}
		for payer := range payers {
			checkFees(t, w, all, payer, now)
		}
	})
}

func checkFees(t *testing.T, w *sim.World, all []*pChain, payer string, now int64) {
	t.Helper()
	is := func(v *store.L1ValidatorView) bool {
		return payer == "" || payer == string(v.Subnet) || payer == string(v.Node) || payer == string(v.Validation)
	}
	first := int64(math.MaxInt64)
	for _, p := range all {
		for i := range p.l1 {
			if v := &p.l1[i]; is(v) {
				first = min(first, metric.Day.Start(p.blocks[p.states[v.L1Validator.ID][0].Height].Time))
			}
		}
	}
	var daily, running, paying []metric.Point // newest first
	for at := metric.Day.Start(now - 1); at >= first; at -= day {
		var before, after, count uint64
		for _, p := range all {
			for i := range p.l1 {
				if v := &p.l1[i]; is(v) {
					b, a := p.paid(v, at), p.paid(v, min(at+day, now))
					before, after = before+b, after+a
					if a > b {
						count++
					}
				}
			}
		}
		daily, running, paying = append(daily, metric.NewPoint(at, after-before)), append(running, metric.NewPoint(at, after)), append(paying, metric.NewPoint(at, count))
	}
	ranges := [][2]int64{{0, math.MaxInt64}, {now - 5*day, now - 2*day}, {metric.Day.Start(now) - 2*day, metric.Day.Start(now)}, {now + day, math.MaxInt64}, {now, now}}
	for shows, want := range map[metric.FeeQuantity][]metric.Point{metric.DailyFees: daily, metric.CumulativeFees: running, metric.PayingValidators: paying} {
		for _, r := range ranges {
			some := slices.DeleteFunc(slices.Clone(want), func(p metric.Point) bool { return p.Start < r[0] || p.Start >= r[1] })
			got, err := query.FeeSeries(t.Context(), w, query.FeeQuery{Metric: &metric.FeeMetric{Shows: shows}, Payer: payer, From: r[0], To: r[1]})
			if err != nil || !slices.Equal(got, some) {
				t.Fatalf("quantity %d of payer %x at %d in %v: %v, want %v: %v", shows, payer, now, r, got, some, err)
			}
		}
	}
}

// stake counts a subnet's validators and delegators at a time.
func (p *pChain) stake(subnet ids.ID, at int64) (s metric.Stake) {
	for i := range p.stakers {
		v := &p.stakers[i]
		end := v.End
		if v.Status == store.StakerRemoved {
			end = p.blocks[*v.Ended].Time
		}
		switch {
		case ids.ID(v.Subnet) != subnet || v.Start > at || end <= at:
		case v.Delegator:
			s.Delegators, s.DelegatorWeight = s.Delegators+1, s.DelegatorWeight+uint64(v.Weight)
		default:
			s.Validators, s.ValidatorWeight = s.Validators+1, s.ValidatorWeight+uint64(v.Weight)
		}
	}
	for _, v := range p.l1 {
		weight := store.Amount(0)
		for _, state := range p.states[v.L1Validator.ID] {
			if p.blocks[state.Height].Time <= at {
				weight = state.Weight
			}
		}
		if ids.ID(v.Subnet) == subnet && weight > 0 {
			s.Validators, s.ValidatorWeight = s.Validators+1, s.ValidatorWeight+uint64(weight)
		}
	}
	return s
}

// TestStakeOfSubnets counts the stakers at the end of each day, including stakes that only the clock has begun and ended.
func TestStakeOfSubnets(t *testing.T) {
	w := tinyWorld(t)
	for _, n := range w.Networks {
		p := readPChain(t, n)
		subnets, err := n.DB.Subnets(t.Context(), n.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		created := map[ids.ID]int64{ids.Empty: p.blocks[0].Time}
		for _, s := range subnets {
			created[ids.ID(s.Hash)] = p.blocks[s.ID.Number()].Time
		}
		atTimes(w, func(now int64) {
			for subnet, first := range created {
				for i := range metric.StakeMetrics {
					m := &metric.StakeMetrics[i]
					var want []metric.Point
					for at := metric.Day.Start(now - 1); at >= metric.Day.Start(first); at -= day {
						want = append(want, metric.NewPoint(at, m.Show(p.stake(subnet, min(at+day-1, now)))))
					}
					ask := func(from, to int64, limit int) ([]metric.Point, bool) {
						got, more, err := query.StakeSeries(t.Context(), n, query.StakeQuery{Metric: m, Subnet: subnet, From: from, To: to, Limit: limit})
						if err != nil {
							t.Fatal(err)
						}
						return got, more
					}
					checkSeries(t, want, now, ask)
				}
			}
		})
	}
}

// checkSeries asks for points, newest first, in pages and between times.
func checkSeries(t *testing.T, all []metric.Point, now int64, ask func(from, to int64, limit int) ([]metric.Point, bool)) {
	t.Helper()
	ranges := [][2]int64{{0, math.MaxInt64}, {now - 5*day, now - 2*day}, {metric.Day.Start(now) - 2*day, metric.Day.Start(now)}, {metric.Day.Start(now) - day + 1, metric.Day.Start(now) + 1}, {now, math.MaxInt64}, {now, now}}
	for _, r := range ranges {
		for _, limit := range []int{2, 7, 1 << 20} {
			want := slices.DeleteFunc(slices.Clone(all), func(p metric.Point) bool { return p.Start < r[0] || p.Start >= r[1] })
			for to, pages := r[1], 0; pages < 3; pages++ {
				got, more := ask(r[0], to, limit)
				page := want[:min(limit, len(want))]
				if !slices.Equal(got, page) || more != (len(want) > limit) {
					t.Fatalf("at %d in %v, %d points from %d: %d, more %t: %v, want %v", now, r, limit, to, len(got), more, got, page)
				}
				if want = want[len(page):]; !more {
					break
				}
				to = page[len(page)-1].Start
			}
		}
	}
}

// TestRollingValues counts transactions and gas in each window that ends at the clock.
func TestRollingValues(t *testing.T) {
	w := tinyWorld(t)
	for _, c := range w.Chains {
		blocks, err := w.DB.Blocks(t.Context(), c.Row.ID, 0, math.MaxInt32)
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []int64{0, 1, 1800, 3 * day, 40 * day} {
			now := w.Meta.Until + after
			w.Clock.Set(time.Unix(now, 0))
			for name, count := range map[string]func(from int64) uint64{
				"txCount": func(from int64) (sum uint64) {
					for _, b := range blocks {
						if b.Time >= from {
							sum += uint64(b.Txs)
						}
					}
					return sum
				},
				"gasUsed": func(from int64) (sum uint64) {
					for _, b := range blocks {
						if b.Time >= from {
							sum += uint64(b.GasUsed)
						}
					}
					return sum
				},
			} {
				got, err := query.Rolling(t.Context(), w, metric.ByName(name), metric.Scope(c.Row.ID))
				if err != nil || len(got) != len(metric.Windows) {
					t.Fatalf("%d values: %v", len(got), err)
				}
				for i, window := range metric.Windows {
					from := int64(0)
					if window.Seconds > 0 {
						from = (now - window.Seconds) / 3600 * 3600
					}
					if want := count(from); got[i].Amount.Uint64() != want {
						t.Errorf("%s of chain %d in %s at %d: %d, want %d", name, c.Row.EVMID, window.Name, now, got[i].Amount.Uint64(), want)
					}
				}
			}
		}
	}
}

// TestRollingRates divides transactions by the time from the last block before a window, or the first, to the last in it.
func TestRollingRates(t *testing.T) {
	w := tinyWorld(t)
	for _, c := range w.Chains {
		blocks, err := w.DB.Blocks(t.Context(), c.Row.ID, 0, math.MaxInt32)
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []int64{0, 1800, 3 * day} {
			now := w.Meta.Until + after
			w.Clock.Set(time.Unix(now, 0))
			got, err := query.Rolling(t.Context(), w, metric.ByName("avgTps"), metric.Scope(c.Row.ID))
			if err != nil {
				t.Fatal(err)
			}
			for i, window := range metric.Windows {
				since := int64(0)
				if window.Seconds > 0 {
					since = (now - window.Seconds) / 3600 * 3600
				}
				first := slices.IndexFunc(blocks, func(b store.Block) bool { return b.Time >= since })
				want := metric.Value{Over: 1}
				if first >= 0 {
					for _, b := range blocks[first:] {
						want.Amount.AddUint64(&want.Amount, uint64(b.Txs))
					}
					if want.Over = blocks[len(blocks)-1].Time - blocks[max(first-1, 0)].Time; want.Over <= 0 {
						want = metric.Value{Over: 1}
					}
				}
				if got[i] != want {
					t.Errorf("chain %d in %s at %d: %v, want %v", c.Row.EVMID, window.Name, now, got[i], want)
				}
			}
		}
	}
}

// TestMessageCounts counts the messages between chains by route and interval, and in each window.
func TestMessageCounts(t *testing.T) {
	w := tinyWorld(t)
	all, err := w.DB.MessagesSince(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	source, destination := string(all[0].Source), string(all[0].Destination)
	filters := []metric.RouteFilter{{}, {BySource: true}, {ByDestination: true}, {BySource: true, ByDestination: true}, {From: source}, {To: destination, BySource: true}, {From: source, To: destination, BySource: true, ByDestination: true}, {From: "none"}, {From: "none", BySource: true}}
	for _, scope := range []metric.Scope{metric.Total, metric.Mainnet, metric.Testnet} {
		some := slices.DeleteFunc(slices.Clone(all), func(m store.Message) bool {
			c := w.Chains[slices.IndexFunc(w.Chains, func(c *reader.Chain) bool { return c.Row.ID == m.ID.Chain() })]
			of, err := metric.ScopeOf(c.Row.Network)
			return err != nil || scope != metric.Total && scope != of
		})
		if len(some) == 0 {
			t.Fatalf("no messages of scope %d", scope)
		}
		atTimes(w, func(now int64) {
			for _, filter := range filters {
				checkMessageSummary(t, w, some, scope, filter, now)
				for i := range metric.Intervals {
					checkMessageSeries(t, w, some, query.ICMQuery{RouteFilter: filter, Scope: scope, Interval: metric.Interval(i)}, now)
				}
			}
		})
	}
}

func routeOf(f metric.RouteFilter, m *store.Message) (r metric.Route, ok bool) {
	if f.BySource {
		r.Source = string(m.Source)
	}
	if f.ByDestination {
		r.Destination = string(m.Destination)
	}
	return r, (f.From == "" || f.From == string(m.Source)) && (f.To == "" || f.To == string(m.Destination))
}

func routesOf(f metric.RouteFilter, messages []store.Message) (all []metric.Route) {
	if !f.BySource && !f.ByDestination {
		all = append(all, metric.Route{})
	}
	for i := range messages {
		if r, ok := routeOf(f, &messages[i]); ok && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b metric.Route) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination))
	})
	return all
}

func checkMessageSummary(t *testing.T, w *sim.World, messages []store.Message, scope metric.Scope, f metric.RouteFilter, now int64) {
	t.Helper()
	used, counts, err := query.ICMSummary(t.Context(), w, scope, f)
	if err != nil || !slices.Equal(used, routesOf(f, messages)) || len(counts) != len(used) {
		t.Fatalf("%d routes of %+v, %d counts: %v", len(used), f, len(counts), err)
	}
	for i, window := range metric.Windows {
		want := map[metric.Route]int64{}
		for j := range messages {
			from := int64(0)
			if window.Seconds > 0 {
				from = (now - window.Seconds) / 3600 * 3600
			}
			if r, ok := routeOf(f, &messages[j]); ok && messages[j].Time >= from {
				want[r]++
			}
		}
		for _, r := range used {
			if counts[r][i] != want[r] {
				t.Fatalf("%s of %+v at %d: %d, want %d", window.Name, f, now, counts[r][i], want[r])
			}
		}
	}
}

func checkMessageSeries(t *testing.T, w *sim.World, messages []store.Message, q query.ICMQuery, now int64) {
	t.Helper()
	first, last := int64(math.MaxInt64), q.Interval.Start(now-1)
	type point struct {
		metric.Route
		start int64
	}
	counts := map[point]int64{}
	for i := range messages {
		start := q.Interval.Start(messages[i].Time)
		first, last = min(first, start), max(last, start)
		if r, ok := routeOf(q.RouteFilter, &messages[i]); ok {
			counts[point{r, start}]++
		}
	}
	var all []metric.RoutePoint
	for start := last; start >= first; start = q.Interval.Start(start - 1) {
		for _, r := range routesOf(q.RouteFilter, messages) {
			all = append(all, metric.RoutePoint{Route: r, Start: start, Messages: counts[point{r, start}]})
		}
	}
	for _, r := range [][2]int64{{0, math.MaxInt64}, {now - 5*day, now - 2*day}, {q.Interval.Start(now) - 3*day, q.Interval.Start(now)}, {now, now}, {now + 40*day, math.MaxInt64}} {
		for _, limit := range []int{5, 1 << 20} {
			want := slices.DeleteFunc(slices.Clone(all), func(p metric.RoutePoint) bool { return p.Start < r[0] || p.Start >= r[1] })
			q.From, q.To, q.Limit, q.After = r[0], r[1], limit, metric.RoutePoint{}
			for range 4 {
				got, more, err := query.ICMSeries(t.Context(), w, q)
				page := want[:min(limit, len(want))]
				if err != nil || !slices.Equal(got, page) || more != (len(want) > limit) {
					t.Fatalf("%+v at %d: %d points, more %t, want %d of %d: %v", q, now, len(got), more, len(page), len(want), err)
				}
				if want = want[len(page):]; !more {
					break
				}
				q.After = page[len(page)-1]
			}
		}
	}
}

// TestMarkets reads the markets of each chain's tokens.
func TestMarkets(t *testing.T) {
	w := tinyWorld(t)
	malicious, priced := 0, 0
	for _, c := range w.Chains {
		rows, err := w.DB.Markets(t.Context(), c.Row.ID)
		if err != nil {
			t.Fatal(err)
		}
		m, err := query.ReadMarkets(t.Context(), w.DB, c.Row.ID)
		if err != nil {
			t.Fatal(err)
		}
		tokens, native := 0, false
		for _, row := range rows {
			got := query.Market{Series: m.Native}
			if bytes.Equal(row.Address, make([]byte, 20)) {
				native = true
			} else {
				tokens++
				got = m.Tokens[common.BytesToAddress(row.Address)]
				if got.Reputation != row.Reputation {
					t.Errorf("token %x is %q, want %q", row.Address, got.Reputation, row.Reputation)
				}
			}
			if (got.Series != nil) != (row.Series != "") || got.Series != nil && (got.Series.Name != row.Series || got.Series.Middle != row.Price || got.Series.Amplitude != row.Amplitude) {
				t.Errorf("token %x: %v, want %v", row.Address, got.Series, row)
			}
			if got.Series != nil {
				priced++
			}
			if row.Reputation == query.Malicious {
				malicious++
			}
		}
		if len(m.Tokens) != tokens || !native && m.Native != nil {
			t.Errorf("%d tokens, want %d", len(m.Tokens), tokens)
		}
	}
	if malicious == 0 || priced == 0 {
		t.Errorf("%d malicious tokens, %d with a price", malicious, priced)
	}
}
