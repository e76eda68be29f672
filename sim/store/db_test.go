package store

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// made is a finished world with what a function writes into it.
func made(t *testing.T, path string, write func(b *Batch) error) *DB {
	t.Helper()
	db, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.End(write(b)); err != nil {
		t.Fatal(err)
	}
	if err := db.Finish(); err != nil {
		t.Fatal(err)
	}
	return db
}

func writeMeta(b *Batch) error {
	return b.SetMeta(Meta{Generator: "1", Seed: 7, Profile: "tiny", Shape: "x: 1", Until: 9, Clock: 8, Chains: []byte{1}, Digest: []byte{2}})
}

func TestAWorldAppearsWhenItIsFinished(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	db, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("before Finish: %v", err)
	}
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.End(writeMeta(b)); err != nil {
		t.Fatal(err)
	}
	if err := db.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	m, err := again.Meta(t.Context())
	if err != nil || m.Generator != "1" || m.Seed != 7 || m.Profile != "tiny" || !bytes.Equal(m.Digest, []byte{2}) {
		t.Errorf("Meta: %+v, %v", m, err)
	}
	if files, err := filepath.Glob(path + ".tmp*"); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestAnUnfinishedWorldIsRemoved(t *testing.T) {
	dir := t.TempDir()
	db, err := Create(filepath.Join(dir, "world.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestOpenRefusesWhatIsNoWorld(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database "), 20), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	if db, err := sql.Open("sqlite", other); err != nil {
		t.Fatal(err)
	} else if _, err := db.Exec(`CREATE TABLE t (x)`); err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "old.db")
	if err := made(t, old, writeMeta).Close(); err != nil {
		t.Fatal(err)
	}
	if db, err := sql.Open("sqlite", old); err != nil {
		t.Fatal(err)
	} else if _, err := db.Exec(`PRAGMA user_version = 1`); err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want error
	}{{text, ErrNotWorld}, {other, ErrNotWorld}, {dir, ErrNotWorld}, {old, ErrVersion}, {filepath.Join(dir, "none"), os.ErrNotExist}} {
		if db, err := Open(c.path); !errors.Is(err, c.want) {
			t.Errorf("Open(%s): %v, %v; want %v", filepath.Base(c.path), db, err, c.want)
		}
	}
}

func TestOnlyOneProcessLocksAWorld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	first := made(t, path, writeMeta)
	if err := first.Lock(); err != nil {
		t.Fatal(err)
	}
	second, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := second.Lock(); !errors.Is(err, ErrLocked) {
		t.Errorf("second Lock: %v", err)
	}
	if _, err := second.Meta(t.Context()); err != nil {
		t.Errorf("reading beside the lock: %v", err)
	}
}

func TestBatchIsAllOrNothing(t *testing.T) {
	db := made(t, Memory, writeMeta)
	commits, tokens := db.Commits(), db.TokenCommits()
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("stop")
	if err := b.AddMarket(Market{Chain: 1, Address: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	if err := b.End(failure); !errors.Is(err, failure) {
		t.Errorf("End: %v", err)
	}
	if m, err := db.Markets(t.Context(), 1); err != nil || len(m) > 0 || db.Commits() != commits || db.TokenCommits() != tokens {
		t.Errorf("after a rollback: %v, %v, %d commits", m, err, db.Commits())
	}
	if b, err = db.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := b.End(b.AddMarket(Market{Chain: 1, Address: []byte{1}, Series: "avax"})); err != nil {
		t.Fatal(err)
	}
	if m, err := db.Markets(t.Context(), 1); err != nil || len(m) != 1 || m[0].Series != "avax" || db.Commits() != commits+1 || db.TokenCommits() != tokens+1 {
		t.Errorf("after a commit: %+v, %v", m, err)
	}
}
