// Builds that only compare digests exclude tests that start a server, so that compilers for other processors have less to do.

//go:build !digests

package seed_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/simtest"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify"
)

// cellDamages lists expressions that turn a column's value into an impossible one.
var cellDamages = []struct{ name, value string }{
	{"another class", `CASE typeof($) WHEN 'text' THEN CAST($ AS BLOB) WHEN 'blob' THEN CAST($ AS TEXT) ELSE 'x' || $ END`},
	{"shorter", `CASE typeof($) WHEN 'integer' THEN -5 ELSE CAST(substr($, 2) AS BLOB) END`},
	{"longer", `CASE typeof($) WHEN 'integer' THEN $ + 0.5 ELSE CAST($ || x'00' AS BLOB) END`},
	{"nothing", `NULL`},
	{"one byte", `x'01'`},
}

// TestDamageIsASentence puts values of another storage class, length or sign into the columns of a file, bypassing its constraints. verify finds each
// of them, and opening the file, to serve it or for its digest, either works or fails with a clear error.
func TestDamageIsASentence(t *testing.T) {
	path := smallFile(t)
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := tables(t, path)
	count, every := 0, damageEvery
	if testing.Short() {
		t.Log("left out of a short run: most pages")
		every = 401
	}
	for _, table := range slices.Sorted(maps.Keys(all)) {
		for _, column := range all[table] {
			for _, damage := range cellDamages {
				if count++; count%every != 0 {
					continue // a seventeenth of the columns gets every damage, and that covers most tables
				}
				t.Run(table+"."+column+" "+damage.name, func(t *testing.T) {
					t.Parallel()
					copied := filepath.Join(t.TempDir(), "copy.db")
					if err := os.WriteFile(copied, original, 0o600); err != nil {
						t.Fatal(err)
					}
					value := strings.ReplaceAll(damage.value, "$", column)
					if damageCell(t, copied, table, column, value) {
						wantDamage(t, copied)
					}
				})
			}
		}
	}
}

