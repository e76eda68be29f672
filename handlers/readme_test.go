// Every command of the README and the manual, run like a reader would.

//go:build !race

package handlers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// commands returns the lines of the shell blocks in the README and the manual's pages.
func commands(t *testing.T) (lines []string) {
	files, err := filepath.Glob("docs/pages/*.md")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range append([]string{"../README.md"}, files...) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inside := false
		for line := range strings.Lines(strings.ReplaceAll(string(raw), "\\\n", "")) {
			line = strings.TrimSpace(line)
			switch {
			case line == "```sh":
				inside = true
			case strings.HasPrefix(line, "```"):
				inside = false
			case inside && line != "":
				lines = append(lines, line)
			}
		}
	}
	if len(lines) < 10 {
		t.Fatalf("only %d commands in the README and the manual", len(lines))
	}
	return lines
}

// TestReadmeCommands runs every command of the README and the manual: servers until they answer, questions against the server started last,
// everything else to its end. Targets of make that would run this very test are only looked up.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var last *started
	for _, line := range commands(t) {
		if rest, ok := strings.CutPrefix(line, "snowglobe "); ok {
			line = "go run . " + strings.ReplaceAll(rest, "npm test", "true")
		}
		words := strings.Fields(line)
		switch {
		case words[0] == "make":
			if out, err := exec.Command("make", "-C", "..", "-n", words[1]).CombinedOutput(); err != nil {
				t.Errorf("%s: %s", line, out)
			}
		case words[0] == "curl":
			ask := exec.Command("sh", "-c", "set -e; "+strings.ReplaceAll(line, "curl -s", "curl -sf")+" | grep -q .")
			ask.Args[2] = strings.ReplaceAll(ask.Args[2], "http://127.0.0.1:9650", last.url)
			if out, err := ask.CombinedOutput(); err != nil {
				t.Errorf("%s: %v %s", line, err, out)
			}
		case strings.HasPrefix(line, "go run .") && (len(words) == 3 || words[3] == "serve"):
			last = serveLine(t, folder, words[3:])
		case strings.HasPrefix(line, "go run ."):
			run := command(t, words[3:]...)
			run.Dir = folder
			if code, _, stderr := outcome(t, run); code != 0 {
				t.Errorf("%s: exit %d: %s", line, code, stderr)
			}
		default:
			t.Errorf("this test does not know how to run %q", line)
		}
	}
}

// serveLine starts the server of a README line with its own flags, except for the address and, if not given, the size.
func serveLine(t *testing.T, folder string, words []string) *started {
	var args []string
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "serve":
		case "--addr":
			i++
		default:
			args = append(args, words[i])
		}
	}
	return start(t, filepath.Clean(folder), args...)
}
