package mpt_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"

	"snowglobe/sim/evm/mpt"
)

type proof [][]byte

func (p *proof) Put(hash, node []byte) error {
	if !bytes.Equal(hash, crypto.Keccak256(node)) {
		panic("a node by another hash")
	}
	*p = append(*p, node)
	return nil
}
func (p *proof) Delete([]byte) error { return nil }

// TestTrieIsThatOfGoEthereum changes two tries alike, with keys that are close to each other and values so short that nodes are in
// their parents, and compares roots and proofs.
func TestTrieIsThatOfGoEthereum(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		ours, theirs := mpt.Trie{}, trie.NewEmpty(triedb.NewDatabase(rawdb.NewMemoryDatabase(), nil))
		keys := make([]common.Hash, 60)
		for i := range keys {
			keys[i] = crypto.Keccak256Hash([]byte{byte(seed), byte(i)})
			if i > 0 && seed%2 == 0 {
				copy(keys[i][:], keys[r.IntN(i)][:r.IntN(32)])
			}
		}
		for step := range 400 {
			key := keys[r.IntN(len(keys))]
			if r.IntN(5) < 2 {
				ours.Delete(key)
				if err := theirs.Delete(key[:]); err != nil {
					t.Fatal(err)
				}
			} else {
				value := make([]byte, 1+r.IntN([]int{2, 40, 120, 400}[seed%4]))
				for i := range value {
					value[i] = byte(1 + r.IntN(255))
				}
				ours.Put(key, bytes.Clone(value))
				if err := theirs.Update(key[:], value); err != nil {
					t.Fatal(err)
				}
			}
			if step%7 != 0 {
				continue
			}
			if got, want := ours.Hash(), theirs.Hash(); got != want {
				t.Fatalf("seed %d, step %d: root %s, go-ethereum's is %s", seed, step, got, want)
			}
			asked := keys[r.IntN(len(keys))]
			var got, want proof
			if err := ours.Prove(asked[:], &got); err != nil {
				t.Fatal(err)
			}
			if err := theirs.Prove(asked[:], &want); err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) {
				t.Fatalf("seed %d, step %d: a proof of %d nodes, go-ethereum's has %d", seed, step, len(got), len(want))
			}
			for i := range got {
				if !bytes.Equal(got[i], want[i]) {
					t.Fatalf("seed %d, step %d: node %d is %x, go-ethereum's is %x", seed, step, i, got[i], want[i])
				}
			}
		}
	}
}
