// A server whose file is moved, replaced or truncated under it.

package handlers_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers"
)

// TestTheFileVanishesUnderTheServer: health reports in one sentence that the world's file is gone, and nothing else changes. Making a copy fails with the
// reason.
func TestTheFileVanishesUnderTheServer(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "worlds")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "my.db")
	w := copied(t, path)
	m := newMany(t, w, handlers.Options{})
	says := func(status int, want string) {
		t.Helper()
		for _, health := range []string{"/sim/health", "/v1/health-check"} {
			if text := m.want(status, "GET", health, ""); !strings.Contains(text, want) {
				t.Errorf("%s says %s, want %q", health, text, want)
			}
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	says(200, "")
	m.call("", "evm_mine", "[]")
	says(200, "")
	whole, err := os.ReadFile(path)
	do(err)
	do(os.Truncate(path, int64(len(whole)/2)))
	says(503, "was truncated")
	do(os.WriteFile(path, whole, 0o666))
	says(200, "")
	do(os.Rename(path, path+".away"))
	says(503, "is no longer where it was")
	do(os.WriteFile(path, whole, 0o666))
	says(503, "was replaced by another")
	do(os.Remove(path))
	do(os.Mkdir(path, 0o777))
	says(503, "was replaced by another")
	do(os.Remove(path))
	do(os.Rename(path+".away", path))
	says(200, "")

	do(os.Rename(folder, folder+".away"))
	says(503, "is no longer where it was")
	for _, body := range []string{`{"name":"a","keep":true}`, `{"name":"a"}`} {
		if text := m.want(503, "POST", "/sim/worlds", body); !strings.Contains(text, "cannot be copied: its file, or the folder") {
			t.Errorf("%s: %s", body, text)
		}
	}
	do(os.Rename(folder+".away", folder))
	m.want(201, "POST", "/sim/worlds", `{"name":"a","keep":true}`)
	m.want(204, "DELETE", "/sim/worlds/a", "")
}

// TestAPassingFaultIsNoDamage: a file that was truncated while the server inspected it, and is whole again, does not count as damaged. Hitting the
// right moment is a matter of milliseconds, so several servers try.
func TestAPassingFaultIsNoDamage(t *testing.T) {
	t.Parallel()
	for range 6 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "my.db")
			w := copied(t, path)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m := newMany(t, w, handlers.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if err := file.Truncate(int64(len(whole) / 2)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // the inspection begins after at most a third of this
			if _, err := file.WriteAt(whole[len(whole)/2:], int64(len(whole)/2)); err != nil {
				t.Fatal(err)
			}
			for range 40 { // until after the second inspection
				m.want(200, "GET", "/sim/health", "")
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
}
