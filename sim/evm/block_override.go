package evm

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/store"
)

// Override lists a block's deviations from the network's rules that a client requested. The block's rows store it, so that the block can be
// made again.
type Override struct {
	Early    bool            // the block may follow its parent a millisecond later, sooner than ACP-226 allows
	BaseFee  *big.Int        // wei; nil follows the rules, and so below
	GasLimit *uint64         // also the most that the block can use, regardless of the capacity
	Coinbase *common.Address // gets the fees

	// SettlesAfter is the milliseconds from the execution of a block until this one may settle it, on a C-Chain since Helicon; 0 follows the rules.
	SettlesAfter uint64
}

var errBaseFee = errors.New("a base fee has at most 256 bits")

// apply overrides fields of a header that is known up to its execution.
func (o Override) apply(h *Header) error {
	if o.BaseFee != nil {
		if o.BaseFee.Sign() < 0 || o.BaseFee.Cmp(maxFee) > 0 {
			return fmt.Errorf("%w: %s", errBaseFee, o.BaseFee)
		}
		h.BaseFee = new(big.Int).Set(o.BaseFee)
	}
	if o.GasLimit != nil {
		h.GasLimit = *o.GasLimit
	}
	if o.Coinbase != nil {
		h.Coinbase = *o.Coinbase
	}
	return nil
}

// row returns the override as stored in the file, nil for none.
func (o Override) row(block store.Position) *store.BlockOverride {
	if o == (Override{}) {
		return nil
	}
	r := &store.BlockOverride{ID: block, Early: o.Early}
	if o.BaseFee != nil {
		r.BaseFee = common.BigToHash(o.BaseFee).Bytes()
	}
	if o.GasLimit != nil {
		r.GasLimit = new(store.Amount(*o.GasLimit))
	}
	if o.Coinbase != nil {
		r.Coinbase = o.Coinbase.Bytes()
	}
	if o.SettlesAfter != 0 {
		r.SettlesAfter = new(int64(o.SettlesAfter))
	}
	return r
}

// OverrideOf returns the override of a stored block, nil for none.
func OverrideOf(r *store.BlockOverride) (o Override) {
	if r == nil {
		return o
	}
	o.Early = r.Early
	if r.BaseFee != nil {
		o.BaseFee = new(big.Int).SetBytes(r.BaseFee)
	}
	if r.GasLimit != nil {
		o.GasLimit = new(uint64(*r.GasLimit))
	}
	if r.Coinbase != nil {
		o.Coinbase = new(common.BytesToAddress(r.Coinbase))
	}
	if r.SettlesAfter != nil {
		o.SettlesAfter = uint64(*r.SettlesAfter)
	}
	return o
}

func valueOf(n *store.Amount) uint64 {
	if n == nil {
		return 0
	}
	return uint64(*n)
}

// A transaction of an impersonated account has no signature. Its signature fields hold the sender instead, so that equal transactions of two
// accounts have different hashes: R is the address after twelve bytes of which the last is 1, and S is 1. These bytes prove nothing about the
// sender: a block has a row for each such transaction.

const impersonated = 1

// Impersonate puts the sender where a transaction has its signature.
func Impersonate(tx *types.Transaction, chainID *big.Int, sender common.Address) (*types.Transaction, error) {
	signature := make([]byte, crypto.SignatureLength)
	signature[common.HashLength-common.AddressLength-1] = impersonated
	copy(signature[common.HashLength-common.AddressLength:], sender[:])
	signature[2*common.HashLength-1] = impersonated
	return tx.WithSignature(types.LatestSignerForChainID(chainID), signature)
}

// Impersonates reports whether a transaction has an account where others have a signature.
func Impersonates(tx *types.Transaction, sender common.Address) bool {
	_, r, s := tx.RawSignatureValues()
	if !s.IsUint64() || s.Uint64() != impersonated || r.BitLen() != 8*common.AddressLength+1 {
		return false
	}
	return bytes.Equal(r.Bytes()[1:], sender[:])
}
