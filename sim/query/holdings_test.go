package query_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/query"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
)

// TestHoldings repeatedly requests pages of owners' ERC-20 balances after many blocks, so that most come from an owner's cache, and compares them
// with the file.
func TestHoldings(t *testing.T) {
	w := tinyWorld(t)
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	holdings, found := query.NewHoldings(w.DB), 0
	for _, c := range w.Chains {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first := store.NewTokenID(c.Row.ID, store.ERC20, 0).Asset(nil)
		middle := store.NewTokenID(c.Row.ID, store.ERC20, 3).Asset(nil)
		last := store.NewTokenID(c.Row.ID, store.ERC20, store.MaxTokens).Asset(nil)
		for _, p := range personas {
			for _, block := range []uint64{store.MaxNumber, 0, head.Number / 3, head.Number / 2, head.Number - 1, head.Number} {
				for _, after := range []store.AssetKey{first, middle, last} {
					for _, limit := range []int{1, 11, math.MaxInt32} {
						got, err := holdings.ERC20(t.Context(), common.BytesToAddress(p.Address), c.Row.ID, after, last, block, limit)
						if err != nil {
							t.Fatal(err)
						}
						want, err := w.DB.ERC20Balances(t.Context(), p.Address, after, last, block, limit)
						if err != nil {
							t.Fatal(err)
						}
						if found += len(want); len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
							t.Fatalf("%s on chain %d after block %d: %d assets after %x: got %v, want %v", p.Name, c.Row.EVMID, block, limit, after, got, want)
						}
					}
				}
			}
		}
	}
	if found == 0 {
		t.Error("nobody had any")
	}
}

// TestHoldingsAreOfTheNewestBlock asks for balances again after blocks have changed them.
func TestHoldingsAreOfTheNewestBlock(t *testing.T) {
	w := tinyWorld(t)
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := w.Chains[0]
	holdings, changed := query.NewHoldings(w.DB), 0
	first := store.NewTokenID(c.Row.ID, store.ERC20, 0).Asset(nil)
	last := store.NewTokenID(c.Row.ID, store.ERC20, store.MaxTokens).Asset(nil)
	before := map[string][]store.TokenBalanceView{}
	for round := range 3 {
		if err := simtest.SendRandomly(t.Context(), w, uint64(round), 30); err != nil {
			t.Fatal(err)
		}
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for _, p := range personas[:8] {
				got, err := holdings.ERC20(t.Context(), common.BytesToAddress(p.Address), c.Row.ID, first, last, head.Number, math.MaxInt32)
				if err != nil {
					t.Fatal(err)
				}
				want, err := w.DB.ERC20Balances(t.Context(), p.Address, first, last, head.Number, math.MaxInt32)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
					t.Fatalf("%s after block %d: got %v, want %v", p.Name, head.Number, got, want)
				}
				if round > 0 && !reflect.DeepEqual(before[p.Name], want) {
					changed++
				}
				before[p.Name] = want
			}
		}
	}
	if changed == 0 {
		t.Error("nobody's holdings changed")
	}
}
