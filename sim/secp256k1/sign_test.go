package secp256k1

import (
	"bytes"
	"crypto/ecdsa"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
)

var order = crypto.S256().Params().N

// keys lists keys at the bounds of the valid range, and some between.
func keys(t *testing.T) (all []*ecdsa.PrivateKey, ours []*Key) {
	half := new(big.Int).Rsh(order, 1)
	secrets := []*big.Int{big.NewInt(1), big.NewInt(2), big.NewInt(128), big.NewInt(129), big.NewInt(255), big.NewInt(256),
		new(big.Int).Lsh(big.NewInt(1), 255), half, new(big.Int).Add(half, big.NewInt(1)), new(big.Int).Sub(order, big.NewInt(1)),
		new(big.Int).SetBytes(bytes.Repeat([]byte{0x80}, 32)), new(big.Int).SetBytes(bytes.Repeat([]byte{0x7f, 0xff}, 16))}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		secrets = append(secrets, new(big.Int).SetBytes(random(r)))
	}
	for _, secret := range secrets {
		b := secret.FillBytes(make([]byte, 32))
		want, err := crypto.ToECDSA(b)
		if err != nil {
			t.Fatal(err)
		}
		key, err := NewKey(b)
		if err != nil || !bytes.Equal(key.Secret(), b) || !bytes.Equal(key.Compressed(), crypto.CompressPubkey(&want.PublicKey)) ||
			key.Address() != crypto.PubkeyToAddress(want.PublicKey) {
			t.Fatalf("key of %x: %v, %v", b, key, err)
		}
		all, ours = append(all, want), append(ours, key)
	}
	return all, ours
}

func random(r *rand.Rand) []byte {
	b := make([]byte, 32)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestSignaturesAreThoseOfGoEthereum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	hashes := [][]byte{make([]byte, 32), new(big.Int).Sub(order, big.NewInt(1)).Bytes()} // for larger ones, package crypto's nonce depends on cgo
	all, ours := keys(t)
	for i, key := range all {
		for _, hash := range append(hashes, random(r), random(r)) {
			want, err := crypto.Sign(hash, key)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Sign(hash, ours[i]); err != nil || !bytes.Equal(got[:], want) {
				t.Fatalf("%x signs %x with %x, not %x: %v", crypto.FromECDSA(key), hash, got, want, err)
			}
		}
	}
}

func TestWhatIsNoKey(t *testing.T) {
	for _, secret := range [][]byte{nil, make([]byte, 32), make([]byte, 31), bytes.Repeat([]byte{1}, 33), order.Bytes(), bytes.Repeat([]byte{0xff}, 32)} {
		if _, err := NewKey(secret); err == nil {
			t.Errorf("%x is a key", secret)
		}
	}
	key, err := NewKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sign(make([]byte, 31), key); err == nil {
		t.Error("31 bytes are signed")
	}
}

func BenchmarkSign(b *testing.B) {
	key, err := NewKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		b.Fatal(err)
	}
	hash := make([]byte, 32)
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			Sign(hash, key)
		}
	})
	theirs, err := crypto.ToECDSA(key.Secret())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("go-ethereum", func(b *testing.B) {
		for b.Loop() {
			crypto.Sign(hash, theirs)
		}
	})
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			NewKey(key.Secret())
		}
	})
	b.Run("table", func(b *testing.B) {
		for b.Loop() {
			newTable()
		}
	})
}
