package metric

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
)

// TestActivity adds up a block by hand.
func TestActivity(t *testing.T) {
	before := int64(90)
	a := NewActivity(100, &before)
	a.Transaction([]byte{1}, []byte{2}, 21_000, uint256.NewInt(7))
	a.Transaction([]byte{1}, nil, 100_000, uint256.NewInt(3))
	a.Creation([]byte{1})
	a.Transfer([]byte{3}, []byte{4})
	a.Transfer([]byte{4}, []byte{5})
	a.Close()
	if a.Time != 100 || a.Gap != 10 || a.Txs != 2 || a.Gas != 121_000 || a.Contracts != 1 || a.Fees.Uint64() != 447_000 || a.Prices.Uint64() != 10 || a.TopPrice.Uint64() != 7 {
		t.Errorf("%+v", a)
	}
	want := []Participant{
		{common.BytesToAddress([]byte{1}), Present.set() | Sender.set() | Deployer.set()}, {common.BytesToAddress([]byte{2}), Present.set()},
		{common.BytesToAddress([]byte{3}), Present.set() | Sender.set()}, {common.BytesToAddress([]byte{4}), Present.set() | Sender.set()},
		{common.BytesToAddress([]byte{5}), Present.set()},
	}
	if !slices.Equal(a.Participants, want) {
		t.Errorf("%+v", a.Participants)
	}
	if same, first := NewActivity(90, &before), NewActivity(90, nil); same.Gap != 1 || first.Gap != 0 {
		t.Errorf("gaps of %d and %d seconds", same.Gap, first.Gap)
	}
}

// TestTalliesAreSums compares each tally with the sum over the blocks of its interval, in any order.
func TestTalliesAreSums(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		var all []arrival
		for _, of := range histories(random) {
			all = append(all, of...)
		}
		have := newTables()
		chains := map[int][]arrival{}
		for _, a := range all {
			chains[a.chain] = append(chains[a.chain], a)
		}
		r := have.rollup()
		for _, blocks := range chains {
			for _, a := range blocks {
				if err := r.Add(a.chain, a.activity); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
		for key, tally := range have.tallies {
			var want Tally
			for _, a := range all {
				network, _ := ScopeOf([]string{"mainnet", "fuji"}[a.chain%2])
				if key.Scope != Total && key.Scope != network && key.Scope != Scope(a.chain) || key.Interval.Start(a.activity.Time) != key.Start {
					continue
				}
				b := a.activity
				if want.Last == 0 || b.Time < want.First {
					want.First = b.Time
				}
				want.Last = max(want.Last, b.Time)
				want.Txs, want.Gas, want.Contracts = want.Txs+b.Txs, want.Gas+b.Gas, want.Contracts+b.Contracts
				want.Fees.Add(&want.Fees, &b.Fees)
				want.Prices.Add(&want.Prices, &b.Prices)
				if b.TopPrice.Gt(&want.TopPrice) {
					want.TopPrice = b.TopPrice
				}
			}
			for chain, h := range have.hours {
				network, _ := ScopeOf([]string{"mainnet", "fuji"}[chain%2])
				if slices.Contains([]Scope{Total, network, Scope(chain)}, key.Scope) && key.Interval.Start(h.Start) == key.Start {
					tally.add(&h.Sums)
				}
			}
			if tally.First != want.First || tally.Last != want.Last || tally.Txs != want.Txs || tally.Gas != want.Gas || tally.Contracts != want.Contracts ||
				tally.Fees != want.Fees || tally.Prices != want.Prices || tally.TopPrice != want.TopPrice {
				t.Fatalf("%+v: %+v, want %+v", key, tally, want)
			}
		}
	}
}

func day(n int64) int64 { return n * SecondsPerDay }

func TestRanges(t *testing.T) {
	r := Day.Page(0, day(100), 10)
	if r != (Range{Day, day(91), day(100)}) || r.Empty() || r.most() != 10 {
		t.Errorf("%+v, most %d", r, r.most())
	}
	for _, c := range []struct {
		unix, oldest int64
		empty        bool
	}{{day(91), day(91), false}, {day(91) + 1, day(92), false}, {day(50), day(91), false}, {day(100), day(100), false}, {day(100) + 1, day(100) + 1, true}} {
		if got := r.Since(c.unix); got.Oldest != c.oldest || got.Empty() != c.empty || got.Newest != day(100) {
			t.Errorf("since %d: %+v", c.unix, got)
		}
	}
	for _, c := range []struct {
		oldest, from, cut int64
		more              bool
	}{{day(95), 0, day(95), false}, {day(91), 0, day(91), false}, {day(90), day(90), day(91), true}, {day(90), day(90) + 1, day(91), false}, {day(90), day(91), day(91), false}, {day(3), 0, day(91), true}} {
		if cut, more := r.Begin(c.oldest, c.from); cut.Oldest != c.cut || more != c.more {
			t.Errorf("begun by %d, from %d: %+v, more %t", c.oldest, c.from, cut, more)
		}
	}
	for unix, want := range map[int64]int64{day(5): day(5), day(5) + 1: day(6), day(6) - 1: day(6)} {
		if got := Day.From(unix); got != want {
			t.Errorf("the first day not before %d is %d", unix, got)
		}
	}
	may := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC).Unix()
	if got := Month.Begun(may); got != time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC).Unix() {
		t.Errorf("the newest month that has begun is %d", got)
	}
}

