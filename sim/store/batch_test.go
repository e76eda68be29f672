package store

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRowsThatWereGatheredComeBack writes so many rows, in any order, that they are gathered and written several times.
func TestRowsThatWereGatheredComeBack(t *testing.T) {
	const rows = 3000
	var want []Account
	for n := range rows {
		to := binary.BigEndian.AppendUint32(bytes.Clone(address[:16]), uint32(n/3))
		want = append(want, Account{Chain: 1, Address: to, Block: uint64(n % 3), Nonce: uint64(n), Balance: wei})
	}
	shuffled := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(rows, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	db := made(t, Memory, func(b *Batch) error { return addAll(shuffled, b.addAccount) })
	for n := range want {
		have, err := db.Account(t.Context(), 1, want[n].Address, want[n].Block)
		same(t, "account", have, &want[n], err)
	}
	have, err := db.AccountsAt(t.Context(), 1, 2)
	if err != nil || len(have) != rows/3 {
		t.Errorf("%d accounts, %v; want %d", len(have), err, rows/3)
	}
}
