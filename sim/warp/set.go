package warp

import (
	"bytes"
	"errors"
	"math/big"
	"math/bits"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
)

// Validator is a validator of a subnet at a P-Chain height. One without a key counts in the weight but cannot sign.
type Validator struct {
	NodeID    ids.NodeID
	PublicKey *PublicKey
	Weight    uint64
}

// Member is one entry of the canonical set: a public key with the weight of all validators that share it.
type Member struct {
	PublicKey *PublicKey
	Weight    uint64
	NodeIDs   []ids.NodeID
	key       [2 * PublicKeyLen]byte
}

// CanonicalSet is a subnet's validators in the order in which signatures name them: ascending by uncompressed key.
// TotalWeight includes validators without a key.
type CanonicalSet struct {
	Members     []*Member
	TotalWeight uint64
}

// ErrWeightOverflow refuses a set whose weights do not fit 64 bits.
var ErrWeightOverflow = errors.New("weight overflowed")

// NewCanonicalSet merges validators that share a key and orders them.
func NewCanonicalSet(validators []Validator) (*CanonicalSet, error) {
	set := &CanonicalSet{}
	byKey := make(map[[2 * PublicKeyLen]byte]*Member, len(validators))
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
		member := byKey[key]
		if member == nil {
			member = &Member{PublicKey: v.PublicKey, key: key}
			byKey[key] = member
			set.Members = append(set.Members, member)
		}
		member.Weight += v.Weight
		member.NodeIDs = append(member.NodeIDs, v.NodeID)
	}
	set.order()
	return set, nil
}

func (s *CanonicalSet) order() {
	slices.SortFunc(s.Members, func(a, b *Member) int { return bytes.Compare(a.key[:], b.key[:]) })
	for _, m := range s.Members {
		slices.SortFunc(m.NodeIDs, ids.NodeID.Compare)
	}
}

// SignerBits writes indices into the canonical set as the signature carries them: a big-endian number without leading zeros.
func SignerBits(indices []int) []byte {
	set := new(big.Int)
	for _, i := range indices {
		set.SetBit(set, i, 1)
	}
	return set.Bytes()
}

// SignerIndices reads what SignerBits wrote; padded bytes are refused, since they would make two forms of one message.
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
