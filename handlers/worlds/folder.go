package worlds

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"snowglobe/sim/store"
	"snowglobe/sim/store/filelock"
)

// folder holds the files of worlds that are not kept. It is deleted with the process. A later process recognises the folder of a killed one by
// its free lock.
type folder struct {
	path string
	lock *os.File
}

const (
	folderPrefix = "snowglobe-worlds-"
	lockName     = "lock"
	lockedWithin = time.Minute // a younger folder may not be locked yet
)

func newFolder() (*folder, error) {
	removeAbandoned(os.TempDir())
	path, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return nil, store.FailedDisk(err)
	}
	lock, err := os.Create(filepath.Join(path, lockName))
	if err == nil {
		if _, err = filelock.Lock(lock); err == nil {
			return &folder{path, lock}, nil
		}
		err = errors.Join(err, lock.Close())
	}
	return nil, errors.Join(err, os.RemoveAll(path))
}

// removeAbandoned deletes the folders of killed processes, as far as it can.
func removeAbandoned(within string) {
	locks, err := filepath.Glob(filepath.Join(within, folderPrefix+"*", lockName))
	if err != nil {
		return
	}
	for _, path := range locks {
		if abandoned(path) {
			_ = os.RemoveAll(filepath.Dir(path))
		}
	}
}

func abandoned(lock string) bool {
	f, err := os.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || time.Since(info.ModTime()) < lockedWithin {
		return false
	}
	taken, err := filelock.Lock(f)
	return taken && err == nil
}

func (f *folder) remove() error {
	return errors.Join(f.lock.Close(), os.RemoveAll(f.path))
}
