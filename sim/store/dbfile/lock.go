package dbfile

import (
	"cmp"
	"errors"
	"os"

	"snowglobe/sim/store/filelock"
)

// ErrMaking says that another process makes a world of this name.
var ErrMaking = errors.New("another process is making this file right now")

// MakingLock is held by the process that makes a file.
type MakingLock struct {
	path string
	file *os.File
}

// Lock takes the lock at a path, or fails with ErrMaking when another process has it.
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
		mine, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if now, err := os.Stat(path); err == nil && os.SameFile(mine, now) {
			return &MakingLock{path, file}, nil
		}
		if err := file.Close(); err != nil { // who had it before has removed it meanwhile
			return nil, err
		}
	}
}

// Release gives the lock back. Where a file that is open cannot be removed, as on Windows, it is removed once it is closed, and
// stays when another process has it by then.
func (l *MakingLock) Release() error {
	kept := os.Remove(l.path)
	err := l.file.Close()
	if kept != nil {
		_ = os.Remove(l.path)
	}
	return err
}
