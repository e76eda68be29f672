package reader_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// receiptLogs returns all logs of a chain from its receipts.
func receiptLogs(c *randomChain) (all []*types.Log) {
	head, err := c.Head(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for number := uint64(0); number <= head.Number; number++ {
		b, err := c.Block(c.t.Context(), number)
		if err != nil {
			c.t.Fatal(err)
		}
		transactions, err := c.Receipts(c.t.Context(), b)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, tx := range transactions {
			all = append(all, tx.Logs...)
		}
	}
	return all
}

// TestLogsAreTheReceipts searches random worlds with random filters and compares with the receipts.
func TestLogsAreTheReceipts(t *testing.T) {
	for seed := range uint64(4) {
		c := newRandomChain(t, evm.KindC, seed, 30)
		all := receiptLogs(c)
		if len(all) < 30 {
			t.Fatalf("only %d logs", len(all))
		}
		for range 200 {
			f, first, last := c.filter()
			var want []*types.Log
			for _, log := range all {
				if log.BlockNumber >= first && log.BlockNumber <= last && chosen(&f, log) {
					want = append(want, log)
				}
			}
			found := map[store.Position]*types.Log{}
			if err := c.EachLog(t.Context(), &f, first, last, func(at store.Position, log *types.Log) {
				kept := *log
				kept.Topics = slices.Clone(log.Topics)
				found[at] = &kept
			}); err != nil {
				t.Fatal(err)
			}
			var got []*types.Log
			places := slices.Sorted(maps.Keys(found))
			for _, at := range places {
				got = append(got, found[at])
			}
			places = places[:min(len(places), 512)]
			again, err := c.LogsAt(t.Context(), places)
			if err != nil || !slices.EqualFunc(again, got[:len(places)], sameLog) {
				t.Errorf("seed %d, %v in %d-%d: %d logs by their places, %v", seed, f, first, last, len(again), err)
			}
			if !slices.EqualFunc(got, want, sameLog) {
				t.Errorf("seed %d, %v in %d-%d: %d logs, receipts have %d", seed, f, first, last, len(got), len(want))
			}
		}
	}
}

func sameLog(a, b *types.Log) bool {
	return a.Address == b.Address && slices.Equal(a.Topics, b.Topics) && string(a.Data) == string(b.Data) &&
		a.BlockHash == b.BlockHash && a.BlockNumber == b.BlockNumber && a.TxHash == b.TxHash && a.TxIndex == b.TxIndex && a.Index == b.Index
}

func (c *randomChain) filter() (f reader.LogFilter, first, last uint64) {
	for range c.random.IntN(3) {
		f.Addresses = append(f.Addresses, emitters[c.random.IntN(len(emitters))])
	}
	for range c.random.IntN(4) {
		var choices []common.Hash
		for range c.random.IntN(3) {
			choices = append(choices, c.word())
		}
		f.Topics = append(f.Topics, choices)
	}
	return f, c.random.Uint64N(20), 10 + c.random.Uint64N(30)
}

// chosen restates the rule: every position with choices has a topic that is one of them.
func chosen(f *reader.LogFilter, log *types.Log) bool {
	for i, choices := range f.Topics {
		if i >= len(log.Topics) {
			return false
		}
		if found := slices.Index(choices, log.Topics[i]); len(choices) > 0 && found < 0 {
			return false
		}
	}
	return len(f.Addresses) == 0 || slices.Index(f.Addresses, log.Address) >= 0
}

// TestReceiptFindsItsLogs compares single receipts with the receipts of their block.
func TestReceiptFindsItsLogs(t *testing.T) {
	c := newRandomChain(t, evm.KindL1, 1, 10)
	for _, log := range receiptLogs(c) {
		tx, err := c.Receipt(t.Context(), log.TxHash)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tx.Logs, func(own *types.Log) bool { return sameLog(own, log) }) {
			t.Errorf("the receipt of %s lacks log %d", log.TxHash, log.Index)
		}
	}
}

// TestLogFilterIsBounded refuses filters beyond the bounds, and finds nothing for one with more topics than a log has.
func TestLogFilterIsBounded(t *testing.T) {
	c := newRandomChain(t, evm.KindL1, 1, 1)
	search := func(f *reader.LogFilter) error {
		return c.EachLog(t.Context(), f, 0, 1, func(_ store.Position, log *types.Log) { t.Errorf("found %v", log) })
	}
	for _, topics := range []int{4, 5} {
		places := &reader.LogFilter{Topics: make([][]common.Hash, topics)}
		if err := places.Check(); fmt.Sprint(err) != map[int]string{4: "<nil>", 5: "exceed max topics"}[topics] {
			t.Errorf("%d topics: %v", topics, err)
		}
	}
	if err := search(&reader.LogFilter{Topics: make([][]common.Hash, 5)}); err != nil {
		t.Error(err)
	}
	for _, addresses := range []int{1000, 1001} {
		err := (&reader.LogFilter{Addresses: make([]common.Address, addresses)}).Check()
		if fmt.Sprint(err) != map[int]string{1000: "<nil>", 1001: "exceed max addresses"}[addresses] {
			t.Errorf("%d addresses: %v", addresses, err)
		}
	}
	for _, topics := range []int{1000, 1001} {
		err := search(&reader.LogFilter{Topics: [][]common.Hash{{{1}}, make([]common.Hash, topics-1)}})
		if fmt.Sprint(err) != map[int]string{1000: "<nil>", 1001: "query names more than 1000 topics"}[topics] {
			t.Errorf("%d choices: %v", topics, err)
		}
	}
}
