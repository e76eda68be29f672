package seed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsThereAlready: an empty file is filled; the file of another version is refused, and set aside when that was asked for.
func TestWhatIsThereAlready(t *testing.T) {
	profile, err := LoadProfile("tiny")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Path: filepath.Join(t.TempDir(), "w.db"), Seed: 1, Profile: profile, Until: DefaultUntil, Today: DefaultUntil}
	if err := os.WriteFile(o.Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := Open(t.Context(), o, nil)
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
	if _, err := Open(t.Context(), o, nil); err == nil || !strings.Contains(err.Error(), "version 1, this one is") || !strings.Contains(err.Error(), "--regenerate") {
		t.Fatal(err)
	}
	o.Anew = true
	if w, err = Open(t.Context(), o, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.Stat(o.Path + ".old"); err != nil || left.Size() == 0 {
		t.Error("the old file is not beside it", err)
	}
}
