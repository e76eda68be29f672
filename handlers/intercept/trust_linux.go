package intercept

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// writeTrust writes certificates for the programs that this process starts. The file is in memory and belongs to this process: programs open
// it by the path of its descriptor, and it is gone with the process, however that ends.
func writeTrust(content []byte) (*trustFile, error) {
	fd, err := unix.MemfdCreate("snowglobe", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return watchedFile(content)
	}
	f := &trustFile{path: fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), close: func() error { return unix.Close(fd) }} // no os.File, which closes itself when collected
	n, err := unix.Write(fd, content)
	if err == nil && n < len(content) {
		err = io.ErrShortWrite
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	}
	if got, unreadable := os.ReadFile(f.path); errors.Join(err, unreadable) != nil || !bytes.Equal(got, content) {
		_ = f.Close() // /proc is not mounted, or the sandbox forbids it
		return watchedFile(content)
	}
	return f, nil
}
