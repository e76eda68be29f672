package evm

import (
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// TestKeyHashesAreThoseOfTheKeys asks for more keys than are remembered, some of them again and again.
func TestKeyHashesAreThoseOfTheKeys(t *testing.T) {
	r, k := rand.New(rand.NewPCG(1, 5)), newKeyHashes()
	for range 4 * mostHashes {
		n := byte(r.IntN(3))
		word := common.Hash{n, byte(r.Uint32() >> (8 * n)), byte(r.Uint32()), 31: n}
		address := common.BytesToAddress(word[:12])
		if got, want := k.word(word), crypto.Keccak256Hash(word[:]); got != want {
			t.Fatalf("word %s hashes to %s, want %s", word, got, want)
		}
		if got, want := k.address(address), crypto.Keccak256Hash(address[:]); got != want {
			t.Fatalf("address %s hashes to %s, want %s", address, got, want)
		}
	}
	if len(k.words) > mostHashes || len(k.addresses) > mostHashes {
		t.Errorf("%d words and %d addresses are remembered", len(k.words), len(k.addresses))
	}
}

// TestBloomIsThatOfGoEthereum makes blooms of random logs.
func TestBloomIsThatOfGoEthereum(t *testing.T) {
	r, k := rand.New(rand.NewPCG(1, 6)), newKeyHashes()
	for range 300 {
		logs := make([]*types.Log, r.IntN(20))
		for i := range logs {
			logs[i] = &types.Log{Address: common.Address{byte(r.IntN(9)), 19: byte(r.Uint32())}}
			for range r.IntN(5) {
				logs[i].Topics = append(logs[i].Topics, common.Hash{byte(r.IntN(9)), 31: byte(r.Uint32())})
			}
		}
		if got, want := k.bloom(logs), types.CreateBloom(&types.Receipt{Logs: logs}); got != want {
			t.Fatalf("bloom %x, go-ethereum's is %x", got, want)
		}
	}
}
