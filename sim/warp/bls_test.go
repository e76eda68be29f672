package warp

import (
	"bytes"
	"crypto/sha256"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

func TestKeysProofsAndSignatures(t *testing.T) {
	v := readVectors(t)
	for i, key := range v.secrets(t) {
		want := v.BLS.Keys[i]
		pk := key.PublicKey()
		compressed, uncompressed := pk.Compressed(), pk.Uncompressed()
		wantHex(t, "compressed key", compressed[:], want.Compressed)
		wantHex(t, "uncompressed key", uncompressed[:], want.Uncompressed)

		proof, err := key.Prove(key.PublicKey().Compressed())
		if err != nil {
			t.Fatal(err)
		}
		proofBytes := proof.Bytes()
		wantHex(t, "proof of possession", proofBytes[:], want.Proof)

		sig, err := key.Sign([]byte("hello"))
		if err != nil {
			t.Fatal(err)
		}
		sigBytes := sig.Bytes()
		wantHex(t, "signature", sigBytes[:], want.Hello)

		if !pk.Verify(sig, []byte("hello")) || !pk.VerifyPossession(proof) {
			t.Errorf("key %d: own signature or proof does not verify", i)
		}
		if pk.Verify(sig, []byte("hallo")) || pk.VerifyPossession(sig) {
			t.Errorf("key %d: a signature verifies for what it does not sign", i)
		}
	}
}

func TestParsedKeysAreChecked(t *testing.T) {
	v := readVectors(t)
	for _, form := range []string{v.BLS.Keys[0].Compressed, v.BLS.Keys[0].Uncompressed} {
		pk, err := ParsePublicKey(unhex(t, form))
		if err != nil {
			t.Fatal(err)
		}
		compressed := pk.Compressed()
		wantHex(t, "parsed key", compressed[:], v.BLS.Keys[0].Compressed)
	}
	infinity := append([]byte{0xc0}, make([]byte, 47)...)
	for name, b := range map[string][]byte{"infinity": infinity, "short": infinity[:40], "empty": nil, "no point": bytes.Repeat([]byte{0x8f}, 48)} {
		if _, err := ParsePublicKey(b); err == nil {
			t.Errorf("%s is accepted as a public key", name)
		}
	}
	for name, b := range map[string][]byte{"short": make([]byte, 48), "no point": bytes.Repeat([]byte{0x8f}, 96)} {
		if _, err := ParseSignature(b); err == nil {
			t.Errorf("%s is accepted as a signature", name)
		}
	}
}

func TestSumOfSecretsSignsAsTheAggregate(t *testing.T) {
	keys := readVectors(t).secrets(t)
	message := []byte("one message")
	var sigs []*Signature
	var publics []*PublicKey
	for _, k := range keys {
		sig, err := k.Sign(message)
		if err != nil {
			t.Fatal(err)
		}
		sigs, publics = append(sigs, sig), append(publics, k.PublicKey())
	}
	once, err := SumKeys(keys...).Sign(message)
	if err != nil {
		t.Fatal(err)
	}
	if once.Bytes() != sumSignatures(sigs...).Bytes() {
		t.Error("the sum of the keys signs differently from the aggregate")
	}
	if !SumPublicKeys(publics...).Verify(once, message) {
		t.Error("the aggregate does not verify")
	}
}

// TestKeysOfMany: public keys computed together equal those computed one by one, also at both ends of the range of secrets.
func TestKeysOfMany(t *testing.T) {
	secrets := append(readVectors(t).secrets(t), NewSecretKey([32]byte{}), NewSecretKey([32]byte{31: 63}), NewSecretKey([32]byte{31: 64}))
	last := NewSecretKey([32]byte{})
	last.scalar.Neg(&last.scalar)
	secrets = append(secrets, last)
	for i := range 32 {
		secrets = append(secrets, NewSecretKey(sha256.Sum256([]byte{byte(i)})))
	}
	for i, key := range PublicKeys(secrets) {
		if got, want := key.Compressed(), secrets[i].PublicKey().Compressed(); got != want {
			t.Errorf("secret %x: the key is %x, want %x", secrets[i].Bytes(), got, want)
		}
	}
	if keys := PublicKeys(nil); len(keys) != 0 {
		t.Errorf("%d keys of no secrets", len(keys))
	}
}

func TestZeroSeedMakesAKey(t *testing.T) {
	key := NewSecretKey([32]byte{})
	if key.Bytes() == [32]byte{} {
		t.Error("the zero seed makes the zero key")
	}
}

func BenchmarkAggregate1000(b *testing.B) {
	keys := make([]*SecretKey, 1000)
	for i := range keys {
		keys[i] = NewSecretKey([32]byte{30: byte(i >> 8), 31: byte(i)})
	}
	b.ResetTimer()
	for b.Loop() {
		if _, err := SumKeys(keys...).Sign([]byte("message")); err != nil {
			b.Fatal(err)
		}
	}
}

// sumSignatures aggregates signatures of the same message.
func sumSignatures(sigs ...*Signature) *Signature {
	var sum bls12381.G2Jac
	for _, s := range sigs {
		sum.AddMixed(&s.point)
	}
	total := &Signature{}
	total.point.FromJacobian(&sum)
	return total
}
