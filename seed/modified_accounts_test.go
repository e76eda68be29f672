package seed_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/store"
)

// TestModifiedAccounts compares the accounts modified in a few and in many blocks with the rows of the file: nonces, balances, code and storage
// of accounts changed by transactions, precompiles, fees and atomic transactions.
func TestModifiedAccounts(t *testing.T) {
	w := world(t, "tiny", 1)
	for _, c := range w.Chains {
		head := must(c.Head(t.Context()))(t)
		states := make([]map[common.Address]store.Account, head.Number+1)
		for number := range states {
			states[number] = map[common.Address]store.Account{}
			for _, row := range must(w.DB.AccountsAt(t.Context(), c.Row.ID, uint64(number)))(t) {
				if !row.Gone {
					states[number][common.BytesToAddress(row.Address)] = row
				}
			}
		}
		for last := uint64(1); last <= head.Number; last++ {
			for _, blocks := range []uint64{1, 2, 32, 33} {
				if blocks > 2 && last%7 > 0 || blocks > last {
					continue
				}
				want := []common.Address{}
				for address, now := range states[last] {
					before, there := states[last-blocks][address]
					if !there || !sameAccount(before, now) {
						want = append(want, address)
					}
				}
				slices.SortFunc(want, func(a, b common.Address) int { return bytes.Compare(crypto.Keccak256(a[:]), crypto.Keccak256(b[:])) })
				got := must(c.ModifiedAccounts(t.Context(), must(c.Block(t.Context(), last-blocks))(t), must(c.Block(t.Context(), last))(t)))(t)
				if !slices.Equal(got, want) {
					t.Fatalf("chain %d: %d blocks up to %d modify %v, want %v", c.Row.EVMID, blocks, last, got, want)
				}
			}
		}
	}
}

func sameAccount(a, b store.Account) bool {
	return a.Nonce == b.Nonce && bytes.Equal(a.Balance, b.Balance) && bytes.Equal(a.CodeHash, b.CodeHash) && bytes.Equal(a.Root, b.Root)
}
