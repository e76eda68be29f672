package dbfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"snowglobe/sim/store/dbfile"
)

// TestDelete removes a world and the files that belong to it, and no others. A kill in between leaves an unfinished file, never a world.
func TestDelete(t *testing.T) {
	folder := t.TempDir()
	path, other := filepath.Join(folder, "a.db"), filepath.Join(folder, "a.db.old")
	write := func(paths ...string) {
		t.Helper()
		for _, path := range paths {
			if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(path, path+"-wal", path+"-shm", other)
	if err := os.Mkdir(path+"-journal", 0o777); err != nil { // a folder cannot be removed like a file, which stops it halfway
		t.Fatal(err)
	}
	write(filepath.Join(path+"-journal", "x"))
	if err := dbfile.Delete(path); err == nil {
		t.Error("it says that everything is gone")
	}
	if dbfile.Exists(path) || !dbfile.Exists(dbfile.Unfinished(path)) && dbfile.Exists(path+"-journal") {
		t.Error("half deleted, it is still a world, or what is left has no mark")
	}
	if err := os.RemoveAll(path + "-journal"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // deleting again is fine
		if err := dbfile.Delete(path); err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(other) {
		t.Errorf("%v are left, %v", entries, err)
	}
}
