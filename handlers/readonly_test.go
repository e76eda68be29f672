//go:build unix

package handlers_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// unprivileged is someone to whom the permissions of files apply, when the test runs as someone to whom they do not.
const unprivileged = 65534

// TestWorldInAFolderThatCannotBeWritten reads a world where neither the file nor its folder may be written.
func TestWorldInAFolderThatCannotBeWritten(t *testing.T) {
	made := command(t, "generate", "--profile", "tiny", "--db", "w.db", "--quiet")
	if code, _, stderr := outcome(t, made); code != 0 {
		t.Fatal(stderr)
	}
	path, _ := binary()
	for _, folder := range []string{filepath.Dir(path), filepath.Dir(made.Dir), made.Dir} {
		if err := os.Chmod(folder, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(folder, 0o755) })
	}
	if err := os.Chmod(filepath.Join(made.Dir, "w.db"), 0o444); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"digest", "verify"} {
		run := command(t, verb, "--db", filepath.Join(made.Dir, "w.db"), "--quiet")
		run.SysProcAttr, run.Dir = modest(), made.Dir
		if code, stdout, stderr := outcome(t, run); code != 0 || stdout == "" {
			t.Errorf("%s: exit %d, %s", verb, code, stderr)
		}
	}
	s := startAs(t, modest(), made.Dir, "--db", "w.db")
	defer s.cmd.Process.Kill()
	if a, err := http.Get(s.url + "/v1/chains/43114"); err != nil || a.StatusCode != http.StatusOK {
		t.Errorf("%v %v", a, err)
	}
	a, err := http.Post(s.url+"/ext/bc/X", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"avm.getHeight","params":{}}`))
	if err != nil || a.StatusCode != http.StatusOK {
		t.Errorf("%v %v", a, err)
	}
	if left, err := os.ReadDir(made.Dir); err != nil || len(left) != 1 {
		t.Errorf("%v is in the folder: %v", left, err)
	}
}

func modest() *syscall.SysProcAttr {
	if os.Getuid() != 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
}
