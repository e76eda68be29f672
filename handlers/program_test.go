// exec, and the program around it: codes, signals, standard streams.

//go:build unix && !race

package handlers_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"snowglobe/fixtures"
)

// runProgram runs a command with exec in its own folder; a short run uses an existing world.
func runProgram(t *testing.T, program ...string) *exec.Cmd {
	if testing.Short() {
		t.Log("left out of a short run: a process for each program")
	} else {
		return command(t, append([]string{"exec", "--"}, program...)...)
	}
	path := filepath.Join(t.TempDir(), "w.db")
	worldFile(t, path)
	return command(t, append([]string{"exec", "--db", path, "--"}, program...)...)
}

// TestExecEndsAsItsCommand: exec exits with the command's code, even if a signal killed the command or it cannot run, and passes its input and output
// through unchanged.
func TestExecEndsAsItsCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	plain, module := filepath.Join(folder, "plain"), filepath.Join(folder, "module")
	noise := make([]byte, 256*300)
	for i := range noise {
		noise[i] = byte(i)
	}
	for path, text := range map[string][]byte{
		plain: []byte("no program"), filepath.Join(folder, "noise"): noise, filepath.Join(module, "go.mod"): []byte("module beside\n"),
		filepath.Join(module, "beside_test.go"): []byte(`package beside

import (
	"net/http"
	"os"
	"testing"
)

func TestAnswers(t *testing.T) {
	answer, err := http.Get(os.Getenv("SNOWGLOBE_URL") + os.Getenv("ASKED"))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
}
`),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	defer all.Wait()
	busy := make(chan struct{}, 2)
	for _, c := range []struct {
		program        []string
		environment    string
		stdin          []byte
		code           int
		long           bool   // left out of a short run
		stdout, stderr string // stderr may be only a part, if the program itself complains
	}{
		{program: []string{"sh", "-c", "exit 1"}, code: 1, long: true},
		{program: []string{"sh", "-c", "echo wrong >&2; exit 2"}, code: 2, stderr: "wrong\n"},
		{program: []string{"sh", "-c", "kill -TERM $$"}, code: 128 + int(syscall.SIGTERM)},
		{program: []string{"sh", "-c", "kill -KILL $$"}, code: 128 + int(syscall.SIGKILL), long: true},
		{program: []string{"no-such-program"}, code: 127, stderr: "snowglobe: command not found: no-such-program\n"},
		{program: []string{filepath.Join(folder, "none")}, code: 127, long: true, stderr: "command not found: " + filepath.Join(folder, "none")},
		{program: []string{plain}, code: 126, stderr: "snowglobe: cannot run " + plain + ": permission denied\n"},
		{program: []string{"sh", "-c", "cat; cat noise >&2"}, stdin: noise, stdout: string(noise), stderr: string(noise)},
		{program: []string{"go", "-C", module, "test", "-vet=off", "./..."}, environment: "ASKED=/sim/health", long: true, stdout: "ok  \tbeside\t"},
		{program: []string{"go", "-C", module, "test", "-vet=off", "./..."}, environment: "ASKED=/sim/weather", long: true, code: 1, stdout: "FAIL\tbeside\t"},
		{code: 2, stderr: "snowglobe: expected -- and a command"},
	} {
		if c.long && testing.Short() {
			t.Log("left out of a short run: this program")
			continue
		}
		all.Go(func() {
			busy <- struct{}{}
			defer func() { <-busy }()
			cmd := runProgram(t, c.program...)
			cmd.Dir, cmd.Stdin, cmd.Env = folder, bytes.NewReader(c.stdin), append(os.Environ(), c.environment)
			code, stdout, stderr := outcome(t, cmd)
			own := code > 2 || c.program == nil
			if code != c.code || !strings.Contains(stdout, c.stdout) || c.stdout == "" && stdout != "" || !strings.Contains(stderr, c.stderr) || !own && stderr != c.stderr {
				t.Errorf("%q: exit %d, stdout %.200q, stderr %.200q", c.program, code, stdout, stderr)
			}
		})
	}
}

