//go:build unix

package dbfile

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder makes renames in a folder durable, where the file system supports that.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}
