//go:build !race

package handlers_test

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestADiskThatTakesNoMore lets a server meet a full disk: no file may become larger than so much. An export that
// cannot be noted down is refused, as is a copy of the world; an export that can waits, and goes on once there is room again. When the log cannot be brought into the file at the end, the program says so, and the next start finds all.
func TestADiskThatTakesNoMore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, folder, "--db", "w.db")
	defer s.cmd.Process.Kill()
	largest := func(bytes uint64) {
		t.Helper()
		limit := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			t.Fatal(err)
		}
	}
	body, _ := exportAll(t, s.reads(t, "/sim/world"))
	largest(1 << 10)
	if text := s.says(t, "/v1/operations/transactions:export", body); !strings.Contains(text, `"statusCode":503`) || !strings.Contains(text, "disk is full") {
		t.Errorf("without room for a job: %s", text)
	}
	if text := s.says(t, "/sim/worlds", `{"name":"a"}`); !strings.Contains(text, `"statusCode":503`) || !strings.Contains(text, "disk is full") {
		t.Errorf("without room for a copy: %s", text)
	}
	largest(64 << 10)
	o := s.begin(t, body)
	time.Sleep(300 * time.Millisecond)
	if now := s.state(t, o.OperationID); now.OperationStatus != "RUNNING" {
		t.Errorf("without room: %+v", now)
	}
	largest(unix.RLIM_INFINITY)
	file := s.whole(t, o.OperationID)

	largest(1 << 20)
	var exit *exec.ExitError
	err := errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait())
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(s.banner.String(), "only in w.db-wal, keep them together") {
		t.Errorf("%v: %s", err, s.banner)
	}
	again := start(t, folder, "--db", "w.db")
	defer again.cmd.Process.Kill()
	if again.whole(t, o.OperationID) != file {
		t.Error("the export is another one after the start")
	}
}