// TestExecTellsItsCommandOfTheWorld compares a command's environment with the personas.
func TestExecTellsItsCommandOfTheWorld(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := outcome(t, command(t, "exec", "--", "env")) // in memory
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	got := map[string]string{}
	for line := range strings.Lines(stdout) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		got[name] = value
	}
	url := got["SNOWGLOBE_URL"]
	want := map[string]string{"SNOWGLOBE_RPC_URL": url + "/ext/bc/C/rpc", "SNOWGLOBE_WS_URL": "ws" + strings.TrimPrefix(url, "http") + "/ext/bc/C/ws", "SNOWGLOBE_DATA_URL": url,
		"SNOWGLOBE_METRICS_URL": url, "SNOWGLOBE_MNEMONIC": fixtures.Mnemonic, "SNOWGLOBE_ALICE_ADDRESS": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}
	for _, p := range fixtures.Personas {
		name := "SNOWGLOBE_" + strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_"))
		want[name+"_KEY"] = "0x" + p.Key
		if len(got[name+"_ADDRESS"]) != 42 {
			t.Errorf("%s_ADDRESS is %q", name, got[name+"_ADDRESS"])
		}
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
	if answer, err := http.Get(url); err == nil {
		answer.Body.Close()
		t.Error("the server outlived the command")
	}
}

// TestCtrlCEndsASearch: it kills the running commands with what they started, and prints how many runs passed.
func TestCtrlCEndsASearch(t *testing.T) {
	t.Parallel()
	begun := filepath.Join(t.TempDir(), "begun")
	asleep := begun + ".asleep"
	c := command(t, "search", "--runs", "400", "--corpus", filepath.Join(t.TempDir(), "schedules.txt"), "--", "sh", "-c",
		`echo $$ >>"$0"; if [ $(wc -l <"$0") -gt 3 ]; then sleep 600 & echo $! >>"$0.asleep"; wait; fi`, begun)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pids := func(path string) []string {
		text, _ := os.ReadFile(path)
		return strings.Fields(string(text))
	}
	for since := time.Now(); len(pids(asleep)) < 2; time.Sleep(20 * time.Millisecond) { // one for each worker
		if time.Since(since) > time.Minute {
			t.Fatalf("%d of %d runs sleep: %s", len(pids(asleep)), len(pids(begun)), &stderr)
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	_ = c.Wait()                   // the code is checked below
	passed := len(pids(begun)) - 3 // without the calm one and the two that sleep
	want := fmt.Sprintf("no failure in %d runs of 400: interrupted", passed)
	if code := c.ProcessState.ExitCode(); code != 130 || !strings.HasPrefix(stdout.String(), want) || stderr.String() != "snowglobe: interrupted\n" || time.Since(since) > 10*time.Second {
		t.Errorf("exit %d after %s, %q, %q", code, time.Since(since), &stdout, &stderr)
	}
	for _, text := range pids(asleep) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		for since := time.Now(); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) { // until init has buried it
			if time.Since(since) > 5*time.Second {
				t.Fatalf("process %d is still running", pid)
			}
		}
	}
}

// TestExecPassesSignalsOn: the command decides how to react to each signal, and to a second one, and whether to exit.
func TestExecPassesSignalsOn(t *testing.T) {
	t.Parallel()
	cmd := runProgram(t, "sh", "-c", `trap 'echo INT' INT; trap 'echo HUP' HUP; trap 'echo TERM; exit 5' TERM; echo ready; while :; do sleep 0.05; done`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(out)
	for _, step := range []struct {
		line   string
		signal os.Signal
	}{{"ready", syscall.SIGINT}, {"INT", syscall.SIGINT}, {"INT", syscall.SIGHUP}, {"HUP", syscall.SIGTERM}, {"TERM", nil}} {
		if !lines.Scan() || lines.Text() != step.line {
			t.Fatalf("%q, want %q", lines.Text(), step.line)
		}
		if step.signal != nil {
			if err := cmd.Process.Signal(step.signal); err != nil {
				t.Fatal(err)
			}
		}
	}
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 5 || len(rest) > 0 {
		t.Errorf("%v, and then %q", err, rest)
	}
}
