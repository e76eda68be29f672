//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks the file for this process as long as it stays open. The engine's own locks are of another kind.
func Lock(file *os.File) (taken bool, err error) {
	return lock(file, syscall.LOCK_EX)
}

// Share keeps the file from being locked as long as it stays open. Many processes may do that at once, and need not be able to write.
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
