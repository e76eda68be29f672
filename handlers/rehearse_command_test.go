//go:build unix && !race

// Commands that a server starts: a rehearsal in two worlds, and a session that is recorded and played.

package handlers_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"snowglobe/handlers/rehearse"
)

// TestRehearseACommand runs a command three times, in two worlds; the exit code says whether it behaved the same.
func TestRehearseACommand(t *testing.T) {
	t.Parallel()
	runs := filepath.Join(t.TempDir(), "runs")
	c := command(t, "rehearse", "--upgrade", "helicon", "--json", "--", "sh", "-c", "echo $SNOWGLOBE_ALICE_ADDRESS >>"+runs+"; echo said")
	code, stdout, stderr := outcome(t, c)
	var report rehearse.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 || !report.Same || report.Change.Name != "helicon" {
		t.Errorf("%d %v %s", code, err, stdout)
	}
	if strings.Count(stderr, "said") != 2 {
		t.Errorf("its output is not shown once for each world: %s", stderr)
	}
	if raw, err := os.ReadFile(runs); err != nil || strings.Count(string(raw), "0x") != 3 {
		t.Errorf("%v %s", err, raw)
	}

	third := "echo >>" + runs + "; test $(wc -l <" + runs + ") -ne 6"
	code, stdout, _ = outcome(t, command(t, "rehearse", "--against", "seed=2", "--", "sh", "-c", third))
	if code != 1 || !strings.Contains(stdout, "it exits with code 0 before and 1 after") {
		t.Errorf("%d %s", code, stdout)
	}
	for _, c := range []struct{ args, want string }{
		{"--against strict --upgrade helicon", "rehearse: expected how the second world differs"},
		{"--against weather=fine", `--against: "weather=fine": expected how the second world differs`},
		{"--against seed=x", `--against: seed "x" is not a whole number`},
		{"", "rehearse: expected how the second world differs"},
	} {
		args := append(append([]string{"rehearse"}, strings.Fields(c.args)...), "--", "true")
		if code, _, stderr := outcome(t, command(t, args...)); code != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d %s", c.args, code, stderr)
		}
	}
	if code, _, stderr := outcome(t, command(t, "rehearse", "--upgrade", "helium", "--", "true")); code == 0 || !strings.Contains(stderr, `unknown upgrade "helium"`) {
		t.Errorf("%d %s", code, stderr)
	}
}

// TestPlayACommandsSession records what a command does and plays it on a file and on a running server.
func TestPlayACommandsSession(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, recorded := filepath.Join(folder, "first.session"), filepath.Join(folder, "second.session")
	if err := os.WriteFile(file, []byte("alice sends 1.5 AVAX to bob on C\nclock advance 1h\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	c := command(t, "exec", "--record", recorded, "--", "sh", "-c", path+" play --addr ${SNOWGLOBE_URL#http://} "+file)
	code, digest, stderr := outcome(t, c)
	if code != 0 || len(strings.TrimSpace(digest)) != 64 {
		t.Fatalf("%d %s %s", code, digest, stderr)
	}
	raw, err := os.ReadFile(recorded)
	if err != nil || !strings.Contains(string(raw), "\nalice sends 1.5 AVAX to bob on C\nclock to 2026-11-01T01:00:") || !strings.Contains(string(raw), "# digest "+digest) {
		t.Errorf("%v\n%s", err, raw)
	}
	play := func(session string) *exec.Cmd {
		c := command(t, "play", "--db", "w.db", "--quiet", session)
		worldFile(t, filepath.Join(c.Dir, "w.db"))
		return c
	}
	for _, played := range []string{file, recorded} {
		if code, stdout, stderr := outcome(t, play(played)); code != 0 || stdout != digest {
			t.Errorf("%s: %d %s %s, the digest was %s", played, code, stdout, stderr, digest)
		}
	}
	if err := os.WriteFile(file, []byte("\nalice sends 1.5 AVAX to bobo on C\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := outcome(t, play(file)); code != 1 || !strings.Contains(stderr, `first.session: line 2: "bobo" is not an account, contract or address`) {
		t.Errorf("%d %s", code, stderr)
	}
}
