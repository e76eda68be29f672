package export

import (
	"strings"
	"testing"

	"snowglobe/seed/seedtest"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
)

// TestTheDocumentNamesEveryColumn: the description of the operation that starts exports has each type with each of its columns.
func TestTheDocumentNamesEveryColumn(t *testing.T) {
	text := exportDoc()
	if !strings.HasPrefix(text, "The response comes at once") {
		t.Errorf("it begins %.40q", text)
	}
	parts := strings.Split(text, "\n\nColumns of ")[1:]
	if len(parts) != len(export.Types) {
		t.Fatalf("it describes %d types: want %d", len(parts), len(export.Types))
	}
	for i, kind := range export.Types {
		lines := strings.Split(parts[i], "\n\n")
		if lines[0] != string(kind)+":" || strings.Count(parts[i], "\n- ") != len(kind.Columns()) {
			t.Errorf("%s has %d columns: want %d", lines[0], strings.Count(parts[i], "\n- "), len(kind.Columns()))
		}
		for _, c := range kind.Columns() {
			if c.Doc == "" || !strings.Contains(parts[i], "\n- "+c.Name+": "+c.Doc) {
				t.Errorf("%s does not describe %s", kind, c.Name)
			}
		}
	}
}

// TestProgressIsToldInWords describes an export at each stage after it has begun.
func TestProgressIsToldInWords(t *testing.T) {
	a := &exportAPI{exports: export.NewJobs(seedtest.Shared(t, "tiny", 1), export.Options{})}
	for _, c := range []struct {
		status        string
		rows, reached int64
		message, want string
	}{
		{store.OperationRunning, 0, 0, "", "has begun"},
		{store.OperationRunning, 1, 2*86400 + 1, "", "1 rows so far, up to 1970-01-03"},
		{store.OperationCompleted, 0, 0, "", "0 rows"},
		{store.OperationCompleted, 12, 86400, "", "12 rows"},
		{store.OperationRunning, 12, 86400, "is stopped", "is stopped"},
	} {
		o := store.Operation{ID: 7}
		o.Status, o.Rows, o.Reached, o.Message = c.status, c.rows, c.reached, c.message
		if have := a.progress(&o); have != c.want {
			t.Errorf("%+v is %q", c, have)
		}
	}
}
