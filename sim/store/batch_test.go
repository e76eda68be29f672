package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holiman/uint256"

	"snowglobe/sim/metric"
)

// TestAFinishedFileIsCompact writes rows in any order and leaves no page of the file half empty.
func TestAFinishedFileIsCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	db := made(t, filepath.Join(t.TempDir(), "w.db"), func(b *Batch) (err error) {
		for range 2000 {
			to := binary.BigEndian.AppendUint64(bytes.Clone(hash[:24]), r.Uint64())
			err = errors.Join(err, b.addCode(&Code{Hash: to, Code: hash}))
		}
		return err
	})
	var pages, rows int
	err := errors.Join(db.read.Get(&pages, `PRAGMA page_count`), db.read.Get(&rows, `SELECT count(*) FROM code`))
	var without int
	err = errors.Join(err, made(t, filepath.Join(t.TempDir(), "none.db"), writeMeta).read.Get(&without, `PRAGMA page_count`))
	if full := rows * 70 / pageSize; err != nil || rows != 2000 || pages-without > full*21/20 {
		t.Errorf("%d rows are on %d pages, %v; they fill %d", rows, pages-without, err, full)
	}
}

// TestRowsThatWereGatheredComeBack writes enough rows, in any order, for several rounds of gathering.
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

// TestRollUpsThatWereWrittenOften rolls up a history long enough to be written several times, and compares with writing once.
func TestRollUpsThatWereWrittenOften(t *testing.T) {
	made := func(each int) *DB {
		return made(t, Memory, func(b *Batch) error {
			err := errors.Join(writeMeta(b), b.AddChain(Chain{ID: 1, Network: "mainnet", EVMID: 43114, BlockchainID: hash, SubnetID: hash, VMID: hash, Kind: "C", Genesis: []byte("{}"), Upgrades: []byte("{}")}))
			r, before := rand.New(rand.NewPCG(1, 2)), int64(0)
			for n := range 400 {
				a := metric.NewActivity(before+r.Int64N(40_000), &before)
				before = a.Time
				for range 1 + r.IntN(3) {
					a.Transaction(binary.BigEndian.AppendUint32(bytes.Clone(address[:16]), r.Uint32N(10)), address, 21_000, uint256.NewInt(r.Uint64N(1000)))
				}
				err = errors.Join(err, b.AddActivity(1, a))
				if n%each == each-1 {
					err = errors.Join(err, b.rollup.Flush())
				}
			}
			return err
		})
	}
	once := made(10_000)
	for _, each := range []int{1, 30} {
		if err := made(each).SameRollUps(t.Context(), once); err != nil {
			t.Errorf("written after each %d blocks: %v", each, err)
		}
	}
}
