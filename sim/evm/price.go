package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/core/types"
)

// EffectivePrice is what a transaction pays for each unit of gas in a block with this base fee.
func EffectivePrice(tx *types.Transaction, baseFee *big.Int) *big.Int {
	return effectiveGasPrice(tx, baseFee)
}
