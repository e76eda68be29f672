package worlds

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// plain serves nothing, and works until it is told to end.
type plain struct{ http.Handler }

func (plain) Work(ctx context.Context) error { <-ctx.Done(); return nil }
func (plain) Close()                         {}

func newSet(t *testing.T) *Set {
	t.Helper()
	profile, err := seed.LoadProfile("tiny")
	if err != nil {
		t.Fatal(err)
	}
	w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: profile, Until: seed.DefaultUntil})
	if err != nil {
		t.Fatal(err)
	}
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

// TestAWorldInUseEnds: who ends a world waits for all others that use it, and neither for itself nor for those of another world.
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

// TestStrangeFilesAreLeftAlone: only files that the process itself would name so are worlds that were kept.
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
