package intercept

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// trustFile is a file with certificates for programs, not with keys.
type trustFile struct {
	path  string
	close func() error
}

// Close removes the file.
func (f *trustFile) Close() error { return f.close() }

// trustPattern names the files of watchedFile.
const trustPattern = "snowglobe-ca-*.pem"

// watchedFile writes certificates to a temporary file. A small process removes the file when this one has ended, however it ends: it waits
// for the end of a pipe that only this process holds open. If that process is killed as well, a later run removes the file, once nothing
// in it is valid any more.
func watchedFile(content []byte) (*trustFile, error) {
	removeExpired(os.TempDir(), time.Now())
	f, err := os.CreateTemp("", trustPattern)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	watch := watcher(f.Name())
	var pipe io.WriteCloser
	if pipe, err = watch.StdinPipe(); err == nil {
		err = watch.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	return &trustFile{path: f.Name(), close: func() error { return errors.Join(pipe.Close(), watch.Wait()) }}, nil
}

// removeExpired removes files that killed runs and killed watchers left in a folder.
func removeExpired(folder string, now time.Time) {
	left, _ := filepath.Glob(filepath.Join(folder, trustPattern)) // the pattern is valid
	for _, path := range left {
		if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > validity {
			_ = os.Remove(path) // another run may have done it, or it is another user's
		}
	}
}
