package warp

import (
	"bytes"
	"errors"
	"math/big"
	"math/bits"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
)

// Validator is a validator of a subnet at a P-Chain height. Without a key it counts in the weight but cannot sign.
type Validator struct {
	NodeID    ids.NodeID
	PublicKey *PublicKey
	Weight    uint64
}

// CanonicalValidator is one entry of the canonical set: a public key with the weight of all validators that share it.
type CanonicalValidator struct {
	PublicKey *PublicKey
	Weight    uint64
	NodeIDs   []ids.NodeID
	key       [2 * PublicKeyLen]byte
}

// CanonicalValidatorSet holds a subnet's validators in the order in which signatures name them: ascending by uncompressed key. TotalWeight
// includes validators without a key.
type CanonicalValidatorSet struct {
	Validators  []*CanonicalValidator
	TotalWeight uint64
}

// ErrWeightOverflow refuses a set whose weights do not fit 64 bits.
var ErrWeightOverflow = errors.New("weight overflowed")

// NewCanonicalValidatorSet merges validators that share a key, and sorts them.
func NewCanonicalValidatorSet(validators []Validator) (*CanonicalValidatorSet, error) {
	set := &CanonicalValidatorSet{}
	byKey := make(map[[2 * PublicKeyLen]byte]*CanonicalValidator, len(validators))
	all, nodes := make([]CanonicalValidator, 0, len(validators)), make([]ids.NodeID, 0, len(validators)) // few allocations: there are many large sets
	for _, v := range validators {
		total, carry := bits.Add64(set.TotalWeight, v.Weight, 0)
		if carry != 0 {
			return nil, ErrWeightOverflow
		}
		set.TotalWeight = total
		if v.PublicKey == nil {
			continue
		}
		key := v.PublicKey.Uncompressed()
		validator := byKey[key]
		if validator == nil {
			all, nodes = append(all, CanonicalValidator{PublicKey: v.PublicKey, key: key}), append(nodes, v.NodeID)
			validator = &all[len(all)-1]
			validator.NodeIDs = nodes[len(nodes)-1 : len(nodes) : len(nodes)]
			byKey[key] = validator
			set.Validators = append(set.Validators, validator)
		} else {
			validator.NodeIDs = append(validator.NodeIDs, v.NodeID)
		}
		validator.Weight += v.Weight
	}
	set.order()
	return set, nil
}

func (s *CanonicalValidatorSet) order() {
	slices.SortFunc(s.Validators, func(a, b *CanonicalValidator) int { return bytes.Compare(a.key[:], b.key[:]) })
	for _, m := range s.Validators {
		slices.SortFunc(m.NodeIDs, ids.NodeID.Compare)
	}
}

// SignerBits encodes indices into the canonical set as the signature does: a big-endian number without leading zeros.
func SignerBits(indices []int) []byte {
	set := new(big.Int)
	for _, i := range indices {
		set.SetBit(set, i, 1)
	}
	return set.Bytes()
}

// SignerIndices parses the output of SignerBits; it refuses padding, which would give one message two forms.
func SignerIndices(b []byte) ([]int, error) {
	set := new(big.Int).SetBytes(b)
	if len(set.Bytes()) != len(b) {
		return nil, ErrInvalidBitSet
	}
	var indices []int
	for i := range set.BitLen() {
		if set.Bit(i) == 1 {
			indices = append(indices, i)
		}
	}
	return indices, nil
}
