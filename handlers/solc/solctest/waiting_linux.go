package solctest

import (
	"path/filepath"
	"syscall"
	"testing"

	"snowglobe/handlers/solc"
)

// Waiting returns a compiler that does not end by itself.
func Waiting(t testing.TB) *solc.Compilers {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	return script(t, "read -r never <"+pipe)
}
