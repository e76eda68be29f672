package node

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"snowglobe/sim/store"
)

var (
	wasteful = regexp.MustCompile(`^SCAN |TEMP B-TREE`)
	page     = regexp.MustCompile(`^SCAN (\(subquery-\d+\)|found)$`) // parts of a statement that need all their rows
)

// TestQueryPlans replays every transcript and then checks how each statement finds its rows: none may scan a table or sort.
func TestQueryPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	w := newTestWorldAt(t, path)
	files, err := filepath.Glob(filepath.Join(transcripts, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		converse(t, w.server.URL, w.names(), string(script))
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	statements := w.db.Statements()
	if len(statements) < 10 {
		t.Fatalf("only %d statements", len(statements))
	}
	for _, statement := range statements {
		for _, step := range plan(t, db, statement) {
			if wasteful.MatchString(step) && !page.MatchString(step) {
				t.Errorf("%s\n  %s", statement, step)
			}
		}
	}
	primaryPlans(t, w.networks[0].DB)
}

// primaryPlans checks the statements about P and X. The tables of chains, personas and networks are small.
func primaryPlans(t *testing.T, db *store.DB) {
	few := regexp.MustCompile(`FROM (chain|persona|primary_network)\b`)
	for _, statement := range db.Statements() {
		if few.MatchString(statement) {
			continue
		}
		for _, step := range must[[]string](t)(db.Explain(t.Context(), statement)) {
			if wasteful.MatchString(step) {
				t.Errorf("%s\n  %s", statement, step)
			}
		}
	}
}

func plan(t *testing.T, db *sql.DB, statement string) (steps []string) {
	t.Helper()
	args := make([]any, strings.Count(statement, "?"))
	rows, err := db.Query("EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	return steps
}
