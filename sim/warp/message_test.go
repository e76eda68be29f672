package warp

import (
	"errors"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
)

func TestSignedMessageRoundTrip(t *testing.T) {
	v := readVectors(t)
	m, err := ParseMessage(unhex(t, v.Warp.Signed))
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	wantHex(t, "signed message", b, v.Warp.Signed)
	wantHex(t, "signers", m.Signature.Signers, v.Warp.Signers)

	unsigned, err := ParseUnsigned(unhex(t, v.Warp.Unsigned))
	if err != nil {
		t.Fatal(err)
	}
	messageID, err := unsigned.ID()
	if err != nil {
		t.Fatal(err)
	}
	wantID(t, "message id", messageID, v.Warp.MessageID)
	wantHex(t, "payload", unsigned.Payload, v.Warp.AddressedCall)
	sender, body, err := ParseAddressedCall(unsigned.Payload)
	if err != nil {
		t.Fatal(err)
	}
	again, err := AddressedCall(sender, body)
	if err != nil {
		t.Fatal(err)
	}
	wantHex(t, "addressed call", again, v.Warp.AddressedCall)
}

func TestHashPayload(t *testing.T) {
	v := readVectors(t)
	block, err := ParseHashPayload(unhex(t, v.Warp.Hash))
	if err != nil {
		t.Fatal(err)
	}
	b, err := HashPayload(block)
	if err != nil {
		t.Fatal(err)
	}
	wantHex(t, "hash payload", b, v.Warp.Hash)
}

func TestL1MessagesMatchTheNetwork(t *testing.T) {
	v := readVectors(t)
	for name, want := range map[string]string{
		"registration":    v.ACP77.Registration.BytesTrue,
		"no registration": v.ACP77.Registration.BytesFalse,
		"weight":          v.ACP77.Weight.Bytes,
		"register":        v.ACP77.Register.Bytes,
		"conversion":      v.ACP77.Conversion.Bytes,
	} {
		e, err := ParseL1Message(unhex(t, want))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := L1MessageBytes(e)
		if err != nil {
			t.Fatal(err)
		}
		wantHex(t, name, b, want)
	}
	for message, want := range map[string]string{
		v.ACP77.Registration.BytesTrue: v.ACP77.Registration.UnsignedWarpFromPChain,
		v.ACP77.Weight.Bytes:           v.ACP77.Weight.UnsignedWarpFromPChain,
		v.ACP77.Conversion.Bytes:       v.ACP77.Conversion.UnsignedWarpFromPChain,
	} {
		e, err := ParseL1Message(unhex(t, message))
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewL1Message(12345, ids.Empty, nil, e)
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		wantHex(t, "message from the P-Chain", b, want)
	}
}

func TestValidationAndConversionIDs(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Validations {
		subnet, err := ids.FromString(c.SubnetID)
		if err != nil {
			t.Fatal(err)
		}
		wantID(t, "validation id", ConversionValidationID(subnet, c.Index), c.ValidationID)
	}
	e, err := ParseL1Message(unhex(t, v.ACP77.Register.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	register := e.(*RegisterL1Validator)
	validationID, err := register.ValidationID()
	if err != nil {
		t.Fatal(err)
	}
	wantID(t, "validation id", validationID, v.ACP77.Register.ValidationID)
	if err := register.Verify(); err != nil {
		t.Error(err)
	}
	var data SubnetToL1ConversionData
	if _, err := l1MessageCodec.Unmarshal(unhex(t, v.ACP77.Conversion.ConversionDataBytes), &data); err != nil {
		t.Fatal(err)
	}
	conversionID, err := data.ID()
	if err != nil {
		t.Fatal(err)
	}
	wantID(t, "conversion id", conversionID, v.ACP77.Conversion.ConversionID)
}

func TestCanonicalSetMergesAndOrders(t *testing.T) {
	v := readVectors(t)
	set := v.set(t)
	if set.TotalWeight != v.Canonical.Total || len(set.Validators) != len(v.Canonical.Validators) {
		t.Fatalf("total %d of %d validators", set.TotalWeight, len(set.Validators))
	}
	for i, want := range v.Canonical.Validators {
		validator := set.Validators[i]
		key := validator.PublicKey.Compressed()
		wantHex(t, "key", key[:], want.Key)
		if validator.Weight != want.Weight || len(validator.NodeIDs) != want.Nodes {
			t.Errorf("validator %d weighs %d with %d nodes", i, validator.Weight, len(validator.NodeIDs))
		}
	}
	overflow := []Validator{{Weight: 1 << 63}, {Weight: 1 << 63}}
	if _, err := NewCanonicalValidatorSet(overflow); !errors.Is(err, ErrWeightOverflow) {
		t.Errorf("overflow: %v", err)
	}
}

func TestSignerBits(t *testing.T) {
	for _, c := range readVectors(t).Bitset {
		wantHex(t, "bits", SignerBits(c.Indices), c.Bytes)
		back, err := SignerIndices(unhex(t, c.Bytes))
		if err != nil || len(back) != len(c.Indices) {
			t.Errorf("%s reads as %v, %v", c.Bytes, back, err)
		}
	}
	if _, err := SignerIndices([]byte{0, 1}); !errors.Is(err, ErrInvalidBitSet) {
		t.Errorf("padding: %v", err)
	}
}
