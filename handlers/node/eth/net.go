package eth

import (
	"strconv"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// netAPI has the methods of the net namespace.
type netAPI struct{ chainID uint64 }

// Version is the chain id in decimal.
func (a *netAPI) Version() string { return strconv.FormatUint(a.chainID, 10) }

// Listening is always true.
func (a *netAPI) Listening() bool { return true }

// PeerCount is zero: no node talks to another one by Ethereum's protocol here.
func (a *netAPI) PeerCount() hexutil.Uint { return 0 }
