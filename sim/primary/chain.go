package primary

import (
	"github.com/ava-labs/avalanchego/codec"
	"github.com/ava-labs/avalanchego/ids"
)

// Chain is one of the three chains of the primary network. Each has its own table of type ids.
type Chain uint8

// The chains of the primary network.
const (
	PChain Chain = iota
	XChain
	CChain
)

// String is the alias under which the network knows the chain: "P", "X" or "C". Addresses begin with it.
func (c Chain) String() string { return [...]string{"P", "X", "C"}[c] }

// codec is the manager that knows the chain's type ids.
func (c Chain) codec() codec.Manager { return codecs[c] }

// BlockchainID is the id of one of the primary network's chains; the P-chain's is the zero id.
func (n *Network) BlockchainID(c Chain) ids.ID {
	return [...]ids.ID{ids.Empty, n.XChainID, n.CChainID}[c]
}

// ChainOf names the chain of the primary network that has this blockchain id.
func (n *Network) ChainOf(blockchainID ids.ID) (Chain, bool) {
	for _, c := range []Chain{PChain, XChain, CChain} {
		if n.BlockchainID(c) == blockchainID {
			return c, true
		}
	}
	return 0, false
}
