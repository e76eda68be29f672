package eth

import (
	"strconv"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// netAPI has the methods of the net namespace.
type netAPI struct{ chainID uint64 }

// Version is the chain id in decimal.
func (a *netAPI) Version() string { return strconv.FormatUint(a.chainID, 10) }

// Listening is always true.
func (a *netAPI) Listening() bool { return true }

// PeerCount is zero: no node talks to another one by Ethereum's protocol here.
func (a *netAPI) PeerCount() hexutil.Uint { return 0 }

// web3API has the methods of the web3 namespace.
type web3API struct{ version string }

// ClientVersion is the version of the node's EVM.
func (a *web3API) ClientVersion() string { return a.version }

// Sha3 is the Keccak-256 of some bytes.
func (a *web3API) Sha3(input hexutil.Bytes) hexutil.Bytes { return crypto.Keccak256(input) }