// TestDamagedPagesAreASentence overwrites, clears or swaps bytes anywhere in a file. Whatever runs into the damage reports it.
func TestDamagedPagesAreASentence(t *testing.T) {
	original, err := os.ReadFile(smallFile(t))
	if err != nil {
		t.Fatal(err)
	}
	noticed, tries := 0, damagedPages
	if testing.Short() {
		t.Log("left out of a short run: most damages")
		tries = 4
	}
	random := rand.New(rand.NewPCG(15, 5))
	for i := range tries {
		damaged, page := slices.Clone(original), 4096*(1+random.IntN(len(original)/4096-1))
		switch at := page + random.IntN(4000); i % 4 {
		case 0:
			damaged[at] ^= 1 << random.IntN(8)
		case 1:
			copy(damaged[at:], []byte("nothing of the kind has ever been written here"))
		case 2:
			clear(damaged[page : page+4096])
		case 3:
			copy(damaged[page:page+4096], original[4096*random.IntN(len(original)/4096):])
		}
		copied := filepath.Join(t.TempDir(), "copy.db")
		if err := os.WriteFile(copied, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		err := verifyFile(t, copied)
		if err != nil {
			noticed++
		}
		wantSentence(t, err)
		wantSentence(t, serveFile(t, copied))
	}
	t.Logf("%d of %d are noticed by verify", noticed, tries) // the others are in unused space
	if noticed < tries/2 {
		t.Errorf("only %d of %d are noticed by verify", noticed, tries)
	}
}

// wantDamage opens a damaged file in every way, and expects an error.
func wantDamage(t *testing.T, path string) {
	t.Helper()
	if err := verifyFile(t, path); err == nil {
		t.Error("verify did not notice")
	} else {
		wantSentence(t, err)
	}
	wantSentence(t, serveFile(t, path))
}

// wantSentence checks the wording of an error, if there is one.
func wantSentence(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	text := err.Error()
	if strings.Contains(text, "runtime error") || strings.Contains(text, "goroutine") || !strings.Contains(text, "the file is damaged: ") ||
		!strings.Contains(text, "restore a copy of it") {
		t.Errorf("it is said: %s", text)
	}
}

// damageCell changes one existing value of a column, bypassing the file's constraints. It reports whether the value is different now.
func damageCell(t *testing.T, path, table, column, value string) bool {
	t.Helper()
	statements := map[string]string{}
	edit := func(db *sql.DB, text string, args ...any) {
		if _, err := db.Exec(text, args...); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, path)
	edit(db, "PRAGMA writable_schema = ON")
	rows, err := db.Query("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name, statement string
		if err := rows.Scan(&name, &statement); err != nil {
			t.Fatal(err)
		}
		statements[name] = statement
	}
	edit(db, `UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'), ') STRICT', ')'), ' NOT NULL', '') WHERE type = 'table'`)
	db.Close()

	db = open(t, path)
	content := func() (text string) {
		if err := db.QueryRow("SELECT COALESCE(group_concat(quote(c)), '') FROM (SELECT " + column + " AS c FROM " + table + " ORDER BY 1)").Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	before, key := content(), primaryKey(t, db, table)
	_, err = db.Exec("UPDATE " + table + " SET " + column + " = " + value + " WHERE (" + key + ") IN (SELECT " + key + " FROM " + table + " WHERE " + column + " IS NOT NULL LIMIT 1)")
	if err != nil && !strings.Contains(err.Error(), "constraint failed") && !strings.Contains(err.Error(), "datatype mismatch") {
		t.Fatal(err)
	}
	changed := content() != before
	edit(db, "PRAGMA writable_schema = ON")
	for name, statement := range statements {
		edit(db, "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?", statement, name)
	}
	db.Close()
	return changed
}

// serveFile opens a world as the program does to serve it, and stops just before it would answer.
func serveFile(t *testing.T, path string) (err error) {
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		return err
	}
	listeners, err := handlers.Addresses{Main: "127.0.0.1:0", Fuji: handlers.Off}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err = handlers.Run(ctx, listeners, w, handlers.Options{Network: "mainnet", Log: slog.New(slog.DiscardHandler)}, stopper(stop))
	if errors.Is(err, context.Canceled) { // it would have answered
		err = nil
	}
	return errors.Join(err, w.Close())
}

// stopper receives the banner, after which a server answers requests.
type stopper func()

func (s stopper) Write(b []byte) (int, error) {
	s()
	return len(b), nil
}

// TestMissingRowsAreASentence: a file without its chains, its blocks or its nodes is not served.
func TestMissingRowsAreASentence(t *testing.T) {
	original, err := os.ReadFile(smallFile(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"meta", "chain", "block", "primary_network", "primary_block", "node"} {
		copied := filepath.Join(t.TempDir(), "copy.db")
		if err := os.WriteFile(copied, original, 0o600); err != nil {
			t.Fatal(err)
		}
		db := open(t, copied)
		if _, err := db.Exec("DELETE FROM " + table); err != nil {
			t.Fatal(err)
		}
		db.Close()
		for way, err := range map[string]error{"verify": verifyFile(t, copied), "serve": serveFile(t, copied)} {
			if err == nil {
				t.Errorf("%s does not miss the rows of %s", way, table)
			}
			wantSentence(t, err)
		}
	}
}

// TestVerifyBesideAWriter verifies a world, as another process would, while transactions are issued and blocks made on every chain.
func TestVerifyBesideAWriter(t *testing.T) {
	path := smallFile(t)
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, stop := context.WithCancel(t.Context())
	issued, stopped := 0, make(chan error, 1)
	go func() {
		defer close(stopped)
		for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) { // there are only so many outputs to pay with
			err := w.Networks[0].IssueX(t.Context(), simtest.Payment(t, w.Networks[0], txs.XChain))
			if err == nil {
				err = simtest.SendRandomly(t.Context(), w, uint64(issued), 3)
			}
			if err != nil {
				stopped <- err
				return
			}
			issued++
		}
		stopped <- nil
	}()
	rounds := 3
	if testing.Short() {
		t.Log("left out of a short run: all rounds but one")
		rounds = 1
	}
	for range rounds {
		if err := verifyFile(t, path); err != nil {
			t.Errorf("a sound file: %v", err)
		}
		if err := verify.Inspect(t.Context(), w, nil); err != nil {
			t.Errorf("a sound file, inspected by who writes it: %v", err)
		}
	}
	stop()
	if err := <-stopped; err != nil || issued == 0 {
		t.Errorf("%d issued, %v", issued, err)
	}
}
