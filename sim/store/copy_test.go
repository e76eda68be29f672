package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holiman/uint256"
)

// TestCopiesAreWhole and independent: copies of a world in memory, and of a file with a log beside it.
func TestCopiesAreWhole(t *testing.T) {
	chain := writeChain(fullDelta())
	write := func(b *Batch) error { return errors.Join(writeMeta(b), chain(b)) }
	for _, path := range []string{Memory, filepath.Join(t.TempDir(), "world.db")} {
		db := made(t, path, write)
		if db.InMemory() != (path == Memory) || db.ReadOnly() {
			t.Errorf("%s: in memory %t, read-only %t", path, db.InMemory(), db.ReadOnly())
		}
		if path != Memory {
			err := db.Close()
			if err == nil {
				db, err = Open(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
		}
		commit(t, db, 10) // only in the log
		folder := t.TempDir()
		written := filepath.Join(folder, "copy.db")
		if err := db.WriteCopy(t.Context(), written); err != nil {
			t.Fatal(err)
		}
		if err := db.WriteCopy(t.Context(), written); !errors.Is(err, ErrExists) {
			t.Errorf("%s: a second copy to the same file: %v", path, err)
		}
		copied, err := db.Copy(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		opened, err := Open(written)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		commit(t, db, 11)
		for _, c := range []*DB{copied, opened} {
			if n, err := c.Count(t.Context(), "market"); n != 100 || err != nil {
				t.Errorf("%s: a copy has %d markets, %v", path, n, err)
			}
			if block, err := c.Head(t.Context(), 1); err != nil || block.ID.Number() != 1 {
				t.Errorf("%s: the head of a copy is %+v, %v", path, block, err)
			}
			if c.InMemory() != (c == copied && path == Memory) {
				t.Errorf("%s: a copy is in memory: %t", path, c.InMemory())
			}
			if err := c.SamePrimary(t.Context(), db); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		if err := copyFile(written, written); !errors.Is(err, os.ErrExist) {
			t.Errorf("a file is copied over itself: %v", err)
		}
		if _, err := db.Copy(t.Context(), filepath.Join(folder, "none")); (err == nil) != (path == Memory) {
			t.Errorf("%s: a copy to no folder: %v", path, err)
		}
	}
}

// TestDifferentTablesAreTold with the row and the column.
func TestDifferentTablesAreTold(t *testing.T) {
	path := finished(t)
	whole, err := edited(t, path, "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"SELECT 1":                   "",
		"UPDATE tx SET gas_used = 7": "tx: row 1: gas_used is int64 7, it should be int64 21000",
		"DELETE FROM touch":          "touch: it has 1 rows or more: false, it should: true",
		"INSERT INTO code SELECT x'" + strings.Repeat("ff", 32) + "', x'00'": "code: it has 2 rows or more: true, it should: false",
	} {
		db, err := edited(t, path, text)
		if err != nil {
			t.Fatal(err)
		}
		err = db.sameTables(t.Context(), whole, []string{"log", "tx", "touch", "code"})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %s", text, err, want)
		}
		for _, table := range []string{"tx", "touch"} {
			if err := db.CheckTable(t.Context(), table); err != nil {
				t.Errorf("%s: %v", table, err)
			}
		}
	}
	if _, err := whole.Count(t.Context(), "nothing"); err == nil || !strings.Contains(err.Error(), "count nothing") {
		t.Errorf("rows of no table: %v", err)
	}
	wrong, err := edited(t, path, "PRAGMA ignore_check_constraints = ON; UPDATE tx SET hash = x'01'")
	if err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	if err := wrong.CheckTable(t.Context(), "tx"); !errors.As(err, &damage) || !strings.Contains(err.Error(), "length(hash) = 32") {
		t.Errorf("a damaged table: %v", err)
	}
}

// TestURIsMatchTheirHashes, or the file is damaged.
func TestURIsMatchTheirHashes(t *testing.T) {
	path := finished(t)
	for text, want := range map[string]string{"SELECT 1": "", "UPDATE nft_uri SET id = zeroblob(16)": "is not the hash of"} {
		db, err := edited(t, path, "PRAGMA ignore_check_constraints = ON; "+text)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.CheckURIs(t.Context()); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestFailuresInWords: clients get the program's words, tests may choose the statements that fail, and the log gets the cause.
func TestFailuresInWords(t *testing.T) {
	db := made(t, Memory, writeChain(fullDelta()))
	db.FailStatements(func(text string) bool { return strings.Contains(text, "FROM block") })
	_, err := db.Head(t.Context(), 1)
	if err == nil || !strings.Contains(err.Error(), "it is not as this program writes it") || strings.Contains(err.Error(), "this_statement_fails") || !strings.Contains(Cause(err).Error(), "this_statement_fails") {
		t.Errorf("a statement that fails: %v, because of %v", err, Cause(err))
	}
	if _, err := db.TokenAt(t.Context(), 1, address); err != nil {
		t.Errorf("another statement: %v", err)
	}
	db.FailStatements(nil)
	if _, err := db.Head(t.Context(), 1); err != nil {
		t.Errorf("once statements succeed again: %v", err)
	}
	for err, want := range map[error]string{sql.ErrTxDone: "the file cannot be used", errors.New("plain"): "plain", engineError{context.Canceled}: "context canceled"} {
		if got := inWords(err).Error(); got != want {
			t.Errorf("%v in words: %s", err, got)
		}
	}
	if Cause(errors.New("plain")) != nil || db.say(nil) != nil {
		t.Error("nothing has a cause")
	}
}

// TestNumbersOfColumns come as integers, as bytes or as NULL.
func TestNumbersOfColumns(t *testing.T) {
	for value, want := range map[any]uint64{int64(7): 7, "\x01\x00": 256, nil: 0, "": 0} {
		n := number(*uint256.NewInt(99))
		if text, isText := value.(string); isText {
			value = []byte(text)
		}
		if err := n.Scan(value); err != nil || !(*uint256.Int)(&n).Eq(uint256.NewInt(want)) {
			t.Errorf("%v is read as %v, %v", value, n, err)
		}
	}
	if err := new(number).Scan(0.5); err == nil {
		t.Error("a fraction is read")
	}
	if err := new(Amount).Scan("x"); err == nil {
		t.Error("a text is an amount")
	}
}

// TestPositionsOfRows: a row that belongs to a block knows its transaction.
func TestPositionsOfRows(t *testing.T) {
	at := At(3, 7, 9)
	want := At(3, 7, 2)
	for _, got := range []Position{(&Message{ID: at, Tx: 2}).Transaction(), (&MessageEvent{ID: at, Tx: 2}).Transaction(), (&Deployment{ID: at, Tx: 2}).Transaction(), (&Transfer{ID: at, Tx: 2}).Transaction()} {
		if got != want {
			t.Errorf("the transaction is at %d: want %d", got, want)
		}
	}
	first, end := NewTokenID(1, ERC721, 4).assets()
	for token, within := range map[TokenID]bool{NewTokenID(1, ERC721, 3): false, NewTokenID(1, ERC721, 4): true, NewTokenID(1, ERC721, 5): false} {
		for _, item := range [][]byte{nil, {0}, {1}, bytes.Repeat([]byte{0xff}, 32)} {
			asset := token.Asset(item)
			if got := bytes.Compare(asset, first) >= 0 && bytes.Compare(asset, end) < 0; got != within {
				t.Errorf("asset %x lies within %x and %x: %t", asset, first, end, got)
			}
		}
	}
	if inputIDPrefix([]byte{1, 2, 3}) != 0 || inputIDPrefix([]byte{0, 0, 1, 2, 9}) != 258 {
		t.Error("prefixes of input ids")
	}
}

// TestOperationsAreNamed by their UUIDs, and are complete when there is a file.
func TestOperationsAreNamed(t *testing.T) {
	o := Operation{UUID: []byte("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef")}
	if o.Name() != "01234567-89ab-cdef-0123-456789abcdef" || (&Operation{UUID: []byte{1}}).Name() != "01" {
		t.Errorf("the name is %s", o.Name())
	}
	for status, want := range map[string]bool{OperationCompleted: true, OperationCompletedWithWarning: true, OperationRunning: false, OperationFailed: false} {
		if o.Status = status; o.Complete() != want {
			t.Errorf("%s is complete: %t", status, o.Complete())
		}
	}
}

// TestPooledTransactionsAreReplaced, of one chain, without anything to undo.
func TestPooledTransactionsAreReplaced(t *testing.T) {
	db := goneOn(t)
	before := db.LastCommit()
	other := []PooledTx{{Chain: 2, Arrival: 1, Sender: address, Raw: []byte{9}}}
	db.commit(t, func(b *Batch) error { return b.SetPooledTxs(2, other) })
	for _, want := range [][]PooledTx{{{Chain: 1, Arrival: 1, Sender: address, Raw: []byte{1}}, {Chain: 1, Arrival: 2, Sender: address, Raw: []byte{2}}}, {{Chain: 1, Arrival: 1, Sender: address, Raw: []byte{3}}}, nil} {
		db.commit(t, func(b *Batch) error { return b.SetPooledTxs(1, want) })
		have, err := db.PooledTxs(t.Context(), 1)
		if err != nil || len(have)+len(want) > 0 && !reflect.DeepEqual(have, want) {
			t.Errorf("%+v, %v: want %+v", have, err, want)
		}
	}
	have, err := db.PooledTxs(t.Context(), 2)
	same(t, "another chain's", have, other, err)
	if after := db.LastCommit(); after.Sequence != before.Sequence {
		t.Errorf("the pool is commit %d after %d", after.Sequence, before.Sequence)
	}
}

// TestLogosOfTokenLists: contracts without a logo have none in the list.
func TestLogosOfTokenLists(t *testing.T) {
	chain := writeChain(fullDelta())
	db := made(t, Memory, func(b *Batch) error {
		return errors.Join(chain(b), b.AddContract(Contract{Chain: 1, Address: address, Role: "a", Logo: "http://logo"}), b.AddContract(Contract{Chain: 1, Address: hash[:20], Role: "b"}))
	})
	logos, err := db.Logos(t.Context(), 1)
	same(t, "Logos", logos, map[string]string{string(address): "http://logo"}, err)
	tokens, err := db.TokensOfContracts(t.Context(), 1)
	same(t, "TokensOfContracts", tokens, fullDelta().Tokens, err)
}

// TestAMalformedAccountEndsTheWalk: it counts as damage, and the walk does not loop forever.
func TestAMalformedAccountEndsTheWalk(t *testing.T) {
	path := finished(t)
	for text, want := range map[string]bool{"SELECT 1": false, "UPDATE account SET balance = x'0001'": true, "UPDATE account SET address = x'bbbb', balance = x''": true} {
		db, err := edited(t, path, "PRAGMA ignore_check_constraints = ON; "+text)
		if err != nil {
			t.Fatal(err)
		}
		var damage *DamageError
		for i, half := range halves {
			visited := 0
			err := db.EachBalanceBefore(t.Context(), 1, half, 9, func(a *AccountBalance) { visited++ })
			if upper := i == 1; upper && (errors.As(err, &damage) != want) || !want && err != nil || want && visited > 0 {
				t.Errorf("%s, half %d: %d are visited, %v", text, i, visited, err)
			}
		}
	}
}
