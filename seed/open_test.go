package seed_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// TestManyReadOneFile opens a file several times for reading only: it is the same world each time, nothing can be added to it there or
// elsewhere, and nothing is left beside it. While somebody adds to it, it cannot be opened so.
func TestManyReadOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	profile, err := seed.LoadProfile("tiny")
	if err != nil {
		t.Fatal(err)
	}
	o := seed.Options{Path: path, Seed: 1, Profile: profile, Until: seed.DefaultUntil, Today: seed.DefaultUntil, ReadOnly: true}
	if w, err := seed.Open(t.Context(), o, nil); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a file that is not there: %v %v", w, err)
	}
	made, err := seed.Generate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	var readers []*sim.World
	for range 3 {
		w, err := seed.Open(t.Context(), o, nil)
		if err == nil {
			err = w.Claim(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, w)
		if string(w.Digest()) != string(made.Digest()) {
			t.Error("another world")
		}
		if err := w.Advance(t.Context(), w.Clock.Now().Add(time.Hour)); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("the clock: %v", err)
		}
		if err := w.Write(t.Context(), func(*store.Batch) error { return nil }); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("writing: %v", err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("beside the file: %v %v", entries, err)
	}
	writer, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range readers {
		if err := writer.Claim(t.Context()); !errors.Is(err, store.ErrLocked) {
			t.Errorf("claimed while it is read: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := writer.Claim(t.Context()); err != nil {
		t.Error(err)
	}
	if w, err := seed.Open(t.Context(), o, nil); !errors.Is(err, store.ErrInUse) {
		t.Errorf("read while it is written: %v %v", w, err)
	}
	if err := writer.Close(); err != nil {
		t.Error(err)
	}
}
