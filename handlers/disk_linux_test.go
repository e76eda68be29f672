// The built program on a full disk, which only a process with a size limit meets.

//go:build !race

package handlers_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snowglobe/handlers/control"
)

// TestADiskThatTakesNoMore fills a server's disk with a limit on file sizes. An export that cannot be recorded is refused, as is a copy of the world;
// a recorded export waits and continues once there is room. If the log cannot be merged into the file at the end, the program says so, and the next
// start finds everything.
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
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(s.banner.String(), "still in w.db-wal, because they could not be written") {
		t.Errorf("%v: %s", err, s.banner)
	}
	again := start(t, folder, "--db", "w.db")
	defer again.cmd.Process.Kill()
	if again.whole(t, o.OperationID) != file {
		t.Error("the export is another one after the start")
	}
}

// TestADiskThatWasFullForAMoment: automatic work continues once there is room again: a running clock with people, a background move of the clock,
// blocks at an interval, a lagging index.
func TestADiskThatWasFullForAMoment(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--db", "w.db", "--live", "--clock-rate", "7200", "--block-time", "100ms")
	defer s.cmd.Process.Kill()
	largest := func(bytes uint64) {
		t.Helper()
		limit := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			t.Fatal(err)
		}
	}
	type state struct {
		height     string
		clock      control.ClockState
		indexed    int
		indexError string
	}
	now := func() (is state) {
		t.Helper()
		is.height = s.says(t, "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}`)
		if err := json.Unmarshal([]byte(s.reads(t, "/sim/clock")), &is.clock); err != nil {
			t.Fatal(err)
		}
		var index struct {
			Chains []struct {
				Indexed int `json:",string"`
			}
		}
		if text := s.reads(t, "/sim/index"); json.Unmarshal([]byte(text), &index) != nil || len(index.Chains) == 0 {
			is.indexError = text
		} else {
			is.indexed = index.Chains[0].Indexed
		}
		return is
	}
	goesOn := func(when string) {
		t.Helper()
		before := now()
		for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			after := now()
			if after.height != before.height && after.clock.Milliseconds > before.clock.Milliseconds+int64(time.Hour/time.Millisecond) && after.indexed > before.indexed && after.indexError == "" {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: from %+v to %+v", when, before, after)
			}
		}
	}
	s.says(t, "/sim/index", `{"lag":"2 blocks"}`)
	goesOn("at first")
	largest(1 << 10)
	time.Sleep(time.Second)
	full := now()
	time.Sleep(time.Second)
	if still := now(); still.height != full.height || still.clock.Milliseconds != full.clock.Milliseconds || still.clock.Rate != 7200 {
		t.Errorf("without room: from %+v to %+v", full, still)
	}
	largest(unix.RLIM_INFINITY)
	goesOn("with room again")

	s.says(t, "/sim/clock", `{"rate":0}`)
	largest(1 << 10)
	to := now().clock.Milliseconds + (48 * time.Hour).Milliseconds()
	s.says(t, "/sim/clock", `{"advance":"48h","wait":false}`)
	time.Sleep(500 * time.Millisecond)
	largest(unix.RLIM_INFINITY)
	for deadline := time.Now().Add(40 * time.Second); now().clock.Milliseconds < to; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a move in the background ended at %+v", now().clock)
		}
	}
}
