package evm

import (
	"errors"

	"github.com/holiman/uint256"
)

// weiPerNano converts nAVAX, the unit of the P-Chain and the X-Chain, to wei.
var weiPerNano = uint256.NewInt(1_000_000_000)

// errNotCChain says that only a C-Chain has atomic transactions.
var errNotCChain = errors.New("only the C-Chain moves value to and from other chains")
