package metric

import (
	"fmt"

	"snowglobe/fixtures"
)

// Scope is what a metric is about: a chain, by its row id, or several chains together.
type Scope int

// The scopes of more than one chain.
const (
	Total   Scope = 0
	Mainnet Scope = -1
	Testnet Scope = -2
)

// ScopeOf is the scope of a network by its name.
func ScopeOf(network string) (Scope, error) {
	switch network {
	case fixtures.MainnetName:
		return Mainnet, nil
	case fixtures.FujiName:
		return Testnet, nil
	}
	return 0, fmt.Errorf("unknown network %q", network)
}
