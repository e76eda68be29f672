package store

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"snowglobe/sim/store/dbfile"
)

// Errors about a world's file under a running server, in words for clients.
var (
	ErrGone      = errors.New("the world's file is no longer where it was: stop the server and put the file back")
	ErrReplaced  = errors.New("the world's file was replaced by another: stop the server and put the world's file back")
	ErrTruncated = errors.New("the world's file was truncated: stop the server and restore a copy of the file, or generate the world again with --regenerate")
)

// opened is the file as last seen. In write-ahead mode it never shrinks.
type opened struct {
	mu   sync.Mutex
	info fs.FileInfo // nil before the file is open
}

func (o *opened) set(path string) {
	if path == Memory {
		return
	}
	if info, err := os.Stat(path); err == nil {
		o.mu.Lock()
		o.info = info
		o.mu.Unlock()
	}
}

// CheckFile checks that the file still exists and has not shrunk. Reading would not notice: the engine keeps the file open, and pages in
// memory.
func (db *DB) CheckFile() error {
	if db.path == Memory {
		return nil
	}
	db.opened.mu.Lock()
	defer db.opened.mu.Unlock()
	before := db.opened.info
	if before == nil {
		return nil
	}
	now, err := os.Stat(db.path)
	switch {
	case err != nil:
		return ErrGone
	case !os.SameFile(before, now) || dbfile.CheckKind(db.path) != nil:
		return ErrReplaced
	case now.Size() < before.Size():
		return ErrTruncated
	}
	db.opened.info = now
	return nil
}
