// The built program as a process: exit codes, locks on files, signals, environment.

//go:build !race

package handlers_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var binary = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "snowglobe-test-")
	if err != nil {
		return "", err
	}
	leftover = folder
	path := filepath.Join(folder, "snowglobe")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "snowglobe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// command prepares a run of the built program in a folder of its own.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), path, args...)
	c.Dir = t.TempDir()
	return c
}

// outcome runs a command to its end.
func outcome(t *testing.T, c *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestDigestStandsAloneAndVerifyCounts(t *testing.T) {
	t.Parallel()
	made := command(t, "generate", "--profile", "tiny", "--db", "w.db", "--quiet")
	if code, stdout, stderr := outcome(t, made); code != 0 || stdout+stderr != "" {
		t.Fatal(code, stdout, stderr)
	}
	digest := command(t, "digest", "--db", "w.db")
	digest.Dir = made.Dir
	_, fromFile, _ := outcome(t, digest)
	_, fromMemory, _ := outcome(t, command(t, "digest", "--db", ":memory:", "--profile", "tiny"))
	if !regexp.MustCompile(`^[0-9a-f]{64}\n$`).MatchString(fromFile) || fromFile != fromMemory {
		t.Errorf("digests %q and %q", fromFile, fromMemory)
	}
	verify := command(t, "verify", "--db", "w.db")
	verify.Dir = made.Dir
	code, stdout, stderr := outcome(t, verify)
	if code != 0 || !regexp.MustCompile(`transactions with their senders +600\n(.*\n)*\nverified: `).MatchString(stdout) || stderr != "" {
		t.Error(code, stdout, stderr)
	}
	if left, _ := os.ReadDir(made.Dir); len(left) != 1 {
		t.Errorf("more than the world is left: %v", left)
	}
}

// started is a running server and its output.
type started struct {
	cmd    *exec.Cmd
	url    string
	banner *bytes.Buffer
}

// start serves the tiny world in a folder on a free port, or another world chosen by the arguments, and waits for the first response.
func start(t *testing.T, folder string, args ...string) *started {
	t.Helper()
	return startAs(t, nil, folder, args...)
}

// startAs is start as another user.
func startAs(t *testing.T, who *syscall.SysProcAttr, folder string, args ...string) *started {
	t.Helper()
	db := "snowglobe.db"
	if i := slices.Index(args, "--db"); i >= 0 {
		db = args[i+1]
	}
	if db != ":memory:" && !slices.Contains(args, "--profile") && !slices.Contains(args, "--seed") && !slices.Contains(args, "--upgrade") {
		worldFile(t, filepath.Join(folder, db))
	}
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := probe.Addr().String()
	probe.Close()
	s := &started{cmd: command(t, append([]string{"serve", "--addr", address, "--profile", "tiny"}, args...)...), banner: &bytes.Buffer{}}
	s.cmd.Dir, s.cmd.Stderr, s.cmd.SysProcAttr, s.url = folder, s.banner, who, "http://"+address
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		if answer, err := http.Get(s.url + "/sim/health"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return s
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no answer: %s", s.banner)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestOneServerAtATime refuses a second server on the same file, because each keeps derived data in memory, but allows verifying. A killed server
// does not block the next one.
func TestOneServerAtATime(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first := start(t, folder)
	second := command(t, "serve", "--addr", "127.0.0.1:0")
	second.Dir = folder
	if code, _, stderr := outcome(t, second); code != 1 || !strings.Contains(stderr, "another process serves this world") {
		t.Errorf("the second server: exit %d, %s", code, stderr)
	}
	if testing.Short() {
		t.Log("left out of a short run: verification beside the server")
	} else { // package seed tests verifying beside a writer
		verify := command(t, "verify")
		verify.Dir = folder
		if code, stdout, stderr := outcome(t, verify); code != 0 || !strings.Contains(stdout, "\nverified: ") {
			t.Errorf("verify beside a server: exit %d, %s", code, stderr)
		}
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.cmd.Wait()
	if err := start(t, folder).cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// TestTheClockOfAWorldAtRest moves the clock from the command line, and is refused while a server has the world. A world generated up to now stays
// the same later.
func TestTheClockOfAWorldAtRest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	run := func(args ...string) (int, string) {
		t.Helper()
		c := command(t, args...)
		c.Dir = folder
		code, stdout, stderr := outcome(t, c)
		return code, strings.TrimSpace(stdout + stderr)
	}
	if code, said := run("clock", "advance", "1h"); code != 1 || !strings.Contains(said, "no world") {
		t.Errorf("without a world: exit %d, %s", code, said)
	}
	if testing.Short() {
		t.Log("left out of a short run: making the world by the command")
		worldFile(t, filepath.Join(folder, "snowglobe.db"))
	} else if code, said := run("generate", "--profile", "tiny", "--quiet"); code != 0 {
		t.Errorf("generate: exit %d, %s", code, said)
	}
	for _, step := range []struct{ args, want string }{
		{"clock", "2026-11-01T00:00:00Z"},
		{"clock --db snowglobe.db advance 36h", "2026-11-02T12:00:00Z"},
		{"clock set 2026-12-01T00:00:00Z --db snowglobe.db", "2026-12-01T00:00:00Z"},
		{"clock show", "2026-12-01T00:00:00Z"},
		{"digest --until 2026-11-01T00:00:00Z --quiet", ""},
	} {
		if code, said := run(strings.Fields(step.args)...); code != 0 || step.want != "" && said != step.want {
			t.Errorf("%s: exit %d, %s", step.args, code, said)
		}
	}
	if code, said := run("clock", "set", "2026-11-15T00:00:00Z"); code != 1 || !strings.Contains(said, "never goes back") {
		t.Errorf("back: exit %d, %s", code, said)
	}
	if code, said := run("clock", "until", "next-validator-end"); code != 0 || !strings.HasPrefix(said, "2026-12-") {
		t.Errorf("until a validator's end: exit %d, %s", code, said)
	}
	server := start(t, folder)
	if code, said := run("clock", "advance", "1h"); code != 1 || !strings.Contains(said, "another process serves this world") {
		t.Errorf("beside a server: exit %d, %s", code, said)
	}
	if err := server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	server.cmd.Wait()
	if code, said := run("clock", "--live", "advance", "12h"); code != 0 || !strings.HasPrefix(said, "2026-12-") {
		t.Errorf("with people: exit %d, %s", code, said)
	}
	if code, said := run("verify"); code != 0 || !strings.Contains(said, "\nverified: ") || strings.Contains(said, " 600\n") {
		t.Errorf("verify: exit %d, %s", code, said)
	}

	before := time.Now().Add(-time.Second)
	run("generate", "--profile", "tiny", "--until", "now", "--db", "now.db")
	code, said := run("clock", "--db", "now.db", "--until", "now")
	if at, err := time.Parse(time.RFC3339, said); code != 0 || err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("until now: exit %d, %s", code, said)
	}
	time.Sleep(time.Second)
	if code, later := run("clock", "--db", "now.db", "--until", "now"); code != 0 || later != said {
		t.Errorf("a second later: exit %d, %s, want %s", code, later, said)
	}
}

func TestServeStopsCleanlyAndStartsAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for range 2 {
		s := start(t, folder, "--seed", "1")
		answer, err := http.Get(s.url + "/sim/world")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if !bytes.Contains(body, []byte("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")) {
			t.Errorf("/sim/world does not name alice: %.300s", body)
		}
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("exit after SIGTERM: %v, %s", err, s.banner)
		}
		for _, want := range []string{"seed 1, profile tiny", "43114", "43113", s.url + "/ext/bc/", "alice", "ac0974bec", "nobody"} {
			if !strings.Contains(s.banner.String(), want) {
				t.Errorf("the banner lacks %q:\n%s", want, s.banner)
			}
		}
		if strings.Count(s.banner.String(), "\n  curl ") != 2 {
			t.Errorf("the banner has not two lines to paste:\n%s", s.banner)
		}
		left, err := os.ReadDir(folder)
		if err != nil || len(left) != 1 || left[0].Name() != "snowglobe.db" {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// TestKilledGenerationLeavesNothingHalfMade kills generations at random times. Afterwards the file is complete or absent.
func TestKilledGenerationLeavesNothingHalfMade(t *testing.T) {
	t.Parallel()
	r, folder := rand.New(rand.NewPCG(1, 2)), t.TempDir()
	for range times(t, 12) {
		run := command(t, "generate", "--profile", "tiny", "--db", "w.db")
		run.Dir = folder
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(350)) * time.Millisecond)
		_ = run.Process.Kill() // it may have ended
		_ = run.Wait()
		if _, err := os.Stat(filepath.Join(run.Dir, "w.db")); errors.Is(err, os.ErrNotExist) {
			continue
		}
		verify := command(t, "verify", "--db", "w.db")
		verify.Dir = run.Dir
		if code, _, stderr := outcome(t, verify); code != 0 {
			t.Errorf("a killed generation left a file that does not verify: %s", stderr)
		}
		if err := os.Remove(filepath.Join(folder, "w.db")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTwoGenerationsOfOneFile: one makes the world, the other fails with a reason.
func TestTwoGenerationsOfOneFile(t *testing.T) {
	t.Parallel()
	first := command(t, "generate", "--profile", "tiny", "--db", "w.db")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if _, err := os.Stat(filepath.Join(first.Dir, "w.db.tmp")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	second := command(t, "generate", "--profile", "tiny", "--db", "w.db")
	second.Dir = first.Dir
	code, _, stderr := outcome(t, second)
	if code != 1 || !strings.Contains(stderr, "right now") && !strings.Contains(stderr, "exists already") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := first.Wait(); err != nil {
		t.Errorf("the first generation: %v", err)
	}
}

func TestEnvironmentSetsFlagsAndFlagsWin(t *testing.T) {
	t.Parallel()
	run := command(t, "generate", "--seed", "5", "--db", "w.db")
	run.Env = append(os.Environ(), "SNOWGLOBE_SEED=4", "SNOWGLOBE_PROFILE=tiny")
	code, _, stderr := outcome(t, run)
	if code != 0 || !strings.Contains(stderr, "seed 5, profile tiny") {
		t.Error(code, stderr)
	}
}
