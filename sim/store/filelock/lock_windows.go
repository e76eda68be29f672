package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is far behind anything the engine reads, writes or locks.
const lockOffset = 1 << 31

// Lock locks the file for this process until it is closed.
func Lock(file *os.File) (taken bool, err error) {
	return lock(file, windows.LOCKFILE_EXCLUSIVE_LOCK)
}

// Share prevents others from locking the file until it is closed. Many processes can share it at once, even without write permission.
func Share(file *os.File) (taken bool, err error) {
	return lock(file, 0)
}

func lock(file *os.File, how uint32) (taken bool, err error) {
	err = windows.LockFileEx(windows.Handle(file.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
