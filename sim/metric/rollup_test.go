package metric

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
)

// tables holds a roll-up's source and its destination.
type tables struct {
	tallies   map[Key]Tally
	hours     map[int]OpenHour
	months    map[MonthKey]string
	lifetimes map[common.Address]string
}

func newTables() *tables {
	return &tables{map[Key]Tally{}, map[int]OpenHour{}, map[MonthKey]string{}, map[common.Address]string{}}
}

// rollup returns a new one over the tables, as after a restart.
func (t *tables) rollup() *Rollup {
	return &Rollup{
		Fresh:   len(t.tallies) == 0,
		Network: func(chain int) (Scope, error) { return ScopeOf([]string{"mainnet", "fuji"}[chain%2]) },
		Tallies: &Cache[Key, Tally]{
			Read:  func(k Key) (Tally, bool, error) { v, ok := t.tallies[k]; return v, ok, nil },
			Write: func(k Key, v *Tally) error { t.tallies[k] = *v; return nil }, Keep: 30,
		},
		Hours: &Cache[int, OpenHour]{
			Read:  func(chain int) (OpenHour, bool, error) { v, ok := t.hours[chain]; return v, ok, nil },
			Write: func(chain int, v *OpenHour) error { t.hours[chain] = *v; return nil },
		},
		Presences: &Cache[MonthKey, Presence]{
			Read:  func(k MonthKey) (Presence, bool, error) { v, ok := t.months[k]; return Presence(v), ok, nil },
			Write: func(k MonthKey, v *Presence) error { t.months[k] = string(*v); return nil },
		},
		Lifetimes: &Cache[common.Address, Lifetime]{
			Read:  func(k common.Address) (Lifetime, bool, error) { v, ok := t.lifetimes[k]; return Lifetime(v), ok, nil },
			Write: func(k common.Address, v *Lifetime) error { t.lifetimes[k] = string(*v); return nil },
		},
	}
}

type arrival struct {
	chain    int
	activity *Activity
}

// histories returns blocks of some chains over ten weeks, with few addresses and many coincidences.
func histories(r *rand.Rand) [][]arrival {
	start := time.Date(2026, 4, 20, 0, 0, 0, 0, time.UTC).Unix()
	all := make([][]arrival, 4)
	for n := range all {
		at, before := start+int64(r.IntN(48))*SecondsPerHour/2, (*int64)(nil)
		for range 150 {
			a := NewActivity(at, before)
			for range r.IntN(4) {
				a.Transaction([]byte{byte(r.IntN(6))}, []byte{byte(r.IntN(9))}, uint64(21_000+r.IntN(3)), uint256.NewInt(uint64(r.IntN(5))))
				if r.IntN(3) == 0 {
					a.Creation([]byte{byte(r.IntN(9))})
				}
			}
			a.Close()
			all[n] = append(all[n], arrival{n + 1, a})
			last := at
			before, at = &last, at+1+int64(r.IntN(46))*SecondsPerHour/2
		}
	}
	return all
}

// TestOrderOfChainsDoesNotShow writes the same blocks chain by chain, in order of time, and randomly mixed with restarts in between, and gets the
// same rows.
func TestOrderOfChainsDoesNotShow(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := histories(r)
		inOrder := slices.Concat(all...)
		byTime := slices.Clone(inOrder)
		slices.SortStableFunc(byTime, func(a, b arrival) int { return int(a.activity.Time - b.activity.Time) })
		want, timely, mixed := newTables(), newTables(), newTables()
		fold(t, want, inOrder, func() bool { return false })
		fold(t, timely, byTime, func() bool { return true })
		fold(t, mixed, shuffled(r, all), func() bool { return r.IntN(10) == 0 })
		for name, have := range map[string]*tables{"by time": timely, "mixed": mixed} {
			if !maps.Equal(have.tallies, want.tallies) || !maps.Equal(have.hours, want.hours) || !maps.Equal(have.months, want.months) || !maps.Equal(have.lifetimes, want.lifetimes) {
				t.Fatalf("seed %d: rows written %s differ from those written chain by chain", seed, name)
			}
		}
		checkDistinct(t, inOrder, want)
		if seed < 4 {
			checkSeen(t, inOrder, want)
		}
	}
}

