package describe_test

import (
	"regexp"
	"testing"

	"snowglobe/handlers/control/describe"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/store"
)

// TestADescriptionScansNoTable describes a world and then asks how the database looked for it.
func TestADescriptionScansNoTable(t *testing.T) {
	w := seedtest.Generate(t, store.Memory, "tiny", 1)
	defer w.Close()
	d, err := describe.Read(t.Context(), w)
	if err != nil || len(d.Chains) != len(w.Chains) || len(d.Networks) != len(w.Networks) {
		t.Fatal(d, err)
	}
	few := regexp.MustCompile(`FROM (chain|persona|primary_network)\b`)
	recursion := regexp.MustCompile(`^SCAN found$`) // the steps of a WITH found
	for _, text := range w.DB.Statements() {
		steps, err := w.DB.Explain(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			if regexp.MustCompile(`^SCAN |TEMP B-TREE`).MatchString(step) && !few.MatchString(text) && !recursion.MatchString(step) {
				t.Errorf("%s in %s", step, text)
			}
		}
	}
}
