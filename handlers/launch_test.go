//go:build !race

package handlers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestExecRunsACommandBesideAWorld: the command finds the world by its environment, its output is untouched and its code is the program's.
func TestExecRunsACommandBesideAWorld(t *testing.T) {
	for _, c := range []struct {
		script, stdout, stderr string
		code                   int
	}{
		{`echo "$SNOWGLOBE_ALICE_ADDRESS"; echo wrong >&2; exit 7`, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\n", "wrong\n", 7},
		{`test -n "$SNOWGLOBE_RPC_URL$SNOWGLOBE_WS_URL$SNOWGLOBE_DATA_URL$SNOWGLOBE_METRICS_URL" && printf '%s' "$SNOWGLOBE_MNEMONIC"`,
			"test test test test test test test test test test test junk", "", 0},
		{`kill -TERM $$`, "", "", 128 + int(syscall.SIGTERM)},
	} {
		if code, stdout, stderr := outcome(t, command(t, "exec", "--", "/bin/sh", "-c", c.script)); code != c.code || stdout != c.stdout || stderr != c.stderr {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.script, code, stdout, stderr)
		}
	}
	if code, _, stderr := outcome(t, command(t, "exec", "--profile", "tiny")); code != 2 || !strings.Contains(stderr, "expected --") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}

// TestMachinesAreToldWhenTheServerAnswers reads the file and the first line of stdout, then asks with env and healthcheck.
func TestMachinesAreToldWhenTheServerAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ready.json")
	stdout := &strings.Builder{}
	serve := command(t, "--db", ":memory:", "--profile", "tiny", "--addr", "127.0.0.1:0", "--fuji-addr", "off", "--quiet", "--ready-file", file)
	serve.Stdout = stdout
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	var line []byte
	for deadline := time.Now().Add(20 * time.Second); line == nil && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		line, _ = os.ReadFile(file)
	}
	var told struct {
		URL, Digest string
		PID         int
	}
	if err := json.Unmarshal(line, &told); err != nil || told.PID != serve.Process.Pid || len(told.Digest) != 64 {
		t.Fatalf("%s %v", line, err)
	}
	address := strings.TrimPrefix(told.URL, "http://")
	if code, _, stderr := outcome(t, command(t, "healthcheck", "--addr", address)); code != 0 {
		t.Error(code, stderr)
	}
	if code, out, _ := outcome(t, command(t, "env", "--addr", address)); code != 0 || !strings.Contains(out, "export SNOWGLOBE_URL='"+told.URL+"'\n") {
		t.Error(code, out)
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Error(err)
	}
	if stdout.String() != string(line) {
		t.Errorf("stdout is %q, the file has %q", stdout, line)
	}
	if code, _, _ := outcome(t, command(t, "healthcheck", "--addr", address)); code != 1 {
		t.Error(code)
	}
}
