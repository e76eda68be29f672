//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks the file for this process until it is closed. The engine's own locks are of another kind.
func Lock(file *os.File) (taken bool, err error) {
	return lock(file, syscall.LOCK_EX)
}

// Share prevents others from locking the file until it is closed. Many processes can share it at once, even without write permission.
func Share(file *os.File) (taken bool, err error) {
	return lock(file, syscall.LOCK_SH)
}

func lock(file *os.File, how int) (taken bool, err error) {
	err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
