package store

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snowglobe/sim/store/dbfile"
)

// made returns a finished world with the rows that a function writes.
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
	return b.SetMeta(Meta{Generator: "1", Seed: 7, Profile: "tiny", Shape: "x: 1", Until: 9, Clock: 8, Base: hash, Digest: bytes.Repeat([]byte{2}, 32)})
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
	if err != nil || m.Generator != "1" || m.Seed != 7 || m.Profile != "tiny" || !bytes.Equal(m.Digest, bytes.Repeat([]byte{2}, 32)) {
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
	}{{text, dbfile.ErrNotWorld}, {other, dbfile.ErrNotWorld}, {dir, dbfile.ErrNotWorld}, {old, dbfile.ErrVersion}, {filepath.Join(dir, "none"), os.ErrNotExist}} {
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
	if err := second.Lock(); !errors.Is(err, dbfile.ErrLocked) {
		t.Errorf("second Lock: %v", err)
	}
	if _, err := second.Meta(t.Context()); err != nil {
		t.Errorf("reading beside the lock: %v", err)
	}
}

// TestOneProcessMakesAFile: the file locks of two handles exclude each other like those of two processes.
func TestOneProcessMakesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	for _, leftover := range []string{".tmp", ".tmp-journal", ".tmp-compact", ".lock"} { // from a generation that was killed
		if err := os.WriteFile(path+leftover, []byte("leftover"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path); !errors.Is(err, dbfile.ErrMaking) {
		t.Errorf("beside another: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	made(t, path, writeMeta)
	if _, err := Create(path); !errors.Is(err, ErrExists) {
		t.Errorf("over another: %v", err)
	}
}

// TestWhatKilledMakersLeft: making a file removes the remains of killed generations beside it, and no other file.
func TestWhatKilledMakersLeft(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	unfinished, err := Create(at("killed.db"))
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile(at("killed.db.lock"))
	if err := errors.Join(err, unfinished.Close()); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"killed.db.lock": lock, "killed.db.tmp": nil, "killed.db.tmp-compact": nil,
		"notes.lock": nil, "notes.tmp": nil, "thesis.lock": []byte("pid 7"), "thesis.tmp": nil, "lone.tmp": nil} {
		if err := os.WriteFile(at(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	busy, err := Create(at("busy.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	made(t, at("world.db"), writeMeta)
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "world.db") {
			names = append(names, e.Name())
		}
	}
	if want := []string{"busy.db.lock", "busy.db.tmp", "lone.tmp", "notes.lock", "notes.tmp", "thesis.lock", "thesis.tmp"}; !slices.Equal(names, want) {
		t.Errorf("the folder has %v, want %v", names, want)
	}
}

// TestManyMakersOfOneFile lets many begin at the same time: one makes the file, and the others find it complete.
func TestManyMakersOfOneFile(t *testing.T) {
	rounds := 60
	if testing.Short() {
		t.Log("left out of a short run: all rounds but 10")
		rounds = 10
	}
	for range rounds {
		folder := t.TempDir()
		path := filepath.Join(folder, "world.db")
		errs := make(chan error)
		const makers = 4
		for range makers {
			go func() { errs <- makeOrOpen(path) }()
		}
		finished := 0
		for range makers {
			switch err := <-errs; {
			case err == nil:
				finished++
			case !errors.Is(err, dbfile.ErrMaking):
				t.Error(err)
			}
		}
		left, err := os.ReadDir(folder)
		if finished == 0 || err != nil || len(left) != 1 {
			t.Errorf("%d of %d have the world, %v is in the folder: %v", finished, makers, left, err)
		}
	}
}

// makeOrOpen makes a world, or opens an existing one.
func makeOrOpen(path string) error {
	db, err := Create(path)
	if errors.Is(err, ErrExists) {
		if err := dbfile.CheckHeader(path, applicationID, schemaVersion); err != nil {
			return err
		}
		file, err := sql.Open("sqlite", "file:"+path+"?immutable=1&mode=ro")
		if err != nil {
			return err
		}
		var digest []byte
		return errors.Join(file.QueryRow("SELECT digest FROM meta").Scan(&digest), file.Close())
	}
	if err != nil {
		return err
	}
	b, err := db.Begin()
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(b.End(writeMeta(b)), db.Finish(), db.Close())
}

func TestBatchIsAllOrNothing(t *testing.T) {
	db := made(t, Memory, writeMeta)
	commits, tokens, primary := db.Commits(), db.TokenCommits(), db.PrimaryCommits()
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("stop")
	if err := b.AddMarket(Market{Chain: 1, Address: address}); err != nil {
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
	if err := b.End(b.AddMarket(Market{Chain: 1, Address: address, Series: "avax"})); err != nil {
		t.Fatal(err)
	}
	if m, err := db.Markets(t.Context(), 1); err != nil || len(m) != 1 || m[0].Series != "avax" || db.Commits() != commits+1 || db.TokenCommits() != tokens+1 {
		t.Errorf("after a commit: %+v, %v", m, err)
	}
	if now := db.PrimaryCommits(); now != primary {
		t.Errorf("%d commits of primary chains", now-primary)
	}
	db.commit(t, func(b *Batch) error { return b.AddPrimaryBlock(&PrimaryDelta{}) })
	if now := db.PrimaryCommits(); now != primary+1 || db.TokenCommits() != tokens+1 {
		t.Errorf("%d commits of primary chains, want 1; %d with tokens", now-primary, db.TokenCommits()-tokens)
	}
}

// TestAWorldIsMadeAnew: a new world replaces an old one only when it is complete, and the old one stays beside it.
func TestAWorldIsMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	if err := makeOrOpen(path); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := CreateAnew(path)
	if err != nil {
		t.Fatal(err)
	}
	db.commit(t, func(b *Batch) error {
		return b.SetMeta(Meta{Generator: "1", Seed: 8, Profile: "tiny", Shape: "x: 1", Until: 9, Clock: 8, Base: hash, Digest: hash})
	})
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
		t.Errorf("the old world was changed, %v", err)
	}
	if err := db.Finish(); err != nil {
		t.Fatal(err)
	}
	meta, err := db.Meta(t.Context())
	if err != nil || meta.Seed != 8 {
		t.Errorf("the new world is %+v, %v", meta, err)
	}
	size, err := db.Size(t.Context())
	if info, problem := os.Stat(path); err != nil || problem != nil || info.Size() != size {
		t.Errorf("the file has %d bytes, %v, %v", size, err, problem)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(path + ".old"); err != nil || !bytes.Equal(now, old) {
		t.Errorf("the old world is not beside the new one, %v", err)
	}
}
