package metric

import "fmt"

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
	case "mainnet":
		return Mainnet, nil
	case "fuji":
		return Testnet, nil
	}
	return 0, fmt.Errorf("unknown network %q", network)
}
