package node

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// statements matches words of statements, which no client may see.
var statements = regexp.MustCompile(`(?i)\bsql|\bselect\b|\binsert\b|\bupdate \w+ set\b|\bwhere\b.*\?|\bpragma\b|\bjoin\b|constraint|database|no such|converting|damaged|\btable\b`)

// TestFailuresHoldNoSQL sends every request of the transcripts to a node whose file was closed, and to nodes whose tables another program dropped:
// each failure is a clear sentence.
func TestFailuresHoldNoSQL(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(transcripts, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, broken := range []struct {
		name, why string
		breaks    func(t *testing.T, w *testWorld, path string)
	}{
		{"closed", "internal error: the simulator's log has the cause", func(t *testing.T, w *testWorld, _ string) { w.db.Close() }},
		{"without tables", "internal error: the simulator's log has the cause", func(t *testing.T, _ *testWorld, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, table := range []string{"tx", "block", "log", "account", "slot", "holding", "code", "primary_tx", "utxo", "staker"} {
				if _, err := db.Exec("DROP TABLE " + table); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"without a column", "internal error: the simulator's log has the cause", func(t *testing.T, _ *testWorld, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, column := range []string{"tx.gas_used", "block.digest", "log.data"} {
				table, name, _ := strings.Cut(column, ".")
				if _, err := db.Exec("ALTER TABLE " + table + " RENAME COLUMN " + name + " TO other"); err != nil {
					t.Fatal(err)
				}
			}
		}},
	} {
		t.Run(broken.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "w.db")
			w := newTestWorldAt(t, path)
			broken.breaks(t, w, path)
			failures := 0
			for _, file := range files {
				script, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				asked := ""
				for line := range strings.Lines(string(converse(t, w.server.URL, w.names(), string(script)))) {
					answer, isAnswer := strings.CutPrefix(line, "<-- ")
					if !isAnswer {
						asked = line
						continue
					}
					if strings.Contains(answer, broken.why) {
						failures++
					}
					if found := statements.FindString(answer); found != "" {
						t.Errorf("%s%.300s: it holds %q", asked, answer, found)
					}
				}
			}
			if failures < 20 {
				t.Errorf("%d answers say %q", failures, broken.why)
			}
		})
	}
}
