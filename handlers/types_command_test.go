// The verb types of the built program.

//go:build !race

package handlers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTypesOfAWorld writes the names and the digest of exec's world, or of a world given as a database or a YAML file.
func TestTypesOfAWorld(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	run := func(want int, words ...string) (string, string) {
		t.Helper()
		c := command(t, words...)
		c.Dir = folder
		code, stdout, stderr := outcome(t, c)
		if code != want {
			t.Fatalf("%v: exit %d, %s", words, code, stderr)
		}
		return stdout, stderr
	}
	digest := regexp.MustCompile(`digest = "([0-9a-f]{64})"`)
	digestOf := func(words ...string) string {
		t.Helper()
		text, stderr := run(0, append([]string{"types", "--ts"}, words...)...)
		found := digest.FindStringSubmatch(text)
		if found == nil || stderr != "" {
			t.Fatalf("%v: %.200s %s", words, text, stderr)
		}
		return found[1]
	}
	usual := fmt.Sprintf("%x", readWorld(t).Digest())
	if digestOf() != usual {
		t.Error("another world than exec's")
	}
	w := copied(t, filepath.Join(folder, "later.db"))
	if err := w.Advance(t.Context(), w.Clock.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	later := fmt.Sprintf("%x", w.Digest())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := digestOf("--world", "later.db"); got != later || got == usual {
		t.Errorf("%s for the database, %s expected", got, later)
	}
	run(0, "init", "--quiet")
	own, stderr := run(0, "types", "--py", "--world", "world.yaml")
	if !strings.Contains(own, "profile: Final = ") || digest.FindString(strings.ReplaceAll(own, ": Final", "")) == "" || stderr != "" {
		t.Errorf("%.300s %s", own, stderr)
	}
	if err := os.WriteFile(filepath.Join(folder, "empty"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code  int
		words []string
		said  string
	}{
		{2, nil, "types: choose --ts, --go or --py"},
		{2, []string{"--ts", "--go"}, "types: choose only one of --ts, --go and --py"},
		{2, []string{"--ts", "--world", "nowhere.db"}, "open nowhere.db"},
		{2, []string{"--ts", "--world", "empty"}, "empty"},
		{1, []string{"--ts", "--db", "nowhere.db"}, "no world"},
	} {
		if _, stderr := run(c.code, append([]string{"types"}, c.words...)...); !strings.Contains(stderr, c.said) {
			t.Errorf("%v: %s, want %s", c.words, stderr, c.said)
		}
	}
}
