package txs

import (
	"github.com/ava-labs/avalanchego/codec"
)

// Chain is one of the three chains of the primary network. Each has its own table of type ids.
type Chain uint8

// The chains of the primary network.
const (
	PChain Chain = iota
	XChain
	CChain
)

// String is the primary alias of the chain: "P", "X" or "C". Addresses begin with it.
func (c Chain) String() string { return [...]string{"P", "X", "C"}[c] }

// codec is the manager with the chain's type ids.
func (c Chain) codec() codec.Manager { return codecs[c] }