func reading(start int64, amount uint64, over, first, last int64) Reading {
	return Reading{Start: start, First: first, Last: last, Amount: *uint256.NewInt(amount), Over: over}
}

func values(points []Point) (all []string) {
	for i := range points {
		all = append(all, string(points[i].Value.Append(nil)))
	}
	return all
}

func TestPoints(t *testing.T) {
	r := Range{Day, day(10), day(13)}
	readings := []Reading{reading(day(13), 30, 1, day(13)+5, day(13)+500), reading(day(11), 20, 1, day(11)+7, day(11)+100), reading(day(9), 9, 1, day(9), day(9)+50)}
	for name, want := range map[string][]string{
		"txCount":             {"30", "0", "20", "0"},
		"cumulativeTxCount":   {"157", "127", "127", "107"},
		"cumulativeContracts": {"127", "127", "107", "107"},
	} {
		points := ByName(name).Points(r, readings, 107)
		if !slices.Equal(values(points), want) || points[0].Start != day(13) || points[3].Start != day(10) {
			t.Errorf("%s: %v, want %v", name, values(points), want)
		}
	}
	avg := ByName("avgTps")
	points := avg.Points(r, readings, 0)
	if points[0].Value.Over != day(13)+500-(day(11)+100) || points[2].Value.Over != day(11)+100-(day(9)+50) || points[1].Value.Over != 1 {
		t.Errorf("over %d, %d, %d", points[0].Value.Over, points[1].Value.Over, points[2].Value.Over)
	}
	if alone := avg.Points(r, readings[:1], 0); alone[0].Value.Over != 495 {
		t.Errorf("without one before it, over %d", alone[0].Value.Over)
	}
	same := []Reading{reading(day(13), 30, 1, 5, 5)}
	if v := avg.Points(r, same, 0)[0].Value; !v.Amount.IsZero() || v.Over != 1 {
		t.Errorf("over no time: %+v", v)
	}
	if ByName("none") != nil {
		t.Error("there is a metric without a name")
	}
}

