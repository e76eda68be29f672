// Package parse reads the texts in which clients write ids and addresses: cb58, node ids and bech32. Each is as long as it can
// be at most, which is checked first: reading cb58 costs the square of the length, and a client may send megabytes. So nothing
// else in the program calls avalanchego's readers of texts, which take any length; a test sees to that.
package parse

import (
	"errors"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting/address"
)

// longest is more than the text of an id or a node id takes, which have 32 bytes and a checksum at most.
const longest = 64

// longestAddress is what an address in bech32 takes at most (BIP-173), and the alias of a chain in front of it.
const longestAddress = 90 + 1 + 512

var errLong = errors.New("the text is longer than any id or address")

// ID reads an id in cb58.
func ID(text string) (ids.ID, error) {
	if len(text) > longest {
		return ids.Empty, errLong
	}
	return ids.FromString(text)
}

// ShortID reads the 20 bytes of an address or a node id in cb58.
func ShortID(text string) (ids.ShortID, error) {
	if len(text) > longest {
		return ids.ShortEmpty, errLong
	}
	return ids.ShortFromString(text)
}

// NodeID reads a node id with its prefix.
func NodeID(text string) (ids.NodeID, error) {
	if len(text) > longest {
		return ids.EmptyNodeID, errLong
	}
	return ids.NodeIDFromString(text)
}

// Address reads an address with the alias of a chain in front: the alias, the human-readable part and the bytes.
func Address(text string) (alias, hrp string, raw []byte, err error) {
	if len(text) > longestAddress {
		return "", "", nil, errLong
	}
	return address.Parse(text)
}

// Bech32 reads an address without a chain: the human-readable part and the bytes.
func Bech32(text string) (hrp string, raw []byte, err error) {
	if len(text) > longestAddress {
		return "", nil, errLong
	}
	return address.ParseBech32(text)
}
