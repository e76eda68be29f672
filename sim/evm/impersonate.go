package evm

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// Nobody signs a transaction of an account that a client impersonates. Where other transactions have a signature it has its
// sender, so that equal transactions of two accounts have two hashes: R is the address after twelve bytes of which the last is 1,
// S is 1. Who is sender is not for the bytes to say: a block has a row for each such transaction.

const impersonated = 1

// Impersonate gives a transaction what stands for its sender's signature.
func Impersonate(tx *types.Transaction, chainID *big.Int, sender common.Address) (*types.Transaction, error) {
	signature := make([]byte, crypto.SignatureLength)
	signature[common.HashLength-common.AddressLength-1] = impersonated
	copy(signature[common.HashLength-common.AddressLength:], sender[:])
	signature[2*common.HashLength-1] = impersonated
	return tx.WithSignature(types.LatestSignerForChainID(chainID), signature)
}

// Impersonates says whether a transaction has what stands for the signature of an account.
func Impersonates(tx *types.Transaction, sender common.Address) bool {
	_, r, s := tx.RawSignatureValues()
	if !s.IsUint64() || s.Uint64() != impersonated || r.BitLen() != 8*common.AddressLength+1 {
		return false
	}
	return bytes.Equal(r.Bytes()[1:], sender[:])
}
