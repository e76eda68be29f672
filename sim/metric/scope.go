package metric

import (
	"fmt"

	"snowglobe/fixtures"
)

// Scope is the subject of a metric: a chain, by its row id, or several chains together.
type Scope int

// Scopes of several chains.
const (
	Total   Scope = 0
	Mainnet Scope = -1
	Testnet Scope = -2
)

// ScopeOf returns a network's scope.
func ScopeOf(network string) (Scope, error) {
	switch network {
	case fixtures.MainnetName:
		return Mainnet, nil
	case fixtures.FujiName:
		return Testnet, nil
	}
	return 0, fmt.Errorf("unknown network %q", network)
}
