package data_test

import (
	"context"
	"testing"

	"snowglobe/sim/primary"
)

// owner is a persona's address on a network.
func owner(t testing.TB, g *globe, network, name string) string {
	t.Helper()
	personas, err := g.DB.Personas(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	rules := primary.Mainnet
	if network == "fuji" {
		rules = primary.Fuji
	}
	for _, p := range personas {
		if p.Name == name {
			key, err := primary.KeyFromBytes(p.Key)
			if err != nil {
				t.Fatal(err)
			}
			return rules.Bech32(key.Address())
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}