func TestWindows(t *testing.T) {
	for _, w := range Windows {
		now := day(400) + 5000
		want := int64(0)
		if w.Seconds > 0 {
			want = (now - w.Seconds) / 3600 * 3600
		}
		if w.From(now) != want || w.Seconds > 0 && w.From(10) != 0 {
			t.Errorf("%s begins at %d", w.Name, w.From(now))
		}
	}
	all := []Reading{reading(day(3), 30, 10, day(3)+5, day(3)+500), reading(day(2), 50, 5, day(2)+7, day(2)+100), reading(day(1), 9, 9, day(1), day(1)+50)}
	for unix, n := range map[int64]int{day(1): 3, day(1) + 1: 2, day(2): 2, day(3) + 1: 0} {
		if since, before := Split(all, unix); len(since) != n || len(before) != 3-n {
			t.Errorf("since %d: %d and %d", unix, len(since), len(before))
		}
	}
	since, before := all[:2], all[2:]
	for name, want := range map[string]Value{
		"txCount":     {*uint256.NewInt(80), 1},
		"maxTps":      {*uint256.NewInt(50), 5},
		"avgGasPrice": {*uint256.NewInt(80), 15},
		"avgTps":      {*uint256.NewInt(80), day(3) + 500 - (day(1) + 50)},
	} {
		if got := ByName(name).Roll(before, since[:1], since[1:]); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := ByName("avgTps").Roll(nil, since); got.Over != day(3)+500-(day(2)+7) {
		t.Errorf("over %d", got.Over)
	}
	if got := ByName("maxTps").Roll(nil); got.Over != 1 || !got.Amount.IsZero() {
		t.Errorf("of nothing: %+v", got)
	}
	if m := ByName("activeSenders").Rolled(); m.Amount != "last_senders" || ByName("activeSenders").Amount != Senders || ByName("txCount").Rolled().Amount != Txs {
		t.Errorf("rolled: %+v", m)
	}
}

func TestStakes(t *testing.T) {
	a, b := Stake{1, 2, 3, 4}, Stake{10, 20, 30, 40}
	if a.Plus(b) != (Stake{11, 22, 33, 44}) || b.Minus(a) != (Stake{9, 18, 27, 36}) || DelegatorStake(5) != (Stake{0, 0, 1, 5}) || ValidatorStake(2, 7) != (Stake{2, 7, 0, 0}) {
		t.Errorf("%+v, %+v", a.Plus(b), b.Minus(a))
	}
	rows := []StakeRow{{day(12), b}, {day(9), a}}
	changes := []StakeChange{{day(14) - 1, a}, {day(14), ValidatorStake(-1, 0)}}
	want := map[string][]string{
		"validatorCount": {"10", "11", "10", "1", "1"}, "validatorWeight": {"22", "22", "20", "2", "2"}, "delegatorCount": {"33", "33", "30", "3", "3"}, "delegatorWeight": {"44", "44", "40", "4", "4"},
	}
	for i := range StakeMetrics {
		m := &StakeMetrics[i]
		if got := values(m.StakePoints(Range{Day, day(10), day(14)}, rows, changes)); !slices.Equal(got, want[m.Name]) {
			t.Errorf("%s: %v, want %v", m.Name, got, want[m.Name])
		}
	}
	if got := values(StakeMetrics[0].StakePoints(Range{Day, day(8), day(9)}, rows[1:], nil)); !slices.Equal(got, []string{"1", "0"}) {
		t.Errorf("before the first row: %v", got)
	}
}

// TestFeesOfARecord: two validators pay from the days on which they begin, one until its balance is used up.
func TestFeesOfARecord(t *testing.T) {
	// One begins on day 10 at an accrued fee of 100, another on day 11 at 250; the balance of the first ends at 400, on day 12.
	r := &FeeRecord{
		Rows:               []FeeRow{{day(11), ContinuousFee{Active: 2, Base: ^uint64(349), Paying: 2}}, {day(10), ContinuousFee{Active: 1, Base: ^uint64(99), Paying: 1}}},
		AccruedFees:        map[int64]uint64{day(9): 50, day(10): 200, day(11): 300, day(12): 450, day(13): 600, day(14): 600},
		EndAccumulatedFees: []uint64{400},
	}
	want := map[FeeQuantity][]uint64{DailyFees: {100, 150, 250, 150, 0}, CumulativeFees: {100, 250, 500, 650, 650}, PayingValidators: {1, 2, 2, 1, 0}}
	for shows, all := range want {
		for i, value := range all {
			if got := (&FeeMetric{Shows: shows}).Value(r, day(10+int64(i))); got != value {
				t.Errorf("quantity %d of day %d: %d, want %d", shows, 10+i, got, value)
			}
		}
	}
	if r.paid(day(9)) != 0 {
		t.Errorf("%d were paid before anybody began", r.paid(day(9)))
	}
	exact := &FeeRecord{Rows: r.Rows[1:], AccruedFees: map[int64]uint64{day(10): 400, day(11): 500}, EndAccumulatedFees: []uint64{400}}
	if exact.paid(day(10)) != 300 || exact.paid(day(11)) != 300 || exact.paying(day(11)) != 0 {
		t.Errorf("a balance that ends with a day: %d, %d, and %d pay on the next", exact.paid(day(10)), exact.paid(day(11)), exact.paying(day(11)))
	}
}

func TestRoutes(t *testing.T) {
	count := func(from, to string) ICMCount {
		return ICMCount{Source: []byte(from), Destination: []byte(to), Messages: 1}
	}
	counts := []ICMCount{count("b", "a"), count("a", "b"), count("a", "c"), count("a", "b")}
	for _, c := range []struct {
		filter RouteFilter
		want   []Route
	}{
		{RouteFilter{}, []Route{{}}},
		{RouteFilter{BySource: true}, []Route{{Source: "a"}, {Source: "b"}}},
		{RouteFilter{ByDestination: true}, []Route{{Destination: "a"}, {Destination: "b"}, {Destination: "c"}}},
		{RouteFilter{BySource: true, ByDestination: true}, []Route{{"a", "b"}, {"a", "c"}, {"b", "a"}}},
		{RouteFilter{BySource: true, From: "b"}, []Route{{Source: "b"}}},
		{RouteFilter{BySource: true, To: "b"}, []Route{{Source: "a"}}},
		{RouteFilter{ByDestination: true, From: "a", To: "c"}, []Route{{Destination: "c"}}},
		{RouteFilter{BySource: true, From: "c"}, nil},
	} {
		if got := c.filter.Routes(counts); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c.filter, got)
		}
	}
	points := []RoutePoint{{Route{"a", "b"}, 9, 0}, {Route{"a", "c"}, 9, 0}, {Route{"b", "a"}, 9, 0}, {Route{"a", "b"}, 5, 0}}
	for i := range points {
		for j := range points {
			if points[i].Before(points[j]) != (i < j) {
				t.Errorf("%v before %v: %t", points[i], points[j], i >= j)
			}
		}
	}
}

