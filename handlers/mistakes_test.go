// Every mistake that the manual explains, made with the built program.

//go:build unix && !race

package handlers_test

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"snowglobe/handlers/docs"
)

// mistaken holds the files for the mistakes.
var mistaken = map[string]string{
	"misspelt.yaml": "seed: 1\nsede: 2\n", "list.yaml": "- tiny\n", "broken.yaml": "seed: [1\n", "mapping.yaml": "key: one\n", "notes.txt": "SQLite format 3\x00 not really",
	"amounts.yaml": "name: mine\naccounts:\n- name: carol\n  index: 11\n  balances:\n    C: 1,5\n", "keys.yaml": "name: mine\nacounts: []\n", "impossible.yaml": "name: mine\ndays: 1\n",
	"here.yaml": "name: mine\n",
}

// tenYears from now ends the program's message about the span of a history.
var tenYears = regexp.MustCompile(`to 20[3-9]\d-[-0-9T:]+Z$`)

// TestMistakes makes every mistake of the manual and compares the program's messages. -update rewrites them.
func TestMistakes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range mistaken {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"world.db", "served.db", "torn.db", "older.db"} {
		worldFile(t, filepath.Join(folder, name))
	}
	for name, mode := range map[string]os.FileMode{"folder": 0o755, "locked": 0o555} {
		if err := os.Mkdir(filepath.Join(folder, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(folder, "torn.db"), 1<<20); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, "older.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE meta SET generator = '1'"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path, _ := binary()
	for _, name := range []string{filepath.Dir(path), filepath.Dir(folder)} { // for users without privileges
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	server := start(t, folder, "--db", "served.db")
	defer server.cmd.Process.Kill()
	ports := strings.NewReplacer("127.0.0.1:9650", strings.TrimPrefix(server.url, "http://"), "127.0.0.1:8080", taken.Addr().String())
	back := strings.NewReplacer(strings.TrimPrefix(server.url, "http://"), "127.0.0.1:9650", taken.Addr().String(), "127.0.0.1:8080")

	all := docs.Mistakes()
	if len(all) < 30 {
		t.Fatalf("%d mistakes", len(all))
	}
	var running sync.WaitGroup
	slots := make(chan struct{}, 4)
	said := make([]docs.Mistake, len(all))
	for i, m := range all {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			words, env := strings.Fields(ports.Replace(m.Command)), ""
			if strings.Contains(words[0], "=") {
				env, words = words[0], words[1:]
			}
			run := command(t, words[1:]...)
			run.Dir, run.Env = folder, append(os.Environ(), "SNOWGLOBE_ADDR=127.0.0.1:0", "SNOWGLOBE_FUJI_ADDR=off", env)
			if strings.Contains(m.Command, "locked/") {
				run.SysProcAttr = modest()
			}
			code, stdout, stderr := outcome(t, run)
			first, _, _ := strings.Cut(back.Replace(stderr), "\n")
			said[i] = docs.Mistake{Section: m.Section, Command: m.Command, Says: tenYears.ReplaceAllString(strings.TrimPrefix(first, "snowglobe: "), "to …")}
			if code != 2 && code != 1 || stdout != "" || said[i].Says == "" {
				t.Errorf("%s: exit %d, stdout %q, stderr %q", m.Command, code, stdout, stderr)
			}
			if usage := !strings.Contains("The world's file Ports", m.Section); usage && code != 2 && !strings.HasPrefix(m.Command, "snowglobe init") {
				t.Errorf("%s: exit %d", m.Command, code)
			}
		})
	}
	running.Wait()
	if *update {
		if err := os.WriteFile("docs/mistakes.txt", []byte(formatMistakes(said)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i := range all {
		if said[i] != all[i] {
			t.Errorf("%s:\n got %s\nwant %s", all[i].Command, said[i].Says, all[i].Says)
		}
	}
}

// formatMistakes writes mistakes in the format that docs.Mistakes reads.
func formatMistakes(all []docs.Mistake) string {
	b, section := new(strings.Builder), ""
	for _, m := range all {
		if m.Section != section {
			section = m.Section
			fmt.Fprintf(b, "\n# %s\n\n", section)
		}
		fmt.Fprintf(b, "%s\n\t%s\n", m.Command, m.Says)
	}
	return strings.TrimPrefix(b.String(), "\n")
}
