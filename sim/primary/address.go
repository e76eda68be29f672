package primary

import (
	"fmt"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting/address"
)

// Address writes an address of a chain, such as P-avax1....
func (n *Network) Address(c Chain, a ids.ShortID) string {
	s, err := address.Format(c.String(), n.HRP, a[:])
	if err != nil {
		return a.String()
	}
	return s
}

// Bech32 writes an address without a chain, such as avax1....
func (n *Network) Bech32(a ids.ShortID) string {
	s, err := address.FormatBech32(n.HRP, a[:])
	if err != nil {
		return a.String()
	}
	return s
}

// ParseAddress reads an address of this network, with any chain's prefix or none, and reports the prefix.
func (n *Network) ParseAddress(s string) (ids.ShortID, string, error) {
	prefix, rest, found := strings.Cut(s, "-")
	if !found {
		prefix, rest = "", s
	}
	hrp, raw, err := address.ParseBech32(rest)
	if err != nil {
		return ids.ShortEmpty, prefix, fmt.Errorf("address %q: %w", s, err)
	}
	if hrp != n.HRP {
		return ids.ShortEmpty, prefix, fmt.Errorf("address %q: expected hrp %q but got %q", s, n.HRP, hrp)
	}
	a, err := ids.ToShortID(raw)
	if err != nil {
		return ids.ShortEmpty, prefix, fmt.Errorf("address %q: %w", s, err)
	}
	return a, prefix, nil
}
