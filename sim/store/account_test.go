package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
)

// TestHalvesHaveAllAccounts reads the balances and the changes of random accounts, some of which cease to exist, including the ends and the middle of
// the address range, and compares them with single rows.
func TestHalvesHaveAllAccounts(t *testing.T) {
	const blocks = 9
	r := rand.New(rand.NewPCG(1, 2))
	addresses := [][]byte{make([]byte, 20), bytes.Repeat([]byte{0xff}, 20), middle, append([]byte{0x7f}, bytes.Repeat([]byte{0xff}, 19)...)}
	for range 40 {
		one := make([]byte, 20)
		one[0], one[19] = byte(r.Uint32()), byte(r.Uint32())
		addresses = append(addresses, one)
	}
	var rows []Account
	for i, address := range addresses {
		for chain := 1; chain <= 3; chain++ {
			for block := range uint64(blocks) {
				if r.IntN(3) > 0 {
					continue
				}
				balance := uint256.NewInt(r.Uint64N(3)).Bytes32()
				a := Account{Chain: chain, Address: address, Block: block, Nonce: r.Uint64N(2), Balance: balance[:], Gone: r.IntN(5) == 0}
				if i%2 == 0 && r.IntN(2) == 0 {
					a.CodeHash, a.Root = hash, hash
				}
				rows = append(rows, a)
			}
		}
	}
	db := made(t, Memory, func(b *Batch) error { return addAll(rows, b.addAccount) })
	at := func(chain int, block uint64) map[common.Address]Account { // including accounts that are gone
		state := map[common.Address]Account{}
		for _, a := range rows {
			if a.Chain == chain && a.Block <= block {
				state[common.Address(a.Address)] = a
			}
		}
		return state
	}
	for chain := 1; chain <= 3; chain++ {
		var gone [][]byte
		for _, a := range rows {
			if a.Chain == chain && a.Gone {
				gone = append(gone, a.Address)
			}
		}
		slices.SortFunc(gone, bytes.Compare)
		gone = slices.CompactFunc(gone, bytes.Equal)
		have, err := db.GoneAccounts(t.Context(), chain)
		same(t, "GoneAccounts", have, bytes.Join(gone, nil), err)
		for before := range uint64(blocks) {
			old, want := at(chain, before), []string{}
			for address, a := range old {
				want = append(want, fmt.Sprintf("%x %x %d", address, []byte(a.Balance), before))
			}
			same(t, "EachBalanceBefore", visited(t, func(half AddressHalf, add func(*AccountBalance)) error {
				return db.EachBalanceBefore(t.Context(), chain, half, before+1, add)
			}), slices.Sorted(slices.Values(want)), nil)
			for after := before + 1; after < blocks; after++ {
				compareHalves(t, db, rows, chain, before, after, old, at(chain, after))
			}
		}
	}
}

// compareHalves compares the changes between two states.
func compareHalves(t *testing.T, db *DB, rows []Account, chain int, before, after uint64, old, now map[common.Address]Account) {
	t.Helper()
	var want []string
	for _, a := range rows {
		if a.Chain == chain && a.Block > before && a.Block <= after {
			want = append(want, fmt.Sprintf("%x %x %d", a.Address, []byte(a.Balance), a.Block))
		}
	}
	same(t, "EachBalance", visited(t, func(half AddressHalf, add func(*AccountBalance)) error {
		return db.EachBalance(t.Context(), chain, half, before+1, after, add)
	}), slices.Sorted(slices.Values(want)), nil)
	modified := []string{}
	for address, a := range now {
		o, there := old[address]
		if !a.Gone && (!there || o.Gone || o.Nonce != a.Nonce || !bytes.Equal(o.Balance, a.Balance) || !bytes.Equal(o.CodeHash, a.CodeHash) || !bytes.Equal(o.Root, a.Root)) {
			modified = append(modified, fmt.Sprintf("%x", address))
		}
	}
	parts, err := InHalves(t.Context(), func(ctx context.Context, half AddressHalf) ([][]byte, error) {
		return db.ModifiedAccounts(ctx, chain, half, before, after)
	})
	have := []string{}
	for _, address := range slices.Concat(parts...) {
		have = append(have, fmt.Sprintf("%x", address))
	}
	same(t, "ModifiedAccounts", slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(modified)), err)
}

