package intercept

import (
	"bytes"
	"fmt"
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
	f := os.NewFile(uintptr(fd), "snowglobe")
	path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	_, err = f.Write(content)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	}
	if got, unreadable := os.ReadFile(path); err != nil || unreadable != nil || !bytes.Equal(got, content) {
		_ = f.Close() // /proc is not mounted, or the sandbox forbids it
		return watchedFile(content)
	}
	return &trustFile{path: path, close: f.Close}, nil
}
