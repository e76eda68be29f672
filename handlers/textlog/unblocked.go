package textlog

import (
	"bytes"
	"io"
	"os"
	"time"
)

const (
	waitingLines = 4096
	flushTime    = 2 * time.Second // for a reader to take the rest at the end
)

// Unblocked wraps a writer of lines so that it never waits for the reader of a pipe: it drops lines for which there is no room. It leaves
// files, terminals and other writers as they are. flush writes the waiting lines.
func Unblocked(w io.Writer) (lines io.Writer, flush func()) {
	file, ok := w.(*os.File)
	if !ok {
		return w, func() {}
	}
	if info, err := file.Stat(); err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return w, func() {}
	}
	u := unblocked{make(chan []byte, waitingLines), make(chan chan struct{}, 1)}
	go u.write(file)
	return u, u.flush
}

type unblocked struct {
	waiting chan []byte
	flushes chan chan struct{}
}

func (u unblocked) Write(line []byte) (int, error) {
	select {
	case u.waiting <- bytes.Clone(line):
	default:
	}
	return len(line), nil
}

func (u unblocked) write(w io.Writer) {
	for {
		select {
		case line := <-u.waiting:
			_, _ = w.Write(line) // nobody reads it
			continue
		default:
		}
		select {
		case line := <-u.waiting:
			_, _ = w.Write(line)
		case done := <-u.flushes:
			close(done)
		}
	}
}

func (u unblocked) flush() {
	done := make(chan struct{})
	select {
	case u.flushes <- done:
	default:
		return
	}
	select {
	case <-done:
	case <-time.After(flushTime):
	}
}
