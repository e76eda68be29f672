package warp

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
)

// TestKeysAndSignaturesAreRefusedInTheNodesWords: the words of avalanchego's utils/crypto/bls, which a client sees when it registers a validator.
func TestKeysAndSignaturesAreRefusedInTheNodesWords(t *testing.T) {
	key, sig := unhex(t, readVectors(t).BLS.Keys[0].Compressed), unhex(t, readVectors(t).BLS.Keys[0].Hello)
	infinity := func(size int) []byte { return append([]byte{0xc0}, make([]byte, size-1)...) }
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"a key", key, ""},
		{"a key and a byte", append(slices.Clone(key), 0), "couldn't decompress public key"},
		{"a key without its last byte", key[:47], "couldn't decompress public key"},
		{"no point of the curve", bytes.Repeat([]byte{0x8f}, 48), "couldn't decompress public key"},
		{"infinity", infinity(48), "invalid public key"},
		{"a point outside of the subgroup", append([]byte{0x80}, make([]byte, 47)...), "invalid public key"}, // x = 0
	} {
		if _, err := ParsePublicKey(c.raw); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"a signature", sig, ""},
		{"a signature and a byte", append(slices.Clone(sig), 0), "couldn't decompress signature"},
		{"no point of the curve", bytes.Repeat([]byte{0x8f}, 96), "couldn't decompress signature"},
		{"infinity, which signs for nobody", infinity(96), ""},
	} {
		if _, err := ParseSignature(c.raw); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestNodesOfASharedKeyAreSorted: clients see them in the same order whatever the order of registration.
func TestNodesOfASharedKeyAreSorted(t *testing.T) {
	key := readVectors(t).secrets(t)[0].PublicKey()
	set, err := NewCanonicalValidatorSet([]Validator{{ids.NodeID{3}, key, 1}, {ids.NodeID{1}, key, 2}, {ids.NodeID{9}, nil, 4}, {ids.NodeID{2}, key, 8}})
	if err != nil {
		t.Fatal(err)
	}
	if v := set.Validators; len(v) != 1 || v[0].Weight != 11 || set.TotalWeight != 15 || !slices.Equal(v[0].NodeIDs, []ids.NodeID{{1}, {2}, {3}}) {
		t.Errorf("%+v of %d", v[0], set.TotalWeight)
	}
}

// TestL1MessagesInWarpMessages reads the message that the P-Chain sent, and refuses messages of other kinds.
func TestL1MessagesInWarpMessages(t *testing.T) {
	v := readVectors(t)
	m, err := ParseUnsigned(unhex(t, v.ACP77.Weight.UnsignedWarpFromPChain))
	if err != nil {
		t.Fatal(err)
	}
	sender, e, err := m.L1Message()
	if w, ok := e.(*L1ValidatorWeight); err != nil || len(sender) != 0 || !ok || w.Nonce != 3 || w.Weight != 55 {
		t.Errorf("%x sends %+v, %v", sender, e, err)
	}
	for name, payload := range map[string]string{"a block's hash": v.Warp.Hash, "another call": v.Warp.AddressedCall} {
		if _, e, err := (&UnsignedMessage{Payload: unhex(t, payload)}).L1Message(); err == nil {
			t.Errorf("%s is %+v", name, e)
		}
	}
	for _, c := range []struct {
		message L1ValidatorWeight
		want    string
	}{
		{L1ValidatorWeight{Nonce: math.MaxUint64}, ""},
		{L1ValidatorWeight{Nonce: math.MaxUint64 - 1, Weight: 5}, ""},
		{L1ValidatorWeight{Nonce: math.MaxUint64, Weight: 5}, "maxUint64 nonce is reserved for removal"},
		{L1ValidatorWeight{}, ""},
	} {
		if err := c.message.Verify(); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%+v: %v, want %q", c.message, err, c.want)
		}
	}
}

// TestPayloads: a message carries an addressed call or a hash; a transaction with any other is refused.
func TestPayloads(t *testing.T) {
	v := readVectors(t)
	for name, payload := range map[string]string{"an addressed call": v.Warp.AddressedCall, "a hash": v.Warp.Hash} {
		if err := CheckPayload(unhex(t, payload)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, payload := range map[string][]byte{"nothing": nil, "another type": {0, 0, 0, 0, 0, 2}, "half a hash": unhex(t, v.Warp.Hash)[:20]} {
		if err := CheckPayload(payload); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestSentMessages: relayers give the node the bare message, or the data of the event as they found it.
func TestSentMessages(t *testing.T) {
	message := unhex(t, readVectors(t).Warp.Unsigned)
	offset := append(make([]byte, 31), 32)
	size := func(n int, high byte) []byte { // the size, and how often 2^64 is added
		return append(make([]byte, 23), high, 0, 0, 0, 0, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	for _, c := range []struct {
		name string
		raw  []byte
		ok   bool
	}{
		{"bare", message, true},
		{"the event's data", slices.Concat(offset, size(len(message), 0), message, make([]byte, 17)), true},
		{"the event's data without padding", slices.Concat(offset, size(len(message), 0), message), true},
		{"without its offset", slices.Concat(size(len(message), 0), message), false},
		{"a byte more than there is", slices.Concat(offset, size(len(message)+1, 0), message), false},
		{"a byte less", slices.Concat(offset, size(len(message)-1, 0), message), false},
		{"a size beyond 64 bits", slices.Concat(offset, size(len(message), 1), message), false},
		{"no message", slices.Concat(offset, size(0, 0)), false},
	} {
		m, err := ParseSent(c.raw)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.ok {
			if again, err := m.Bytes(); err != nil || !bytes.Equal(again, message) {
				t.Errorf("%s is read as %x, %v", c.name, again, err)
			}
		}
	}
}

// TestQuorums: the least weights that suffice, also at the end of the range.
func TestQuorums(t *testing.T) {
	for _, c := range []struct{ total, numerator, denominator, want uint64 }{
		{0, 67, 100, 0}, {1, 67, 100, 1}, {100, 67, 100, 67}, {101, 67, 100, 68}, {200, 67, 100, 134}, {1 << 63, 50, 100, 1 << 62},
		{math.MaxUint64, 100, 100, math.MaxUint64}, {math.MaxUint64, 67, 100, 12_359_318_529_385_399_583},
		{math.MaxUint64, 101, 100, math.MaxUint64}, {math.MaxUint64, 200, 100, math.MaxUint64},
	} {
		if got := QuorumWeight(c.total, c.numerator, c.denominator); got != c.want {
			t.Errorf("%d/%d of %d is %d, want %d", c.numerator, c.denominator, c.total, got, c.want)
		}
	}
}

// TestSignersBeyondTheSet: the last index is that of the last validator.
func TestSignersBeyondTheSet(t *testing.T) {
	set := readVectors(t).set(t)
	n := len(set.Validators)
	if all, err := (&BitSetSignature{Signers: SignerBits([]int{n - 1})}).Validators(set); err != nil || len(all) != 1 || all[0] != set.Validators[n-1] {
		t.Errorf("the last validator: %v, %v", all, err)
	}
	if _, err := (&BitSetSignature{Signers: SignerBits([]int{n})}).Validators(set); !errors.Is(err, ErrUnknownValidator) {
		t.Errorf("one after the last: %v", err)
	}
	if all, err := (&BitSetSignature{}).Validators(set); err != nil || len(all) != 0 {
		t.Errorf("nobody: %v, %v", all, err)
	}
}
