package seed_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestPagesOfAccounts pages through the accounts of a state from many starting hashes, at the head, where the file has the parts of its trie, and
// earlier. Pages of every size contain the file's rows in the order of the trie, and name the next account.
func TestPagesOfAccounts(t *testing.T) {
	for _, c := range world(t, "tiny", 1).Chains {
		head := must(c.Head(t.Context()))(t)
		for _, b := range []*reader.Block{head, must(c.Block(t.Context(), head.Number-1))(t), must(c.Block(t.Context(), head.Number/2))(t)} {
			var want []common.Hash
			rows := must(world(t, "tiny", 1).DB.AccountsAt(t.Context(), c.Row.ID, b.Number))(t)
			for _, row := range slices.DeleteFunc(rows, func(a store.Account) bool { return a.Gone }) {
				want = append(want, crypto.Keccak256Hash(row.Address))
			}
			slices.SortFunc(want, common.Hash.Cmp)
			middle := want[len(want)/2]
			for _, start := range [][]byte{nil, {0}, {0x7f}, {0x80, 1}, {0xff}, middle[:], append(middle[:31:31], middle[31]+1), want[len(want)-1][:], bytes.Repeat([]byte{255}, 32)} {
				first, _ := slices.BinarySearchFunc(want, start, func(h common.Hash, start []byte) int { return bytes.Compare(h[:], start) })
				for _, limit := range []int{0, 1, 7, len(want), len(want) + 1} {
					page, next, err := c.Accounts(t.Context(), b, start, limit)
					if err != nil {
						t.Fatal(err)
					}
					last := min(first+limit, len(want))
					if !slices.EqualFunc(page, want[first:last], func(a reader.StateAccount, h common.Hash) bool { return a.Hash == h }) {
						t.Errorf("chain %d, block %d: %d accounts from %x: found %d, want %d", c.Row.EVMID, b.Number, limit, start, len(page), last-first)
					}
					if last < len(want) && !bytes.Equal(next, want[last][:]) || last == len(want) && next != nil {
						t.Errorf("chain %d, block %d: after %d accounts from %x comes %x", c.Row.EVMID, b.Number, limit, start, next)
					}
				}
			}
		}
	}
}