// shuffled mixes chains but keeps the order of each.
func shuffled(r *rand.Rand, all [][]arrival) (mixed []arrival) {
	rest := slices.Clone(all)
	for len(rest) > 0 {
		i := r.IntN(len(rest))
		mixed = append(mixed, rest[i][0])
		if rest[i] = rest[i][1:]; len(rest[i]) == 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return mixed
}

// fold rolls up blocks, and writes the result where a function says so. Every second time it starts again from the tables.
func fold(t *testing.T, to *tables, arrivals []arrival, write func() bool) {
	t.Helper()
	rollup, flushes := to.rollup(), 0
	for _, a := range arrivals {
		if err := rollup.Add(a.chain, a.activity); err != nil {
			t.Fatal(err)
		}
		if write() {
			if err := rollup.Flush(); err != nil {
				t.Fatal(err)
			}
			if flushes++; flushes%2 == 0 {
				rollup = to.rollup()
			}
		}
	}
	if err := rollup.Flush(); err != nil {
		t.Fatal(err)
	}
}

// TestOneRowForEachBlock: a block of addresses that the hour has seen changes the chain's open hour and nothing else.
func TestOneRowForEachBlock(t *testing.T) {
	have := newTables()
	r := have.rollup()
	at := time.Date(2026, 5, 3, 10, 0, 0, 0, time.UTC).Unix()
	add := func(unix int64) {
		t.Helper()
		a := NewActivity(unix, nil)
		a.Transaction([]byte{1}, []byte{2}, 21_000, uint256.NewInt(3))
		a.Close()
		if err := errors.Join(r.Add(1, a), r.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	add(at)
	before := maps.Clone(have.tallies)
	add(at + 1)
	add(at + SecondsPerHour - 1)
	if !maps.Equal(have.tallies, before) {
		t.Error("blocks within the hour changed the tallies")
	}
	if h := have.hours[1]; h.Start != at || h.First != at || h.Last != at+SecondsPerHour-1 || h.Txs != 3 || h.Network != Testnet {
		t.Errorf("the open hour is %+v", h)
	}
	add(at + SecondsPerHour)
	if closed, next := have.tallies[Key{1, Hour, at}], have.tallies[Key{1, Hour, at + SecondsPerHour}]; closed.Txs != 3 || next.Txs != 0 || next.First != at+SecondsPerHour {
		t.Errorf("after the hour its tally is %+v, and the next %+v", closed, next)
	}
}

// TestOpenHoursCount in the readings of the intervals around them.
func TestOpenHoursCount(t *testing.T) {
	monday := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC).Unix()
	at := func(hours int64) int64 { return monday + hours*SecondsPerHour }
	hours := []Reading{reading(at(30), 20, 4, at(30)+5, at(30)+9), reading(at(25), 9, 3, at(25), at(25)+70), reading(at(900), 1, 1, 0, 0)}
	stored := func() []Reading {
		return []Reading{reading(at(24), 7, 2, at(26), at(27)), reading(at(0), 5, 1, at(3), at(4))}
	}
	for name, want := range map[string]Reading{
		"txCount":     reading(at(24), 36, 2, at(25), at(30)+9),
		"avgGasPrice": reading(at(24), 36, 9, at(25), at(30)+9),
		"maxGps":      reading(at(24), 20, 4, at(25), at(30)+9),
	} {
		have := stored()
		ByName(name).AddOpenHours(Day, have, hours)
		if have[0] != want || have[1] != stored()[1] {
			t.Errorf("%s: %+v, want %+v", name, have, want)
		}
	}
}

// checkDistinct counts the addresses of every interval, scope and role with sets.
func checkDistinct(t *testing.T, arrivals []arrival, have *tables) {
	t.Helper()
	type place struct {
		key  Key
		role Role
	}
	sets := map[place]map[common.Address]bool{}
	rollup := have.rollup()
	for _, a := range arrivals {
		scopes, err := rollup.scopes(a.chain)
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range scopes {
			for i := range Intervals {
				for _, m := range a.activity.Participants {
					for role := range roles {
						if m.Roles&role.set() == 0 {
							continue
						}
						p := place{Key{scope, Interval(i), Interval(i).Start(a.activity.Time)}, role}
						if sets[p] == nil {
							sets[p] = map[common.Address]bool{}
						}
						sets[p][m.Address] = true
					}
				}
			}
		}
	}
	for key, tally := range have.tallies {
		for role, count := range tally.Distinct {
			if want := len(sets[place{key, Role(role)}]); int(count) != want {
				t.Fatalf("%+v: %d addresses in role %d, want %d", key, count, role, want)
			}
		}
	}
}

func TestIntervals(t *testing.T) {
	at := func(text string) int64 {
		moment, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment.Unix()
	}
	for _, c := range []struct {
		interval            Interval
		moment, start, next string
	}{
		{Hour, "2026-03-31 23:59:59", "2026-03-31 23:00:00", "2026-04-01 00:00:00"},
		{Day, "2026-02-28 00:00:00", "2026-02-28 00:00:00", "2026-03-01 00:00:00"},
		{Week, "2026-06-01 00:00:00", "2026-06-01 00:00:00", "2026-06-08 00:00:00"},
		{Week, "2026-05-31 23:59:59", "2026-05-25 00:00:00", "2026-06-01 00:00:00"},
		{Week, "2027-01-01 12:00:00", "2026-12-28 00:00:00", "2027-01-04 00:00:00"},
		{Month, "2026-12-31 23:59:59", "2026-12-01 00:00:00", "2027-01-01 00:00:00"},
		{Month, "2028-02-29 12:00:00", "2028-02-01 00:00:00", "2028-03-01 00:00:00"},
	} {
		start, next := c.interval.Start(at(c.moment)), c.interval.Next(at(c.start))
		if start != at(c.start) || next != at(c.next) {
			t.Errorf("%s of %s is from %s to %s", Intervals[c.interval], c.moment, time.Unix(start, 0).UTC(), time.Unix(next, 0).UTC())
		}
		if back := c.interval.Previous(next); back != start {
			t.Errorf("%s before %s begins at %s", Intervals[c.interval], c.next, time.Unix(back, 0).UTC())
		}
	}
}

func TestBackIsPreviousManyTimes(t *testing.T) {
	for i := range Intervals {
		at := Interval(i).Start(time.Date(2026, 6, 17, 11, 0, 0, 0, time.UTC).Unix())
		for n, start := 0, at; n < 50; n, start = n+1, Interval(i).Previous(start) {
			if back := Interval(i).Back(at, n); back != start {
				t.Errorf("%d %ss back is %d, want %d", n, Intervals[i], back, start)
			}
		}
	}
}

func TestRatesCompareExactly(t *testing.T) {
	for _, c := range []struct {
		a, b Rate
		want bool
	}{
		{Rate{1, 3}, Rate{1, 4}, true},
		{Rate{1, 4}, Rate{1, 3}, false},
		{Rate{1, 2}, Rate{2, 4}, true}, // equal: the shorter one
		{Rate{2, 4}, Rate{1, 2}, false},
		{Rate{0, 5}, Rate{}, false},
		{Rate{1, 5}, Rate{}, true},
		{Rate{1 << 62, 1}, Rate{1<<62 - 1, 1}, true},
	} {
		if have := c.a.exceeds(c.b); have != c.want {
			t.Errorf("%v exceeds %v: %t", c.a, c.b, have)
		}
	}
}

// checkSeen counts the addresses that every hour and day of a scope saw for the first, and for the last, time.
func checkSeen(t *testing.T, arrivals []arrival, have *tables) {
	t.Helper()
	type who struct {
		scope   Scope
		role    Role
		address common.Address
	}
	first, last := map[who]int64{}, map[who]int64{}
	rollup := have.rollup()
	for _, a := range arrivals {
		scopes, err := rollup.scopes(a.chain)
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range scopes {
			for _, m := range a.activity.Participants {
				for role := range roles {
					if w := (who{scope, role, m.Address}); m.Roles&role.set() != 0 {
						if at, known := first[w]; !known || a.activity.Time < at {
							first[w] = a.activity.Time
						}
						last[w] = max(last[w], a.activity.Time)
					}
				}
			}
		}
	}
	type seen struct{ first, last [roles]int64 }
	want := map[Key]seen{}
	for w, at := range first {
		for _, i := range []Interval{Hour, Day} {
			begun, ended := Key{w.scope, i, i.Start(at)}, Key{w.scope, i, i.Start(last[w])}
			s := want[begun]
			s.first[w.role]++
			want[begun] = s
			s = want[ended]
			s.last[w.role]++
			want[ended] = s
		}
	}
	for key, tally := range have.tallies {
		if tally.FirstSeen != want[key].first || tally.LastSeen != want[key].last {
			t.Fatalf("%+v: first seen %v and last %v, want %v", key, tally.FirstSeen, tally.LastSeen, want[key])
		}
	}
}
