package seed_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snowglobe/seed"
)

// TestWhatIsThereAlready: an empty file is filled; a file of another version is refused, or set aside on request.
func TestWhatIsThereAlready(t *testing.T) {
	o := seed.Options{Path: filepath.Join(t.TempDir(), "w.db"), Seed: 1, Profile: small, Until: seed.DefaultUntil, Today: seed.DefaultUntil}
	if err := os.WriteFile(o.Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := seed.Open(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db := open(t, o.Path)
	if _, err := db.Exec("UPDATE meta SET generator = '1'"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := seed.Open(t.Context(), o, nil); err == nil || !strings.Contains(err.Error(), "version 1, this one is") || !strings.Contains(err.Error(), "--regenerate") {
		t.Fatal(err)
	}
	o.Anew = true
	if w, err = seed.Open(t.Context(), o, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(o.Path + ".old")
	if err != nil || len(first) == 0 {
		t.Error("the old file is not beside it", err)
	}
	for _, name := range []string{".old.1", ".old.2"} {
		current, err := os.ReadFile(o.Path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := seed.Regenerate(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadFile(o.Path + name); err != nil || !bytes.Equal(left, current) {
			t.Errorf("%s is not the file that was there: %v", name, err)
		}
	}
	if left, err := os.ReadFile(o.Path + ".old"); err != nil || !bytes.Equal(left, first) {
		t.Error("the file that was set aside first is another one now", err)
	}
}

// TestRegenerationThatFailsChangesNothing: the existing file stays in place.
func TestRegenerationThatFailsChangesNothing(t *testing.T) {
	o := seed.Options{Path: filepath.Join(t.TempDir(), "w.db"), Seed: 1, Profile: small, Until: seed.DefaultUntil, Today: seed.DefaultUntil}
	before := []byte("whatever it is")
	if err := os.WriteFile(o.Path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(done, _ int) {
		if done > 0 {
			cancel()
		}
	}
	if _, err := seed.Regenerate(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	after, err := os.ReadFile(o.Path)
	if err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file is %q: %v", after, err)
	}
	if left, err := os.ReadDir(filepath.Dir(o.Path)); err != nil || len(left) != 1 {
		t.Errorf("%v are left: %v", left, err)
	}
}
