package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"snowglobe/sim/export"
)

// TestExportColumns compares the README with the columns that exports have.
func TestExportColumns(t *testing.T) {
	var b strings.Builder
	full := map[string]string{}
	for _, kind := range []export.Type{export.EVM, export.Primary} {
		fmt.Fprintf(&b, "| column of `%s` | what it holds |\n|---|---|\n", kind)
		for _, c := range kind.Columns() {
			fmt.Fprintf(&b, "| `%s` | %s |\n", c.Name, c.Doc)
			full[c.Name] = c.Doc
		}
		b.WriteString("\n")
	}
	for _, part := range []struct {
		kind export.Type
		rows string
	}{{export.Simple, "the same rows"}, {export.Staking, "of these rows those of staking, of its end and of rewards"}} {
		var names []string
		for _, c := range part.kind.Columns() {
			if full[c.Name] != c.Doc {
				t.Errorf("%s of %s is %q elsewhere", c.Name, part.kind, full[c.Name])
			}
			names = append(names, "`"+c.Name+"`")
		}
		fmt.Fprintf(&b, "`%s` has %s with %s.\n\n", part.kind, part.rows, strings.Join(names, ", "))
	}
	compareSection(t, "columns", strings.TrimSpace(b.String())+"\n")
}
