package docs_test

import (
	"testing"

	"snowglobe/handlers/docs"
	"snowglobe/seed/seedtest"
)

// TestKnownAddresses checks that contracts have code exactly where the manual says they do.
func TestKnownAddresses(t *testing.T) {
	c := seedtest.Shared(t, "tiny", 1).Chains[0]
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states, err := c.State(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range docs.KnownAddresses() {
		if there := k.Set == "" && k.Absent == ""; there != (len(states.GetCode(k.Address)) > 0) {
			t.Errorf("%s at %s: the manual says there: %t", k.Contract, k.Address, there)
		}
	}
}
