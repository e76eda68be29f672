package dbfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"snowglobe/sim/store/filelock"
)

// ErrLocked means that another process serves a world.
var ErrLocked = errors.New("another process serves this world; stop it, copy the file, or name another one with --db")

// Writable reports whether the file itself is writable.
func Writable(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, file.Close()
}

// Occupied reports whether a path holds something that a new world must not replace: anything but an empty file.
func Occupied(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !(info.Mode().IsRegular() && info.Size() == 0)
}

// CheckUnserved returns an error for anything but a regular file, and ErrLocked for a file that a process serves.
func CheckUnserved(path string) error {
	if err := CheckKind(path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	taken, err := filelock.Lock(file)
	if err = errors.Join(err, file.Close()); err != nil || !taken {
		return fmt.Errorf("%s: %w", path, cmp.Or(err, ErrLocked))
	}
	return nil
}

// SetAside renames a file and its log to the first free name of FILE.old, FILE.old.1, FILE.old.2 and so on. It leaves a file that a process
// serves.
func SetAside(path string) error {
	if err := CheckUnserved(path); err != nil {
		return err
	}
	as := path + ".old"
	for n := 1; Exists(as) || Exists(as+"-wal"); n++ {
		as = fmt.Sprintf("%s.old.%d", path, n)
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Rename(path+suffix, as+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Remove removes a closed file and its companions, such as a log.
func Remove(path string) error {
	return RemoveFiles(path, path+"-wal", path+"-shm", path+"-journal", Compacted(path))
}

// Delete removes a world's closed file. Its first step takes the world away at once: if the process is killed afterwards, only an
// unfinished file remains, which the next start removes, and never a world, nor one without its log.
func Delete(path string) error {
	if err := os.Rename(path, Unfinished(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return err
	}
	if err := Remove(path); err != nil {
		return err
	}
	return Remove(Unfinished(path)) // the file that marks the removal goes last
}

// Compacted returns the path at which a file is rewritten.
func Compacted(path string) string { return path + "-compact" }

// Unfinished returns the path of a file until it is complete.
func Unfinished(path string) string { return path + ".tmp" }

// RemoveUnfinished removes the parts of a file that was never finished. No process may be making it.
func RemoveUnfinished(path string) error {
	if Exists(path) {
		return Remove(Unfinished(path))
	}
	return errors.Join(Remove(Unfinished(path)), Remove(path))
}

// RemoveFiles removes the files that exist.
func RemoveFiles(paths ...string) error {
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
