package mpt

import (
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// TestKeyHashesAreThoseOfTheKeys asks for more keys than are remembered, some of them again and again.
func TestKeyHashesAreThoseOfTheKeys(t *testing.T) {
	r, k := rand.New(rand.NewPCG(1, 5)), NewKeyHashes()
	for range 4 * mostHashes {
		n := byte(r.IntN(3))
		word := common.Hash{n, byte(r.Uint32() >> (8 * n)), byte(r.Uint32()), 31: n}
		address := common.BytesToAddress(word[:12])
		if got, want := k.Word(word), crypto.Keccak256Hash(word[:]); got != want {
			t.Fatalf("word %s hashes to %s, want %s", word, got, want)
		}
		if got, want := k.Address(address), crypto.Keccak256Hash(address[:]); got != want {
			t.Fatalf("address %s hashes to %s, want %s", address, got, want)
		}
	}
	if len(k.words) > mostHashes || len(k.addresses) > mostHashes {
		t.Errorf("%d words and %d addresses are remembered", len(k.words), len(k.addresses))
	}
}
