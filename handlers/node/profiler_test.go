package node

import (
	"os"
	"path/filepath"
	"testing"
)

// TestProfilesNeedNoFolder writes a profile without a configured folder.
func TestProfilesNeedNoFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	t.Chdir(t.TempDir())
	p := NewProfiler("")
	if err := p.memory(); err != nil {
		t.Fatal(err)
	}
	folder, err := p.folder()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "mem.profile")); err != nil {
		t.Error(err)
	}
	if here, err := os.ReadDir("."); err != nil || len(here) > 0 {
		t.Errorf("the working directory has %v (%v)", here, err)
	}
}