// TestLifetimes compares with a list of appearances, on chains of both networks and far apart.
func TestLifetimes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	type appearance struct {
		chain int
		role  Role
		hour  int64
	}
	for range 200 {
		var l Lifetime
		var all []appearance
		for range random.IntN(20) {
			a := appearance{random.IntN(3) * 200, Role(random.IntN(int(roles))), 400_000 + random.Int64N(50)}
			all = append(all, a)
			l = l.with(a.chain, a.role, a.hour*SecondsPerHour+random.Int64N(SecondsPerHour))
		}
		var keys [][]byte
		for i := 0; i < len(l); i += lifetimeSize {
			keys = append(keys, l[i:i+3])
		}
		if !slices.IsSortedFunc(keys, bytes.Compare) || len(slices.CompactFunc(slices.Clone(keys), bytes.Equal)) != len(keys) {
			t.Fatalf("%x", []byte(l))
		}
		for role := Present; role < roles; role++ {
			for _, chain := range []int{-1, 0, 200, 400} {
				in := func(c int) bool { return chain < 0 || c == chain }
				var first, last int64
				found := false
				for _, a := range all {
					if a.role == role && in(a.chain) {
						if !found || a.hour*SecondsPerHour < first {
							first = a.hour * SecondsPerHour
						}
						last, found = max(last, a.hour*SecondsPerHour), true
					}
				}
				if haveFirst, haveLast, have := l.span(role, in); have != found || found && (haveFirst != first || haveLast != last) {
					t.Fatalf("role %d on %d: %d to %d, %t; want %d to %d, %t", role, chain, haveFirst, haveLast, have, first, last, found)
				}
			}
		}
	}
}
