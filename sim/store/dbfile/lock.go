package dbfile

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"snowglobe/sim/store/filelock"
)

// ErrMaking means that another process is making a world of this name.
var ErrMaking = errors.New("another process is making this file right now")

// MakingLock is held by the process that makes a file.
type MakingLock struct {
	path string
	file *os.File
}

// LockOf returns the path of the lock held while a file is made.
func LockOf(path string) string { return path + lockSuffix }

const (
	lockSuffix = ".lock"
	lockText   = "snowglobe makes the file of this name\n" // contents of a lock, which no other program's has
)

// RemoveAbandoned removes the remains of killed generations from a folder: unfinished files whose lock is free. It ignores files that it cannot
// remove.
func RemoveAbandoned(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if name, isLock := strings.CutSuffix(e.Name(), lockSuffix); isLock && e.Type().IsRegular() {
			removeAbandoned(filepath.Join(folder, name))
		}
	}
}

func removeAbandoned(path string) {
	file, err := os.OpenFile(LockOf(path), os.O_RDWR, 0)
	if err != nil {
		return
	}
	lock := &MakingLock{LockOf(path), file}
	text := make([]byte, len(lockText)+1)
	n, err := file.Read(text)
	if err == nil && string(text[:n]) == lockText {
		if taken, err := filelock.Lock(file); err == nil && taken && lock.stands() {
			_ = errors.Join(Remove(Unfinished(path)), lock.Release())
			return
		}
	}
	_ = file.Close()
}

// stands reports whether the lock is still the file at its path: its previous holder may have removed it meanwhile.
func (l *MakingLock) stands() bool {
	mine, err := l.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(l.path)
	return err == nil && os.SameFile(mine, now)
}

// Lock takes the lock at a path, or returns ErrMaking if another process holds it.
func Lock(path string) (*MakingLock, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		taken, err := filelock.Lock(file)
		if err != nil || !taken {
			return nil, errors.Join(cmp.Or(err, ErrMaking), file.Close())
		}
		lock := &MakingLock{path, file}
		if lock.stands() {
			if _, err := file.WriteAt([]byte(lockText), 0); err != nil {
				return nil, errors.Join(err, lock.Release())
			}
			return lock, nil
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
}

// Release releases the lock. Where an open file cannot be removed, as on Windows, Release removes it after closing it, and leaves it if
// another process holds it by then.
func (l *MakingLock) Release() error {
	kept := os.Remove(l.path)
	err := l.file.Close()
	if kept != nil {
		_ = os.Remove(l.path)
	}
	return err
}
