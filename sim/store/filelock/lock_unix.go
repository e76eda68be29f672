//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks the file for this process as long as it stays open. The engine's own locks are of another kind.
func Lock(file *os.File) (taken bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
