package warp

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Errors of a signed message, in avalanchego's words (vms/platformvm/warp).
var (
	ErrWrongNetworkID     = errors.New("wrong networkID")
	ErrInvalidBitSet      = errors.New("bitset is invalid")
	ErrUnknownValidator   = errors.New("unknown validator")
	ErrInsufficientWeight = errors.New("signature weight is insufficient")
	ErrParseSignature     = errors.New("failed to parse signature")
	ErrInvalidSignature   = errors.New("signature is invalid")
	errNoPublicKeys       = errors.New("no public keys")
)

// The network's quorum, unless a chain's configuration sets another: avalanchego's txs/executor.WarpQuorumNumerator and
// WarpQuorumDenominator.
const (
	DefaultQuorumNumerator = 67
	QuorumDenominator      = 100
)

// VerifyWeight refuses a signed weight below numerator/denominator of the total.
func VerifyWeight(signed, total, numerator, denominator uint64) error {
	product := func(a, b uint64) *big.Int {
		return new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	}
	if product(numerator, total).Cmp(product(denominator, signed)) > 0 {
		return fmt.Errorf("%w: %d*%d > %d*%d", ErrInsufficientWeight, numerator, total, denominator, signed)
	}
	return nil
}

// QuorumWeight returns the least weight that reaches numerator/denominator of the total; a ratio above one is out of reach.
func QuorumWeight(total, numerator, denominator uint64) uint64 {
	high, low := bits.Mul64(total, numerator)
	if high >= denominator {
		return math.MaxUint64
	}
	weight, rest := bits.Div64(high, low, denominator)
	if rest > 0 {
		weight++
	}
	return weight
}

// Validators returns the validators that a signature claims.
func (s *BitSetSignature) Validators(set *CanonicalValidatorSet) ([]*CanonicalValidator, error) {
	indices, err := SignerIndices(s.Signers)
	if err != nil {
		return nil, err
	}
	if n := len(indices); n > 0 && indices[n-1] >= len(set.Validators) {
		return nil, fmt.Errorf("%w: NumIndices (%d) >= NumFilteredValidators (%d)", ErrUnknownValidator, indices[n-1], len(set.Validators))
	}
	validators := make([]*CanonicalValidator, len(indices))
	for i, index := range indices {
		validators[i] = set.Validators[index]
	}
	return validators, nil
}

// SumWeight returns the weight of these validators.
func SumWeight(validators []*CanonicalValidator) uint64 {
	var weight uint64
	for _, m := range validators {
		weight += m.Weight
	}
	return weight
}

// Verify checks the aggregate signature of a message against a validator set and a quorum.
func (m *Message) Verify(networkID uint32, set *CanonicalValidatorSet, numerator, denominator uint64) error {
	if m.NetworkID != networkID {
		return ErrWrongNetworkID
	}
	validators, err := m.Signature.Validators(set)
	if err != nil {
		return err
	}
	if err := VerifyWeight(SumWeight(validators), set.TotalWeight, numerator, denominator); err != nil {
		return err
	}
	sig, err := ParseSignature(m.Signature.Signature[:])
	if err != nil {
		return fmt.Errorf("%w: %w", ErrParseSignature, err)
	}
	return m.verifySignature(validators, sig)
}

func (m *Message) verifySignature(validators []*CanonicalValidator, sig *Signature) error {
	if len(validators) == 0 {
		return errNoPublicKeys
	}
	keys := make([]*PublicKey, len(validators))
	for i, validator := range validators {
		keys[i] = validator.PublicKey
	}
	unsigned, err := m.UnsignedMessage.Bytes()
	if err != nil {
		return fmt.Errorf("warp message: %w", err)
	}
	if key := SumPublicKeys(keys...); key == nil || !key.Verify(sig, unsigned) {
		return ErrInvalidSignature
	}
	return nil
}
