package warp

import (
	"fmt"
)

// Aggregate signs a message for the validators of a set at these indices; secret returns a validator's key. All keys are known here, so it
// signs once with the sum of the secrets, which yields the aggregate of all their signatures.
func Aggregate(m *UnsignedMessage, set *CanonicalValidatorSet, indices []int, secret func(*CanonicalValidator) (*SecretKey, error)) (*Message, error) {
	keys := make([]*SecretKey, 0, len(indices))
	for _, i := range indices {
		if i < 0 || i >= len(set.Validators) {
			return nil, fmt.Errorf("%w: index %d >= %d validators", ErrUnknownValidator, i, len(set.Validators))
		}
		key, err := secret(set.Validators[i])
		if err != nil {
			return nil, fmt.Errorf("validator %d: %w", i, err)
		}
		keys = append(keys, key)
	}
	unsigned, err := m.Bytes()
	if err != nil {
		return nil, fmt.Errorf("warp message: %w", err)
	}
	sig, err := SumKeys(keys...).Sign(unsigned)
	if err != nil {
		return nil, err
	}
	return &Message{*m, BitSetSignature{Signers: SignerBits(indices), Signature: sig.Bytes()}}, nil
}
