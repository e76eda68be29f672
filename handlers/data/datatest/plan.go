package datatest

import (
	"regexp"
	"testing"

	"snowglobe/sim/store"
)

var (
	wasteful = regexp.MustCompile(`^SCAN |TEMP B-TREE|MULTI-INDEX`)
	allowed  = regexp.MustCompile(`^SCAN (held|kept|found|k|item|\(subquery-\d+\)|CONSTANT ROW|\d+ CONSTANT ROWS?)$`) // they read only results that a statement made itself
	few      = regexp.MustCompile(`FROM (chain|persona|primary_network)\b`)                                           // a handful of rows, read completely
)

// ScansNothing checks the query plan of every statement that was prepared.
func ScansNothing(t testing.TB, db *store.DB) {
	t.Helper()
	for _, text := range db.Statements() {
		plan, err := db.Explain(t.Context(), text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		for _, step := range plan {
			if wasteful.MatchString(step) && !allowed.MatchString(step) && !few.MatchString(text) {
				t.Errorf("%s in\n%s\n%q", step, text, plan)
			}
		}
	}
}
