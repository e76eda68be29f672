package store

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snowglobe/sim/store/dbfile"
)

// commit adds to a world, over several pages.
func commit(t *testing.T, db *DB, n byte) {
	t.Helper()
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	err = b.SetMeta(Meta{Generator: "1", Profile: "tiny", Base: hash, Digest: bytes.Repeat([]byte{n}, 32)})
	for i := range byte(100) {
		err = errors.Join(err, b.AddMarket(Market{Chain: int(n), Address: bytes.Repeat([]byte{i}, 20), Series: strings.Repeat("s", 180)}))
	}
	if err := b.End(err); err != nil {
		t.Fatal(err)
	}
}

// copied copies the present state of files to other names in a new folder.
func copied(t *testing.T, from map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, path := range from {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "w.db")
}

// killed returns a world, its state before it was opened, and its file and log as a process killed after some commits leaves them.
func killed(t *testing.T) (before, path string) {
	t.Helper()
	served := filepath.Join(t.TempDir(), "w.db")
	if err := made(t, served, writeMeta).Close(); err != nil {
		t.Fatal(err)
	}
	before = copied(t, map[string]string{"w.db": served})
	db, err := Open(served)
	if err != nil {
		t.Fatal(err)
	}
	for n := range byte(3) {
		commit(t, db, 10+n)
	}
	path = copied(t, map[string]string{"w.db": served, "w.db-wal": served + "-wal", "w.db-shm": served + "-shm"})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return before, path
}

// digestOf opens a world and returns the number of its last commit.
func digestOf(t *testing.T, path string) byte {
	t.Helper()
	db, err := Open(path)
	if err != nil {
		t.Error(err)
		return 0
	}
	m, err := db.Meta(t.Context())
	if err := errors.Join(err, db.Integrity(t.Context()), db.Close()); err != nil {
		t.Error(err)
		return 0
	}
	return m.Digest[0]
}

func TestAKilledProcessLeavesALogThatIsRecovered(t *testing.T) {
	_, path := killed(t)
	whole := copied(t, map[string]string{"w.db": path, "w.db-wal": path + "-wal"})
	if last := digestOf(t, whole); last != 12 {
		t.Errorf("the last commit is %d", last)
	}
	// Killed while the log was being merged into the file: some pages are written, others are not.
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	recovered, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for first := range 4 {
		mixed := bytes.Clone(old)
		for at := first << 12; at < len(old); at += 3 << 12 {
			copy(mixed[at:at+1<<12], recovered[at:])
		}
		torn := copied(t, map[string]string{"w.db": path, "w.db-wal": path + "-wal"})
		if err := os.WriteFile(torn, mixed, 0o600); err != nil {
			t.Fatal(err)
		}
		if last := digestOf(t, torn); last != 12 {
			t.Errorf("every third page from %d on: the last commit is %d", first, last)
		}
	}
}

// TestTheLogOfAnotherFileIsRefused puts files beside a log that belongs to another file. Neither is changed.
func TestTheLogOfAnotherFileIsRefused(t *testing.T) {
	before, path := killed(t)
	same := filepath.Join(t.TempDir(), "w.db")
	if err := made(t, same, writeMeta).Close(); err != nil {
		t.Fatal(err)
	}
	later := copied(t, map[string]string{"w.db": path, "w.db-wal": path + "-wal"})
	if db, err := Open(later); err != nil {
		t.Fatal(err)
	} else if commit(t, db, 13); db.Close() != nil {
		t.Fatal("not closed")
	}
	other := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", other+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE t (x); INSERT INTO t VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(journal, []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string]map[string]string{
		"a copy from before":         {"w.db": before, "w.db-wal": path + "-wal"},
		"a copy from before and shm": {"w.db": before, "w.db-wal": path + "-wal", "w.db-shm": path + "-shm"},
		"a copy from later":          {"w.db": later, "w.db-wal": path + "-wal"},
		"the same made again":        {"w.db": same, "w.db-wal": path + "-wal"},
		"a log of no world":          {"w.db": before, "w.db-wal": other + "-wal"},
		"a rollback journal":         {"w.db": before, "w.db-journal": journal},
	} {
		beside := copied(t, files)
		if db, err := Open(beside); !errors.Is(err, dbfile.ErrForeignLog) {
			t.Errorf("%s: %v, %v", name, db, err)
		}
		for file, from := range files {
			have, err := os.ReadFile(filepath.Join(filepath.Dir(beside), file))
			if err != nil {
				t.Fatal(err)
			}
			if want, err := os.ReadFile(from); err != nil || !bytes.Equal(have, want) {
				t.Errorf("%s: %s was changed, %v", name, file, err)
			}
		}
	}
}

func TestALogWithNothingToRecoverIsInNobodysWay(t *testing.T) {
	before, path := killed(t)
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(log)
	damaged[100] ^= 1 // in the first frame
	for name, content := range map[string][]byte{"empty": {}, "only a header": log[:32], "no log": bytes.Repeat([]byte("x"), 9000), "damaged": damaged} {
		beside := copied(t, map[string]string{"w.db": before})
		if err := os.WriteFile(beside+"-wal", content, 0o600); err != nil {
			t.Fatal(err)
		}
		if last := digestOf(t, beside); last != 2 {
			t.Errorf("%s: the last commit is %d", name, last)
		}
	}
}

// TestANewWorldNeverMeetsAnOldLog makes a world where another was killed and its file deleted.
func TestANewWorldNeverMeetsAnOldLog(t *testing.T) {
	_, path := killed(t)
	if err := errors.Join(os.Remove(path), os.WriteFile(path+"-journal", []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := made(t, path, writeMeta).Close(); err != nil {
		t.Fatal(err)
	}
	if last := digestOf(t, path); last != 2 {
		t.Errorf("the last commit is %d", last)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

// TestAFileThatWasReplacedIsClosed: a process that served the old file does not take the log from one that serves the new file (the engine sees that
// the file was moved).
func TestAFileThatWasReplacedIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	old := made(t, path, writeMeta)
	if err := old.Lock(); err != nil {
		t.Fatal(err)
	}
	commit(t, old, 10)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	next := made(t, path, writeMeta)
	commit(t, next, 20)
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	if last := digestOf(t, copied(t, map[string]string{"w.db": path, "w.db-wal": path + "-wal"})); last != 20 {
		t.Errorf("the last commit is %d", last)
	}
}

// TestOpeningLeavesACopyAsItIs: a copy of an in-memory world has the header of a separate file, and several processes may open it at the same time.
// Otherwise the first would write such a header with a journal, which the others would refuse.
func TestOpeningLeavesACopyAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	if err := made(t, Memory, writeMeta).WriteCopy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	read := func() []byte {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	before := read()
	db, err := pool(dsn(path, "_pragma=journal_mode(WAL)"), 1) // like connect, before anything is written
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if !bytes.Equal(read(), before) {
		t.Error("opening the copy wrote to it")
	}
}

func TestTheTableLineageIsOnTheSecondPage(t *testing.T) {
	db := made(t, Memory, writeMeta)
	var page int
	if err := db.read.Get(&page, `SELECT rootpage FROM sqlite_schema WHERE name = 'lineage'`); err != nil || page != dbfile.LineagePage {
		t.Errorf("page %d, %v", page, err)
	}
}
