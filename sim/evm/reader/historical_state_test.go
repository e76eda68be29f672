package reader_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestSlotsAfterMany: a slot has the value of its newest row however many of the contract were read before, in contracts with few and with many
// rows, after blocks and after changes without a block.
func TestSlotsAfterMany(t *testing.T) {
	const few, many = 100, 1_500
	slots := func(n int64) map[common.Hash]common.Hash {
		all := map[common.Hash]common.Hash{}
		for i := range n {
			all[slotNumber(2*i)] = slotNumber(i + 1)
		}
		return all
	}
	c := newRandomChainWith(t, evm.KindL1, 5, 12, map[int]map[common.Hash]common.Hash{0: slots(few), 1: slots(many)})
	check := func(b *reader.Block) {
		t.Helper()
		rows := evm.NewFlatState(t.Context(), c.db, 1, b.Number)
		for _, address := range emitters {
			for range 3 {
				for i := range int64(4 * few) {
					key := i
					if i >= 2*few { // the last of many
						key += 2*many - 4*few
					}
					want, err := rows.Storage(address, slotNumber(key))
					if err != nil {
						t.Fatal(err)
					}
					if got, err := c.Slot(t.Context(), b, address, slotNumber(key)); err != nil || got != want {
						t.Fatalf("block %d: slot %d of %s is %s, want %s: %v", b.Number, key, address, got, want, err)
					}
				}
			}
		}
	}
	for number := range uint64(13) {
		b, err := c.Block(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		check(b)
	}
	for i, value := range []int64{7, 0, 7} {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		key, word := slotNumber(2), slotNumber(value)
		c.change(store.StateChange{Kind: store.StorageChange, Address: emitters[0][:], Key: key[:], Value: word[:]})
		check(head)
		c.block(1_775_001_000 + uint64(10*i))
	}
}

func slotNumber(n int64) common.Hash { return common.BigToHash(big.NewInt(n)) }