// visited returns the balances visited in both halves.
func visited(t *testing.T, visit func(AddressHalf, func(*AccountBalance)) error) []string {
	t.Helper()
	parts, err := InHalves(t.Context(), func(_ context.Context, half AddressHalf) (part []string, err error) {
		err = visit(half, func(a *AccountBalance) {
			part = append(part, fmt.Sprintf("%x %x %d", a.Address, []byte(a.Balance), a.Block))
		})
		return part, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(slices.Concat(parts...)))
}

// TestUnspentAVAXIsSummedUp: amounts of 63 bits are added exactly. Other assets, spent outputs and outputs between two chains don't count.
func TestUnspentAVAXIsSummedUp(t *testing.T) {
	const p, x, c = 1, 2, 3
	d := &PrimaryDelta{Assets: []PrimaryAsset{{ID: At(x, 0, 0), Hash: hash, Name: "Avalanche", Symbol: "AVAX", Denomination: 9, Fxs: []byte{0}}}}
	add := func(spender int, asset []byte, amount Amount, out []byte) {
		i := len(d.UTXOs)
		d.UTXOs = append(d.UTXOs, UTXO{ID: NewUTXONumber(p, 1, i), Hash: inputID(hash, uint32(i)), Tx: hash, Output: uint32(i), Chain: spender, Asset: asset,
			Amount: amount, Out: out, OwnerAddresses: [][]byte{address}})
	}
	want := uint64(0)
	for _, amount := range []Amount{1, 1<<32 - 1, 1 << 32, 1<<40 + 5, 1<<63 - 7, 3} {
		add(p, nil, amount, plainOutput(amount, address))
		want += uint64(amount)
	}
	add(p, parentHash, 5, plainOutput(5, address))
	add(x, nil, 6, plainOutput(6, address))
	add(c, nil, 7, plainOutput(7, address))
	first := len(d.UTXOs)
	add(p, nil, 8, make([]byte, 60))
	add(p, nil, 9, make([]byte, 61))
	add(p, nil, 1<<63, plainOutput(1<<63, address)) // too large for the column
	db := made(t, Memory, func(b *Batch) error {
		spent := Spend{UTXO: NewUTXONumber(p, 1, 5), By: At(p, 2, 0), Chain: p, OwnerAddresses: [][]byte{address}}
		return errors.Join(b.AddPrimaryBlock(d), b.addSpend(&spent))
	})
	sum, err := db.Unspent(t.Context(), address, p, [2]int{x, c})
	if err != nil || sum.Sum() != want-3 {
		t.Errorf("sum is %d, %v; want %d", sum.Sum(), err, want-3)
	}
	others, err := sum.Others()
	same(t, "Others", others, []UTXONumber{NewUTXONumber(p, 1, first), NewUTXONumber(p, 1, first+1), NewUTXONumber(p, 1, first+2)}, err)
	for chain, want := range map[int]int{p: len(d.UTXOs) - 1, x: 1, c: 1} {
		rest := slices.DeleteFunc([]int{p, x, c}, func(other int) bool { return other == chain })
		if have, err := db.Unspent(t.Context(), address, chain, [2]int(rest)); err != nil || have.Count != want {
			t.Errorf("%d outputs of chain %d, %v; want %d", have.Count, chain, err, want)
		}
	}
	if none, err := db.Unspent(t.Context(), hash[:20], p, [2]int{x, c}); err != nil || none.Count != 0 || none.Sum() != 0 || none.Rest != "" {
		t.Errorf("somebody without outputs has %+v, %v", none, err)
	}
}
