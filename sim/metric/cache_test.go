package metric

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holiman/uint256"
)

// TestRowsAreReadAndWrittenOnce, in the order in which they first changed, and stay in memory while they are few.
func TestRowsAreReadAndWrittenOnce(t *testing.T) {
	file := map[int]string{1: "one", 2: "two", 3: "three"}
	var did []string
	c := &Cache[int, string]{Keep: 3, Read: func(key int) (string, bool, error) {
		did = append(did, fmt.Sprint("read ", key))
		text, known := file[key]
		return text, known, nil
	}, Write: func(key int, value *string) error {
		did = append(did, fmt.Sprint("write ", key))
		file[key] = *value
		return nil
	}}
	row := func(key int) *row[int, string] {
		t.Helper()
		r, err := c.row(key, false)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	change := func(key int, to string) {
		r := row(key)
		r.value = to
		c.change(r)
	}
	step := func(what string, want ...string) {
		t.Helper()
		if !slices.Equal(did, want) {
			t.Errorf("%s: %q, want %q", what, did, want)
		}
		did = nil
	}
	change(2, "zwei")
	change(4, "vier")
	change(2, "deux")
	step("three changes of two rows", "read 2", "read 4")
	if r := row(4); r.known || row(2).value != "deux" || !row(2).known {
		t.Errorf("rows are %+v and %+v", r, row(2))
	}
	if err := c.flush(); err != nil || file[2] != "deux" || file[4] != "vier" || file[1] != "one" {
		t.Errorf("%v: the file is %v", err, file)
	}
	step("flushed", "write 2", "write 4")
	if err := errors.Join(c.flush(), c.flush()); err != nil {
		t.Error(err)
	}
	step("flushed again")
	change(2, "two")
	row(1)
	step("three rows stay", "read 1")
	row(3)
	if err := c.flush(); err != nil || c.size() != 0 {
		t.Errorf("%v: %d rows stay", err, c.size())
	}
	step("of four rows", "read 3", "write 2")
	if row(2); file[2] != "two" {
		t.Errorf("the file is %v", file)
	}
	step("and none stays", "read 2")
	if r, err := c.row(9, true); err != nil || r.known {
		t.Errorf("a fresh row: %+v, %v", r, err)
	}
	step("of an empty table")
}

// TestTheGreatestRatesOfATally: the block with the most per second of its duration determines each of them.
func TestTheGreatestRatesOfATally(t *testing.T) {
	sums := Sums{First: 1000}
	for i, c := range []struct {
		a        Activity
		gas, txs Rate
	}{
		{Activity{Time: 100, Gas: 50, Txs: 5}, Rate{}, Rate{}}, // a genesis follows nothing
		{Activity{Time: 110, Gas: 100, Txs: 2, Gap: 10}, Rate{100, 10}, Rate{2, 10}},
		{Activity{Time: 130, Gas: 100, Txs: 8, Gap: 20}, Rate{100, 10}, Rate{8, 20}},
		{Activity{Time: 131, Gas: 10, Txs: 0, Gap: 1}, Rate{10, 1}, Rate{8, 20}}, // of equal rates, that of the shorter time
		{Activity{Time: 140, Gas: 1 << 62, Txs: 1 << 61, Gap: 9}, Rate{1 << 62, 9}, Rate{1 << 61, 9}},
	} {
		sums.add(c.a.sums())
		if sums.TopGas != c.gas || sums.TopTxs != c.txs || sums.First != 100 || sums.Last != c.a.Time {
			t.Errorf("after block %d: %+v", i, sums)
		}
	}
	large, small := Rate{1 << 62, 1}, Rate{1 << 61, 1 << 20}
	if !large.exceeds(small) || small.exceeds(large) || small.exceeds(small) {
		t.Error("rates of many")
	}
	for _, c := range []struct {
		a, b Value
		more bool
	}{{Value{*uint256.NewInt(3), 2}, Value{*uint256.NewInt(4), 3}, true}, {Value{*uint256.NewInt(4), 3}, Value{*uint256.NewInt(3), 2}, false}, {Value{*uint256.NewInt(2), 4}, Value{*uint256.NewInt(1), 2}, false}} {
		if got := c.a.exceeds(&c.b); got != c.more {
			t.Errorf("%v exceeds %v: %t", c.a, c.b, got)
		}
	}
	exact := Value{*uint256.NewInt(1<<53 + 1), 1 << 53}
	if got := exact.float(); got != 1 {
		t.Errorf("just above one is %v", got)
	}
}

// TestFeesOfADayWithoutARow: who was active the day before pays for all of it.
func TestFeesOfADayWithoutARow(t *testing.T) {
	a := ContinuousFee{Active: 1, Base: 2, Paying: 3}
	if got := a.Plus(ContinuousFee{10, 20, 30}); got != (ContinuousFee{11, 22, 33}) {
		t.Errorf("the sum is %+v", got)
	}
	// Three began on day 10, of whom one stopped; nobody began or stopped on day 11.
	r := &FeeRecord{Rows: []FeeRow{{day(10), ContinuousFee{Active: 2, Paying: 3}}}, AccruedFees: map[int64]uint64{day(9): 1, day(10): 2, day(11): 3}}
	if r.paying(day(10)) != 3 || r.paying(day(11)) != 2 {
		t.Errorf("%d pay on the day, %d on the next", r.paying(day(10)), r.paying(day(11)))
	}
}

// TestPresenceOfAnAddress compares the packed entries with a set.
func TestPresenceOfAnAddress(t *testing.T) {
	type key struct{ hour, chain int }
	var h Presence
	set := map[key]Roles{}
	for _, at := range []key{{5, 3}, {0, 1}, {5, 1}, {700, 2}, {5, 3}, {6, 1}, {4, 9}} {
		for _, as := range []Roles{1, 2} {
			h = h.with(at.hour, at.chain, as)
			set[at] |= as
		}
	}
	for hour := range 710 {
		for chain := range 11 {
			if got := h.roles(hour, chain); got != set[key{hour, chain}] {
				t.Errorf("in hour %d on chain %d its roles are %b", hour, chain, got)
			}
		}
	}
	for _, chain := range []int{1, 2, 3, 9} {
		for _, span := range [][2]int{{0, 1}, {0, 5}, {5, 5}, {5, 6}, {6, 7}, {6, 700}, {700, 701}, {701, 710}, {0, 710}} {
			want := false
			for at := range set {
				want = want || at.chain == chain && span[0] <= at.hour && at.hour < span[1]
			}
			if got := h.any(span[0], span[1], Present, func(c int) bool { return c == chain }); got != want {
				t.Errorf("from hour %d up to %d it was on chain %d: %t", span[0], span[1], chain, got)
			}
		}
	}
}
