//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// largestFile limits the size of files, like a full disk.
func largestFile(t *testing.T, bytes int64) (unlimited func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = uint64(bytes)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatTheDiskDoesNotTakeIsSaid: a failed commit has no effect, a log that cannot be merged into the file stays beside it, and both errors are
// clear sentences.
func TestWhatTheDiskDoesNotTakeIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	if err := made(t, path, writeMeta).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, db, 10)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	unlimited := largestFile(t, info.Size())
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		err = errors.Join(err, b.AddMarket(Market{Chain: 1000 + n, Address: address, Series: strings.Repeat("s", 3000)}))
	}
	if err := b.End(err); !errors.Is(err, ErrDisk) || strings.Contains(err.Error(), "INSERT") {
		t.Errorf("commit: %v", err)
	}
	if err := db.Close(); !errors.Is(err, ErrDisk) || !strings.Contains(err.Error(), "w.db-wal, because they could not be written") {
		t.Errorf("close: %v", err)
	}
	unlimited()
	if last := digestOf(t, path); last != 10 {
		t.Errorf("the last commit is %d", last)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}
