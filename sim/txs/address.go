package txs

import (
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting/address"
)

// FormatAddress formats an address of a chain on the network with this human-readable part, such as P-avax1....
func FormatAddress(c Chain, hrp string, a ids.ShortID) string {
	s, err := address.Format(c.String(), hrp, a[:])
	if err != nil {
		return a.String()
	}
	return s
}

// FormatBech32 formats an address without a chain, such as avax1....
func FormatBech32(hrp string, a ids.ShortID) string {
	s, err := address.FormatBech32(hrp, a[:])
	if err != nil {
		return a.String()
	}
	return s
}
