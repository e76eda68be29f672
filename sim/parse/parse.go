// Package parse parses ids and addresses as clients write them: cb58, node ids and bech32. It checks the length first: parsing cb58 takes
// quadratic time, and a client may send megabytes. So nothing else in the program calls avalanchego's parsers, which accept any length; a
// test makes sure of that.
package parse

import (
	"errors"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting/address"
)

// longest exceeds the text of any id or node id, which have at most 32 bytes and a checksum.
const longest = 64

// longestAddress is the maximum length of a bech32 address (BIP-173) with a chain's alias in front.
const longestAddress = 90 + 1 + 512

var errLong = errors.New("the text is longer than any id or address")

// ID parses an id in cb58.
func ID(text string) (ids.ID, error) {
	if len(text) > longest {
		return ids.Empty, errLong
	}
	return ids.FromString(text)
}

// ShortID parses the 20 bytes of an address or a node id in cb58.
func ShortID(text string) (ids.ShortID, error) {
	if len(text) > longest {
		return ids.ShortEmpty, errLong
	}
	return ids.ShortFromString(text)
}

// NodeID parses a node id with its prefix.
func NodeID(text string) (ids.NodeID, error) {
	if len(text) > longest {
		return ids.EmptyNodeID, errLong
	}
	return ids.NodeIDFromString(text)
}

// Address parses an address with a chain's alias in front, and returns the alias, the human-readable part and the bytes.
func Address(text string) (alias, hrp string, raw []byte, err error) {
	if len(text) > longestAddress {
		return "", "", nil, errLong
	}
	return address.Parse(text)
}

// Bech32 parses an address without a chain, and returns the human-readable part and the bytes.
func Bech32(text string) (hrp string, raw []byte, err error) {
	if len(text) > longestAddress {
		return "", nil, errLong
	}
	return address.ParseBech32(text)
}
