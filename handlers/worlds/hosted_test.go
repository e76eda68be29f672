package worlds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// plain serves nothing, and works until its end.
type plain struct{ http.Handler }

func (plain) Work(ctx context.Context) error { <-ctx.Done(); return nil }
func (plain) Close()                         {}

func newSet(t *testing.T) *Set {
	t.Helper()
	w := seedtest.Generate(t, store.Memory, "tiny", 1)
	s := &Set{world: w, hosted: map[string]*hosted{}}
	s.options = Options{Now: time.Now, Log: slog.New(slog.DiscardHandler), Serve: func(*Set, *sim.World, string) (Server, error) { return plain{http.NotFoundHandler()}, nil }}
	s.working, s.stop = context.WithCancel(t.Context())
	t.Cleanup(func() { s.stop(); w.Close() })
	return s
}

// host begins to serve a copy of the main world.
func (s *Set) host(t *testing.T, name string) *hosted {
	t.Helper()
	c, err := s.world.Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := newHosted(s, name)
	close(h.made)
	if err := h.begin(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	s.hosted[name] = h
	return h
}

// TestAWorldInUseEnds: ending a world waits for all other requests to it, but not for itself or for requests to another world.
func TestAWorldInUseEnds(t *testing.T) {
	s := newSet(t)
	one, two := s.host(t, "one"), s.host(t, "two")
	mine, leave, _ := one.enter(t.Context())
	defer leave()
	_, leaveOne, _ := one.enter(t.Context())
	_, leaveTwo, _ := two.enter(mine)
	defer leaveTwo()
	ended := make(chan error, 1)
	begin := time.Now()
	go func() { ended <- one.end(mine, false) }()
	select {
	case err := <-ended:
		t.Fatalf("it ended although somebody uses it: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	leaveOne()
	if err := <-ended; err != nil || time.Since(begin) > endTime {
		t.Errorf("it ended after %s: %v", time.Since(begin), err)
	}
	if two.users != 1 {
		t.Errorf("%d use the other world, want 1", two.users)
	}
	if _, _, entered := one.enter(t.Context()); entered || s.hosted["one"] != nil {
		t.Error("a world that ended is there")
	}
	// A request to one world may end another.
	within, leaveBoth, _ := two.enter(t.Context())
	three := s.host(t, "three")
	if err := three.end(within, false); err != nil || two.users != 2 {
		t.Errorf("%v: %d use the world from which another was ended, want 2", err, two.users)
	}
	leaveBoth()
	leaveBoth()
	if two.users != 1 {
		t.Errorf("%d use it after one left twice", two.users)
	}
}

// TestStrangeFilesAreLeftAlone: only files with names that the process itself would give are kept worlds.
func TestStrangeFilesAreLeftAlone(t *testing.T) {
	s := newSet(t)
	folder := t.TempDir()
	s.file = filepath.Join(folder, "main.db")
	for _, name := range []string{"main.db", "main.w.kept.db", "main.w.Kept.db", "main.w.kept", "main.w.db", "main.w..db", "main.w.main.db", "main.w.a b.db", "other.w.kept2.db", "main.w.kept3.db.bak"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "main.w.folder.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.findKept(); err != nil {
		t.Fatal(err)
	}
	if len(s.hosted) != 1 || s.hosted["kept"] == nil || s.hosted["kept"].path != filepath.Join(folder, "main.w.kept.db") {
		t.Errorf("kept are %v", s.hosted)
	}
}

// TestCausesGoToTheLog: the log has the cause of a world's failure once, in the words of the engine or the system; the client does not see it.
func TestCausesGoToTheLog(t *testing.T) {
	s := newSet(t)
	var log bytes.Buffer
	s.options.Log = slog.New(slog.NewTextHandler(&log, nil))
	broken := newHosted(s, "broken")
	broken.path, broken.keep, broken.state = filepath.Join(t.TempDir(), "x.w.broken.db"), true, closed
	close(broken.made)
	s.hosted["broken"] = broken
	kept, err := s.world.CopyTo(t.Context(), broken.path, store.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(broken.path, os.O_RDWR, 0)
	if err = errors.Join(err, kept.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteAt(bytes.Repeat([]byte{0xff}, 1<<20), 4096)
	if err = errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	path := &fs.PathError{Op: "open", Path: "/secret/place", Err: syscall.EMFILE}
	for _, c := range []struct {
		name  string
		do    func() error
		cause string
	}{
		{"a full disk", func() error { return s.refusal(store.FailedDisk(errors.New("quota exceeded for user 7"))) }, `cause="quota exceeded for user 7"`},
		{"a file that cannot be copied", func() error { return s.refusal(fmt.Errorf("copy: %w", path)) }, "/secret/place"},
		{"a folder that is gone", func() error { return s.refusal(&fs.PathError{Op: "open", Path: "/secret/place", Err: fs.ErrNotExist}) }, "/secret/place"},
		{"a folder of others", func() error {
			return s.refusal(&fs.PathError{Op: "open", Path: "/secret/place", Err: fs.ErrPermission})
		}, "/secret/place"},
		{"a kept world whose pages are gone", func() error { return broken.open(t.Context()) }, `cause="database disk image is malformed (11)"`},
		{"a world that does not answer", func() error {
			w := httptest.NewRecorder()
			s.refuse(w, httptest.NewRequest(http.MethodGet, "/w/broken/sim/health", nil), path)
			return errors.New(w.Body.String())
		}, "/secret/place"},
	} {
		log.Reset()
		told := c.do()
		if told == nil || strings.Contains(told.Error(), "secret") || strings.Contains(told.Error(), "quota") || strings.Contains(told.Error(), "database") {
			t.Errorf("%s: the client is told %v", c.name, told)
		}
		if strings.Count(log.String(), "cause=") != 1 || !strings.Contains(log.String(), c.cause) {
			t.Errorf("%s: the log has %s, want %s", c.name, &log, c.cause)
		}
	}
}
