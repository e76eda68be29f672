// Machine-readable output of a starting program: the ready file, the first line, env and healthcheck.

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

// TestMachinesLearnWhenTheServerAnswers reads the ready file and the first line of stdout, then runs env and healthcheck.
func TestMachinesLearnWhenTheServerAnswers(t *testing.T) {
	t.Parallel()
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

// TestStopsWithStdin: a server that was started with a pipe shuts down cleanly with it. exec has no such flag, because its stdin is the command's.
func TestStopsWithStdin(t *testing.T) {
	t.Parallel()
	serve := command(t, "--db", "w.db", "--profile", "tiny", "--addr", "127.0.0.1:0", "--fuji-addr", "off", "--quiet", "--with-stdin")
	stdin, err := serve.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	var told struct{ URL string }
	if err := json.NewDecoder(stdout).Decode(&told); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte("anything\n")); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := outcome(t, command(t, "healthcheck", "--addr", strings.TrimPrefix(told.URL, "http://"))); code != 0 {
		t.Error(code, stderr)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(serve.Dir, "w.db-*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	if code, _, stderr := outcome(t, command(t, "exec", "--with-stdin", "--", "true")); code != 2 || !strings.Contains(stderr, "with-stdin") {
		t.Error(code, stderr)
	}
}
