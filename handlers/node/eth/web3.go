package eth

import (
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// web3API has the methods of the web3 namespace.
type web3API struct{ version string }

// ClientVersion is the version of the node's EVM.
func (a *web3API) ClientVersion() string { return a.version }

// Sha3 is the Keccak-256 of some bytes.
func (a *web3API) Sha3(input hexutil.Bytes) hexutil.Bytes { return crypto.Keccak256(input) }
