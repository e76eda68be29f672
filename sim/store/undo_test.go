package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goneOn returns a world with two commits, a snapshot after the first, and one after the last.
func goneOn(t *testing.T) *DB {
	t.Helper()
	db := made(t, Memory, func(b *Batch) error { return errors.Join(writeMeta(b), writeChain(fullDelta())(b)) })
	for n := range byte(2) {
		digest := bytes.Repeat([]byte{10 + n}, 32)
		db.commit(t, func(b *Batch) error {
			return errors.Join(b.AddMarket(Market{Chain: 1, Address: bytes.Repeat([]byte{n}, 20)}),
				b.SetMeta(Meta{Generator: "1", Seed: 7, Profile: "tiny", Shape: "x: 1", Until: 9, Clock: 100 + int64(n), Base: hash, Digest: digest}))
		})
		db.commit(t, func(b *Batch) error { return b.AddSnapshot(&Snapshot{Name: "s", Digest: digest, Memory: []byte("{}")}) })
	}
	return db
}

// TestADamagedUndoLogIsNamed changes the log and the snapshots behind the program's back.
func TestADamagedUndoLogIsNamed(t *testing.T) {
	for statement, want := range map[string]string{
		"":                                    "",
		"DELETE FROM undo WHERE sequence = 1": "undo: 2 follows 0",
		"DELETE FROM undo WHERE sequence = 2": "undo 1: the world is not the one that this commit left",
		"UPDATE undo SET clock = clock + 1 WHERE sequence = 1":                      "undo 1: its checksum does not match",
		"UPDATE undo SET digest = zeroblob(32) WHERE sequence = 2":                  "undo 2: its checksum does not match",
		"UPDATE undo SET steps = x'ff' WHERE sequence = 1":                          "undo 1: its checksum does not match",
		"UPDATE snapshot SET memory = x'7b' WHERE id = 1":                           "snapshot 1: its memory is not JSON",
		"UPDATE snapshot SET sequence = 7 WHERE id = 1":                             "snapshot 1: commit 7",
		"UPDATE snapshot SET digest = zeroblob(32) WHERE id = 1":                    "snapshot 1: its digest is not that of commit 1",
		"UPDATE snapshot SET digest = zeroblob(32) WHERE id = 2":                    "snapshot 2: its digest is not that of commit 2",
		"UPDATE snapshot SET sequence = 0, digest = zeroblob(32) WHERE id = 1":      "",
		"DELETE FROM snapshot":                                                      "",
		"DELETE FROM undo WHERE sequence > 0; DELETE FROM snapshot":                 "",
		"DELETE FROM undo; UPDATE snapshot SET sequence = 0, digest = zeroblob(32)": "",
	} {
		db := goneOn(t)
		if _, err := db.write.Exec(statement); err != nil {
			t.Fatal(err)
		}
		err := db.CheckUndo(t.Context(), func(clock int64) []byte {
			if clock == 101 {
				return bytes.Repeat([]byte{11}, 32)
			}
			return hash
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
	}
}

// TestSnapshotsAreNoCommits: taking and dropping snapshots leaves nothing to undo, and a number is never used again.
func TestSnapshotsAreNoCommits(t *testing.T) {
	db := goneOn(t)
	db.commit(t, func(b *Batch) error { return b.DropSnapshots(2, 9) })
	all, err := db.Snapshots(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != 1 || all[0].Sequence != 1 {
		t.Errorf("snapshots are %+v, %v", all, err)
	}
	s := Snapshot{Digest: bytes.Repeat([]byte{11}, 32), Memory: []byte("{}")}
	db.commit(t, func(b *Batch) error { return b.AddSnapshot(&s) })
	if s.ID != 3 || s.Sequence != 2 || db.LastCommit().Sequence != 2 {
		t.Errorf("the next snapshot is %+v after commit %d", s, db.LastCommit().Sequence)
	}
	for want := range int64(2) {
		counts, err := db.UndoCounts(t.Context())
		same(t, "counts", counts, UndoCounts{Snapshots: 3, Resets: want}, err)
		db.commit(t, (*Batch).CountReset)
	}
	last := db.LastCommit()
	if last.Clock != 101 || last.Digest[0] != 11 {
		t.Errorf("after two counted resets the last commit is %+v", last)
	}
	db.commit(t, func(*Batch) error { return nil })
	if now := db.LastCommit().Sequence; now != last.Sequence {
		t.Errorf("a batch that changes nothing is commit %d", now)
	}
	at, err := db.CommitAt(t.Context(), 1)
	same(t, "commit 1", *at, Commit{1, 100, bytes.Repeat([]byte{10}, 32)}, err)
	db.commit(t, (*Batch).ForgetHistory)
	if all, err := db.Snapshots(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("after forgetting the history, snapshots are %+v, %v", all, err)
	}
}

// TestAQuietClockMakesNoCommits: a commit that only moves the clock leaves nothing to undo, except the first after a snapshot and one every
// QuietSeconds. A snapshot knows its time all the same.
func TestAQuietClockMakesNoCommits(t *testing.T) {
	db := goneOn(t)
	digestAt := func(clock int64) []byte { return bytes.Repeat([]byte{byte(clock / 1000), byte(clock)}, 16) }
	move := func(clock, want int64) {
		t.Helper()
		db.commit(t, func(b *Batch) error {
			return b.SetMeta(Meta{Generator: "1", Seed: 7, Profile: "tiny", Shape: "x: 1", Until: 9, Clock: clock, Base: hash, Digest: digestAt(clock)})
		})
		if now := db.LastCommit().Sequence; now != want {
			t.Errorf("at %d the last commit is %d, want %d", clock, now, want)
		}
		if err := db.CheckUndo(t.Context(), digestAt); err != nil {
			t.Errorf("at %d: %v", clock, err)
		}
	}
	move(1500, 3)
	move(1500, 3)
	move(64_999, 3)
	move(65_000, 4)
	move(66_000, 4)
	s := Snapshot{Created: 66_000, Digest: digestAt(66_000), Memory: []byte("{}")}
	db.commit(t, func(b *Batch) error { return b.AddSnapshot(&s) })
	if now := *db.LastCommit(); s.Sequence != 5 || now.Sequence != 5 || now.Clock != 66_000 {
		t.Errorf("the snapshot is %+v, the last commit %+v", s, now)
	}
	move(67_000, 6)
	move(68_000, 6)
	db.commit(t, func(b *Batch) error { return b.Rewind(RewindOptions{To: s.Sequence}) })
	if m, err := db.Meta(t.Context()); err != nil || m.Clock != 66_000 || db.LastCommit().Clock != 66_000 || db.LastCommit().Sequence != 5 {
		t.Errorf("after the revert the clock is %d, the last commit %+v, %v", m.Clock, db.LastCommit(), err)
	}
	if err := db.readLastCommit(); err != nil || db.LastCommit().Sequence != 5 || db.LastCommit().Clock != 66_000 {
		t.Errorf("a start reads commit %+v, %v", db.LastCommit(), err)
	}
}

// TestOldStepsAreMerged makes many commits, four of them with snapshots: also the last and the first of those that are merged. Beyond those that can be undone one by one, all but one in mergeEvery lose
// their steps, the log stays sound, and every way back leads to the old rows.
func TestOldStepsAreMerged(t *testing.T) {
	db := goneOn(t)
	db.KeepUndo(10)
	n, states := 1, map[int64]string{}
	digestAt := func(int64) []byte { return bytes.Repeat([]byte{10 + byte(n)}, 32) }
	markets := func() string { return fmt.Sprint(db.rowsOf(t, "market"), db.rowsOf(t, "meta")) }
	commit := func() {
		t.Helper()
		n++
		db.commit(t, func(b *Batch) error {
			return errors.Join(b.AddMarket(Market{Chain: 1, Address: append(make([]byte, 18), byte(n>>8), byte(n))}),
				b.SetMeta(Meta{Generator: "1", Seed: 7, Profile: "tiny", Shape: "x: 1", Until: 9, Clock: 100 + int64(n), Base: hash, Digest: digestAt(0)}))
		})
	}
	for db.LastCommit().Sequence < 2*mergeEvery+9 {
		if commit(); slices.Contains([]int64{100, mergeEvery - 1, mergeEvery + 1, 200}, db.LastCommit().Sequence) {
			s := Snapshot{Digest: digestAt(0), Memory: []byte("{}")}
			db.commit(t, func(b *Batch) error { return b.AddSnapshot(&s) })
			states[s.Sequence] = markets()
		}
	}
	reach := func(want int64) {
		t.Helper()
		if got, err := db.UndoReach(t.Context()); err != nil || got != want {
			t.Errorf("the last commit that cannot be undone alone is %d, want %d, %v", got, want, err)
		}
		if err := db.CheckUndo(t.Context(), digestAt); err != nil {
			t.Error(err)
		}
	}
	reach(mergeEvery)
	for db.LastCommit().Sequence < 3*mergeEvery {
		commit()
	}
	reach(2 * mergeEvery)
	var kept []int64
	if err := db.read.Select(&kept, `SELECT sequence FROM undo WHERE length(steps) > 1 AND sequence <= ?`, 2*mergeEvery); err != nil || fmt.Sprint(kept) != "[1 2 100 127 128 129 200 256]" {
		t.Errorf("steps of the commits %d are kept, %v", kept, err)
	}
	for i, to := range []int64{200, mergeEvery + 1, mergeEvery - 1, 100} {
		db.commit(t, func(b *Batch) error {
			return errors.Join(b.Rewind(RewindOptions{To: to}), b.DropSnapshots(int64(7-i), 9))
		})
		if n = int(to) - 1; markets() != states[to] {
			t.Errorf("back at commit %d the rows are\n%s\nthey were\n%s", to, markets(), states[to])
		}
		reach(to)
	}
	for db.LastCommit().Sequence < 2*mergeEvery {
		commit()
	}
	reach(mergeEvery)
}

// TestAFileStaysWithinItsLimit: rows that don't fit are refused as by a full disk.
func TestAFileStaysWithinItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	db, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.End(writeMeta(b)), db.Finish(), db.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		more int64
		fits bool
	}{{0, false}, {4 << 20, true}} {
		if db, err = OpenWithin(path, Limits{Bytes: info.Size() + c.more}); err != nil {
			t.Fatal(err)
		}
		if b, err = db.Begin(); err != nil {
			t.Fatal(err)
		}
		if err := b.End(b.addCode(&Code{Hash: hash, Code: make([]byte, 1<<20)})); (err == nil) != c.fits || err != nil && !errors.Is(err, ErrDisk) {
			t.Errorf("with %d bytes more: %v", c.more, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARunningWorldSeesItsFileChange: the file is missing, shorter, another world's, or no world's.
func TestARunningWorldSeesItsFileChange(t *testing.T) {
	for what, c := range map[string]struct {
		change func(path string) error
		want   error
	}{
		"nothing":   {func(string) error { return nil }, nil},
		"removed":   {os.Remove, ErrGone},
		"truncated": {func(path string) error { return os.Truncate(path, 8192) }, ErrTruncated},
		"replaced": {func(path string) error {
			raw, err := os.ReadFile(path)
			return errors.Join(err, os.Remove(path), os.WriteFile(path, raw, 0o600))
		}, ErrReplaced},
		"emptied": {func(path string) error { return os.Truncate(path, 0) }, ErrTruncated},
	} {
		path := filepath.Join(t.TempDir(), "world.db")
		if err := made(t, path, writeMeta).Close(); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.CheckFile(); err != nil {
			t.Errorf("%s, before: %v", what, err)
		}
		if err := c.change(path); err != nil {
			t.Fatal(err)
		}
		if err := db.CheckFile(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		db.Close()
	}
	if err := made(t, Memory, writeMeta).CheckFile(); err != nil {
		t.Errorf("in memory: %v", err)
	}
}

// TestWhoReadsAloneNeedsTheWholeFile: a file that is locked, or with a log beside it, cannot be opened read-only.
func TestWhoReadsAloneNeedsTheWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	if err := made(t, path, writeMeta).Close(); err != nil {
		t.Fatal(err)
	}
	one, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	two, err := OpenReadOnly(path)
	if err != nil {
		t.Fatalf("beside another reader: %v", err)
	}
	if _, err := two.Begin(); !errors.Is(err, ErrReadOnly) || !two.ReadOnly() {
		t.Errorf("writing: %v", err)
	}
	if err := errors.Join(one.Close(), two.Close(), os.WriteFile(path+"-wal", []byte{1}, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(path); !errors.Is(err, ErrInUse) {
		t.Errorf("with a log: %v", err)
	}
	if err := os.Truncate(path+"-wal", 0); err != nil {
		t.Fatal(err)
	}
	again, err := OpenReadOnly(path)
	if err != nil {
		t.Fatalf("with an empty log: %v", err)
	}
	again.Close()
	os.Remove(path + "-wal")
	writer, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := writer.Lock(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(path); !errors.Is(err, ErrInUse) {
		t.Errorf("beside a writer: %v", err)
	}
}
