package warp

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func signed(t *testing.T) (*vectors, *CanonicalValidatorSet, *Message) {
	t.Helper()
	v := readVectors(t)
	m, err := ParseMessage(unhex(t, v.Warp.Signed))
	if err != nil {
		t.Fatal(err)
	}
	return v, v.set(t), m
}

func TestVerifyDecidesAsTheNetwork(t *testing.T) {
	v, set, m := signed(t)
	for quorum, want := range v.Warp.Verify {
		var num, den uint64
		if _, err := fmt.Sscanf(quorum, "%d/%d", &num, &den); err != nil {
			t.Fatal(err)
		}
		got := "<nil>"
		if err := m.Verify(12345, set, num, den); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("quorum %s: %s, want %s", quorum, got, want)
		}
	}
}

func TestVerifyRefusesWhatWasTampered(t *testing.T) {
	cases := map[string]struct {
		want   error
		tamper func(m *Message, set *CanonicalValidatorSet)
	}{
		"wrong network": {ErrWrongNetworkID, func(m *Message, _ *CanonicalValidatorSet) { m.NetworkID = 1 }},
		"another bit":   {ErrInvalidSignature, func(m *Message, _ *CanonicalValidatorSet) { m.Signature.Signers = SignerBits([]int{1, 2, 4}) }},
		"a bit more":    {ErrInvalidSignature, func(m *Message, _ *CanonicalValidatorSet) { m.Signature.Signers = SignerBits([]int{0, 1, 2, 4}) }},
		"beyond":        {ErrUnknownValidator, func(m *Message, _ *CanonicalValidatorSet) { m.Signature.Signers = SignerBits([]int{0, 9}) }},
		"padded":        {ErrInvalidBitSet, func(m *Message, _ *CanonicalValidatorSet) { m.Signature.Signers = []byte{0, 0x15} }},
		"no signers":    {ErrInsufficientWeight, func(m *Message, _ *CanonicalValidatorSet) { m.Signature.Signers = nil }},
		"nobody to sign": {errNoPublicKeys, func(m *Message, set *CanonicalValidatorSet) {
			m.Signature.Signers, *set = nil, CanonicalValidatorSet{}
		}},
		"wrong weight": {ErrInsufficientWeight, func(_ *Message, set *CanonicalValidatorSet) { set.Validators[0].Weight = 0 }},
		"wrong order":  {ErrInvalidSignature, func(_ *Message, set *CanonicalValidatorSet) { slices.Reverse(set.Validators[:2]) }},
		"payload":      {ErrInvalidSignature, func(m *Message, _ *CanonicalValidatorSet) { m.Payload[len(m.Payload)-1] ^= 1 }},
		"no point":     {ErrParseSignature, func(m *Message, _ *CanonicalValidatorSet) { m.Signature.Signature = [96]byte{0x8f} }},
	}
	for name, c := range cases {
		_, set, m := signed(t)
		if err := m.Verify(12345, set, 33, 100); err != nil {
			t.Fatal(err)
		}
		c.tamper(m, set)
		if err := m.Verify(12345, set, 33, 100); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestAggregateMakesTheNetworksBytes(t *testing.T) {
	v, set, m := signed(t)
	keys := v.secrets(t)
	secret := func(validator *CanonicalValidator) (*SecretKey, error) {
		for _, k := range keys {
			if k.PublicKey().Compressed() == validator.PublicKey.Compressed() {
				return k, nil
			}
		}
		return nil, errors.New("no key")
	}
	again, err := Aggregate(&m.UnsignedMessage, set, v.Warp.Indices, secret)
	if err != nil {
		t.Fatal(err)
	}
	b, err := again.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	wantHex(t, "aggregate", b, v.Warp.Signed)
	if _, err := Aggregate(&m.UnsignedMessage, set, []int{5}, secret); !errors.Is(err, ErrUnknownValidator) {
		t.Errorf("unknown index: %v", err)
	}
}

// TestEnoughIsTheLeastThatPasses compares it with the check of signatures.
func TestEnoughIsTheLeastThatPasses(t *testing.T) {
	for _, total := range []uint64{0, 1, 2, 3, 99, 100, 101, 1180, 291100000000000, 1 << 60, 1<<64 - 1} {
		for numerator := uint64(0); numerator <= 100; numerator++ {
			enough := QuorumWeight(total, numerator, 100)
			if err := VerifyWeight(enough, total, numerator, 100); err != nil {
				t.Errorf("%d of %d: %d is not enough: %v", numerator, total, enough, err)
			}
			if enough > 0 && VerifyWeight(enough-1, total, numerator, 100) == nil {
				t.Errorf("%d of %d: %d is more than enough", numerator, total, enough)
			}
		}
	}
}
