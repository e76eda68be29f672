// The manual's list of known addresses, checked against the chains of a served world.

package handlers_test

import (
	"testing"

	"snowglobe/handlers/docs"
)

// TestKnownAddresses checks that contracts have code exactly where the manual says they do.
func TestKnownAddresses(t *testing.T) {
	w := tinyWorld(t)
	c := w.Chains[0]
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
