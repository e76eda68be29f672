package reader_test

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

func wei(all ...int64) (numbers []*big.Int) {
	for _, n := range all {
		numbers = append(numbers, big.NewInt(n))
	}
	return numbers
}

// TestFeeHistoryOfKnownBlocks: a wallet reads the tip at which each share of a block's gas was reached, and how full the block was. The reader
// asks for the same blocks in any order, with rewards and without, and gets the same.
func TestFeeHistoryOfKnownBlocks(t *testing.T) {
	c := newChosenChain(t, evm.KindL1, false)
	const start = 1_775_000_000
	heavy := payment{tip: 2, to: &emitters[0], gas: 100_000, data: make([]byte, 160)}
	c.with(start+10, payment{tip: 5}, payment{tip: 1}, payment{tip: 3}, payment{tip: 9})
	c.with(start + 20)
	c.with(start+30, payment{tip: 7, most: 8}, payment{tip: 4}) // with a base fee of one, the first pays all of its tip
	c.with(start+40, payment{tip: 7, most: 7}, payment{tip: 4}) // and here all but one
	c.with(start+50, heavy, payment{tip: 8})
	for i := range 70 { // more than are read together
		c.with(start+60+10*uint64(i), payment{tip: int64(i)})
	}
	b, err := c.Block(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	heavyGas := b.Header.GasUsed - 21_000
	if share := 100 * float64(heavyGas) / float64(b.Header.GasUsed); share < 51 || share > 70 {
		t.Fatalf("the heavy transaction used %d gas", heavyGas)
	}
	percentiles := []float64{0, 25, 26, 50, 75, 76, 100}
	want := [][]*big.Int{wei(0, 0, 0, 0, 0, 0, 0), wei(1, 1, 3, 3, 5, 9, 9), wei(0, 0, 0, 0, 0, 0, 0), wei(4, 4, 4, 4, 7, 7, 7), wei(4, 4, 4, 4, 6, 6, 6), wei(2, 2, 2, 2, 8, 8, 8)}
	used := []uint64{0, 84_000, 0, 42_000, 42_000, b.Header.GasUsed}
	for i := range int64(70) {
		want, used = append(want, wei(i, i, i, i, i, i, i)), append(used, 21_000)
	}
	last := func(n uint64) *uint64 { return &n }
	check := func(r reader.HistoryRange, first, count int, percentiles []float64) {
		t.Helper()
		h, err := c.FeeHistory(t.Context(), r, percentiles)
		if err != nil {
			t.Fatal(err)
		}
		if h.Oldest != uint64(first) || len(h.BaseFees) != count || len(h.Used) != count || len(percentiles) > 0 && len(h.Rewards) != count || len(percentiles) == 0 && h.Rewards != nil {
			t.Fatalf("%+v: %d, %d fees, %d shares, %d rewards; want %d from %d", r, h.Oldest, len(h.BaseFees), len(h.Used), len(h.Rewards), count, first)
		}
		for i := range count {
			b, err := c.Block(t.Context(), uint64(first+i))
			if err != nil {
				t.Fatal(err)
			}
			if h.BaseFees[i].Cmp(b.Header.BaseFee) != 0 || h.Used[i] != float64(used[first+i])/15_000_000 {
				t.Errorf("block %d: base fee %d, %f used", first+i, h.BaseFees[i], h.Used[i])
			}
			if len(percentiles) == 7 && !reflect.DeepEqual(fmt.Sprint(h.Rewards[i]), fmt.Sprint(want[first+i])) {
				t.Errorf("block %d: %d, want %d", first+i, h.Rewards[i], want[first+i])
			}
		}
	}
	check(reader.HistoryRange{Count: 3, Last: last(4)}, 2, 3, nil)
	check(reader.HistoryRange{Count: 2, Last: last(3)}, 2, 2, percentiles)
	check(reader.HistoryRange{Count: 6, Last: last(5)}, 0, 6, percentiles) // some are known without rewards, some with
	check(reader.HistoryRange{Count: 6, Last: last(5)}, 0, 6, percentiles)
	check(reader.HistoryRange{Count: 6, Last: last(5)}, 0, 6, nil)
	check(reader.HistoryRange{Count: 1000}, 0, 76, percentiles)
	check(reader.HistoryRange{Count: 65}, 11, 65, percentiles)
	check(reader.HistoryRange{Count: 64}, 12, 64, nil)
	check(reader.HistoryRange{Count: 2, Pending: true}, 75, 1, percentiles)

	for _, count := range []uint64{0, 1} {
		h, err := c.FeeHistory(t.Context(), reader.HistoryRange{Count: count, Pending: count == 1}, percentiles)
		if err != nil || !reflect.DeepEqual(h, &reader.FeeHistory{}) {
			t.Errorf("no blocks: %+v %v", h, err)
		}
	}
	for _, wrong := range []struct {
		percentiles []float64
		text        string
	}{
		{[]float64{-0.5}, "invalid reward percentile: -0.500000"},
		{[]float64{100.5}, "invalid reward percentile: 100.500000"},
		{[]float64{1, 2, 2}, "invalid reward percentile: #1:2.000000 >= #2:2.000000"},
		{[]float64{2, 1}, "invalid reward percentile: #0:2.000000 >= #1:1.000000"},
		{slices.Repeat([]float64{1}, 101), "invalid reward percentile: over the query limit 100"},
	} {
		if _, err := c.FeeHistory(t.Context(), reader.HistoryRange{Count: 1}, wrong.percentiles); err == nil || err.Error() != wrong.text {
			t.Errorf("%v: %v", wrong.percentiles, err)
		}
	}
	var hundred []float64
	for i := range 100 {
		hundred = append(hundred, float64(i))
	}
	check(reader.HistoryRange{Count: 1}, 75, 1, hundred)
	if _, err := c.FeeHistory(t.Context(), reader.HistoryRange{Count: 1, Last: last(76)}, nil); err == nil || !strings.HasPrefix(err.Error(), "request beyond head block") {
		t.Error(err)
	}
}

// TestHistoryBeforeExecution: since Helicon a C-Chain's blocks accept the gas limit, at the bound of the price, and a history ends with the price of
// the block after its last.
func TestHistoryBeforeExecution(t *testing.T) {
	c := newChosenChain(t, evm.KindC, true)
	const start = 1_775_000_000
	c.with(start+10, payment{tip: 3, gas: 50_000}, payment{tip: 1, gas: 100_000})
	c.with(start+20, payment{tip: 4, gas: 21_000})
	c.with(start + 40)
	h, err := c.FeeHistory(t.Context(), reader.HistoryRange{Count: 3}, []float64{10, 60, 90})
	if err != nil {
		t.Fatal(err)
	}
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !head.Header.Asynchronous() || len(h.BaseFees) != 4 || len(h.Used) != 3 || fmt.Sprint(h.Rewards) != "[[1 1 3] [4 4 4] [0 0 0]]" {
		t.Errorf("%t %v %v %v", head.Header.Asynchronous(), h.BaseFees, h.Used, h.Rewards)
	}
	bound, err := c.PriceBound(t.Context(), head)
	if err != nil || bound.Price().Cmp(h.BaseFees[3]) != 0 {
		t.Errorf("%d %v", h.BaseFees[3], err)
	}
	last := uint64(1)
	if h, err = c.FeeHistory(t.Context(), reader.HistoryRange{Count: 1, Last: &last}, nil); err != nil || len(h.BaseFees) != 2 {
		t.Fatal(h, err)
	}
	second, err := c.Block(t.Context(), 2)
	if err != nil || h.BaseFees[1].Cmp(second.Header.BaseFee) != 0 {
		t.Errorf("%d, want %d: %v", h.BaseFees[1], second.Header.BaseFee, err)
	}
}

// TestWhatSettles: since Helicon a block's results are in a later header. A client learns which, and when the transactions so far will be settled.
func TestWhatSettles(t *testing.T) {
	c := newChosenChain(t, evm.KindC, true)
	const start = 1_775_000_000
	for i, n := range []int{1, 0, 2, 0, 0, 1, 0} {
		var all []payment
		for range n {
			all = append(all, payment{tip: 1})
		}
		c.with(start+3*uint64(i+1), all...)
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		settled, err := c.Settled(t.Context())
		if err != nil || settled.Number != *head.Header.SettledHeight {
			t.Errorf("block %d: %d settled: %v", head.Number, settled.Number, err)
		}
		for number := uint64(1); number <= head.Number; number++ { // restates the rule
			b, err := c.Block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			want := uint64(0)
			for later := number; later <= head.Number && want == 0; later++ {
				at, err := c.Block(t.Context(), later)
				if err != nil {
					t.Fatal(err)
				}
				if *at.Header.SettledHeight >= number {
					want = later
				}
			}
			got, err := c.SettledBy(t.Context(), b)
			if err != nil || (got == nil) != (want == 0) || got != nil && got.Number != want {
				t.Errorf("at %d, block %d is settled by %+v, want %d: %v", head.Number, number, got, want, err)
			}
		}
		var paying *reader.Block
		for number := head.Number; number > settled.Number && paying == nil; number-- {
			if b, err := c.Block(t.Context(), number); err != nil {
				t.Fatal(err)
			} else if b.Row.Txs > 0 {
				paying = b
			}
		}
		at, waits, err := c.SettlesAt(t.Context(), head, 0)
		if err != nil || waits != (paying != nil) || waits && at != paying.Results.SettlesAt(paying.Header, 0) {
			t.Errorf("block %d settles at %d, %t: %v", head.Number, at, waits, err)
		}
		bound, err := c.PriceBound(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		want := evm.NewPriceBound(settled.Header, settled.Results)
		for number := settled.Number + 1; number <= head.Number; number++ {
			b, err := c.Block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			want.Add(b.Header)
		}
		if bound.Price().Cmp(want.Price()) != 0 {
			t.Errorf("block %d: bound %d, want %d", head.Number, bound.Price(), want.Price())
		}
	}
	old := newChosenChain(t, evm.KindC, false)
	old.with(start+10, payment{tip: 1})
	head, err := old.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if by, err := old.SettledBy(t.Context(), head); err != nil || by != head || head.Settled() != head.Number {
		t.Errorf("before Helicon a block settles itself: %v %v", by, err)
	}
	if _, waits, err := old.SettlesAt(t.Context(), head, 0); err != nil || waits {
		t.Errorf("before Helicon nothing waits: %v", err)
	}
}

// TestSuggestedTips restates the rule: the 40th percentile of the tips in the newest 40 blocks that are at most 80 seconds older than the newest with
// transactions, since Helicon of 20 and 60; at least one wei, at most 150 gwei. Whether the reader knew earlier blocks makes no difference.
func TestSuggestedTips(t *testing.T) {
	const start = 1_775_000_000
	for name, o := range map[string]struct {
		kind    evm.Kind
		helicon bool
		step    uint64 // seconds
		tip     func(i int) []int64
	}{
		"rising tips":      {evm.KindL1, false, 10, func(i int) []int64 { return []int64{int64(100 * (i + 1))} }},
		"falling tips":     {evm.KindL1, false, 10, func(i int) []int64 { return []int64{int64(100_000 - 100*i), 7} }},
		"many blocks":      {evm.KindL1, false, 2, func(i int) []int64 { return []int64{int64(1000 + (i*37)%50)} }},
		"since Helicon":    {evm.KindC, true, 2, func(i int) []int64 { return []int64{int64(1000 + (i*37)%50)} }},
		"slowly, Helicon":  {evm.KindC, true, 20, func(i int) []int64 { return []int64{int64(1000 + (i*37)%50)} }},
		"nothing is paid":  {evm.KindL1, false, 10, func(i int) []int64 { return []int64{0} }},
		"too much is paid": {evm.KindL1, false, 10, func(i int) []int64 { return []int64{150_000_000_000 + int64(i%2)} }},
		"empty blocks": {evm.KindL1, false, 10, func(i int) []int64 {
			if i%20 < 5 {
				return []int64{int64(1000 + i)}
			}
			return nil
		}},
	} {
		c := newChosenChain(t, o.kind, o.helicon)
		type block struct {
			time uint64
			tips []int64
		}
		var all []block
		for i := range 45 {
			at, tips := start+10+o.step*uint64(i), o.tip(i)
			var payments []payment
			for _, tip := range tips {
				payments = append(payments, payment{tip: tip})
			}
			c.with(at, payments...)
			all = append(all, block{at, tips})
			most, age := 40, uint64(80)
			if o.helicon {
				most, age = 20, 60
			}
			newest, paid := uint64(0), []int64{}
			for n, j := 0, len(all)-1; j >= 0 && n < most; n, j = n+1, j-1 {
				if newest == 0 && len(all[j].tips) > 0 {
					newest = all[j].time
				}
				if newest > 0 && newest-min(newest, all[j].time) > age {
					break
				}
				paid = append(paid, all[j].tips...)
			}
			want := int64(1)
			if len(paid) > 0 {
				slices.Sort(paid)
				want = min(max(paid[(len(paid)-1)*40/100], 1), 150_000_000_000)
			}
			got, err := c.SuggestTip(t.Context())
			if err != nil || got.Int64() != want {
				t.Fatalf("%s: after %d blocks %d, want %d: %v", name, i+1, got, want, err)
			}
			got.SetInt64(-1) // whoever asked may change it
			if again, err := c.SuggestTip(t.Context()); err != nil || again.Int64() != want {
				t.Fatalf("%s: asked again %d, want %d: %v", name, again, want, err)
			}
		}
	}
}
