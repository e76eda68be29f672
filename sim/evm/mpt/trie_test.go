package mpt_test

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
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

// TestTrieIsThatOfGoEthereum makes the same changes to two tries, with similar keys and values short enough to be embedded in their parents,
// and compares roots and proofs.
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
				if err := ours.Delete(key); err != nil {
					t.Fatal(err)
				}
				if err := theirs.Delete(key[:]); err != nil {
					t.Fatal(err)
				}
			} else {
				value := make([]byte, 1+r.IntN([]int{2, 40, 120, 400}[seed%4]))
				for i := range value {
					value[i] = byte(1 + r.IntN(255))
				}
				if err := ours.Put(key, bytes.Clone(value)); err != nil {
					t.Fatal(err)
				}
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

// TestPartsStandForWhatIsInThem makes the same changes to a trie in memory and to one of parts, from a few keys, some of them alone in their parents,
// to many, and finally removes them all.
func TestPartsStandForWhatIsInThem(t *testing.T) {
	seeds := uint64(30)
	if testing.Short() {
		t.Log("left out of a short run: all seeds but 10")
		seeds = 10
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 2))
		whole, values := mpt.Trie{}, map[common.Hash][]byte{}
		keys := make([]common.Hash, []int{1, 3, 20, 300, 3000}[seed%5])
		for i := range keys {
			keys[i] = crypto.Keccak256Hash([]byte{byte(seed), byte(i), byte(i >> 8)})
			if seed%3 == 0 {
				keys[i][0] &= 0x1f // few of the first nibbles
			}
			values[keys[i]] = bytes.Repeat([]byte{byte(i), 1}, 1+r.IntN(50))
			if err := whole.Put(keys[i], values[keys[i]]); err != nil {
				t.Fatal(err)
			}
		}
		stored, depth := map[string][]common.Hash{}, 1+int(seed%3)
		for _, key := range keys {
			stored[prefix(key, depth)] = append(stored[prefix(key, depth)], key)
		}
		var parts []mpt.Part
		for _, prefix := range slices.Sorted(maps.Keys(stored)) {
			hash, there := whole.PartHash(prefix)
			if !there {
				t.Fatalf("seed %d: nothing is at %x", seed, prefix)
			}
			parts = append(parts, mpt.Part{Prefix: prefix, Hash: hash})
		}
		before, loads := maps.Clone(values), 0
		parted, err := mpt.NewTrie(parts, func(prefix string, visit func(common.Hash, []byte)) error {
			loads++
			for _, key := range stored[prefix] {
				visit(key, before[key])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) == 3000 && seed%3 != 0 && loads > 0 {
			t.Errorf("seed %d: %d parts were read to hash the trie", seed, loads)
		}
		same := func(step int) {
			t.Helper()
			if got, want := parted.Hash(), whole.Hash(); got != want {
				t.Fatalf("seed %d, step %d: root %s, want %s", seed, step, got, want)
			}
			asked := keys[r.IntN(len(keys))]
			asked[31] ^= byte(r.IntN(2))
			var got, want proof
			if err := errors.Join(parted.Prove(asked[:], &got), whole.Prove(asked[:], &want)); err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Fatalf("seed %d, step %d: proof %x, want %x", seed, step, got, want)
			}
			p := prefix(keys[r.IntN(len(keys))], depth)
			hash, there := parted.PartHash(p)
			if wantHash, wantThere := whole.PartHash(p); hash != wantHash || there != wantThere {
				t.Fatalf("seed %d, step %d: part %x is %s (%t), want %s (%t)", seed, step, p, hash, there, wantHash, wantThere)
			}
		}
		same(-1)
		for step := range 100 {
			key := keys[r.IntN(len(keys))]
			if step%2 == 0 {
				key = crypto.Keccak256Hash([]byte{byte(step), 7})
			}
			value := []byte{byte(step), 3}
			if step%3 == 0 {
				err = errors.Join(parted.Delete(key), whole.Delete(key))
			} else {
				err = errors.Join(parted.Put(key, value), whole.Put(key, bytes.Clone(value)))
				keys = append(keys, key)
			}
			if err != nil {
				t.Fatal(err)
			}
			same(step)
		}
		for i, key := range keys {
			if err := errors.Join(parted.Delete(key), whole.Delete(key)); err != nil {
				t.Fatal(err)
			}
			if i%50 == 0 || i > len(keys)-5 {
				same(1000 + i)
			}
		}
	}
}

// TestPartWithAnotherHashIsRefused loads a part with a changed value.
func TestPartWithAnotherHashIsRefused(t *testing.T) {
	whole := mpt.Trie{}
	keys := []common.Hash{{1}, {2}}
	for _, key := range keys {
		if err := whole.Put(key, []byte("before")); err != nil {
			t.Fatal(err)
		}
	}
	var parts []mpt.Part
	for _, key := range keys {
		hash, _ := whole.PartHash(prefix(key, 2))
		parts = append(parts, mpt.Part{Prefix: prefix(key, 2), Hash: hash})
	}
	parted, err := mpt.NewTrie(parts, func(prefix string, visit func(common.Hash, []byte)) error {
		visit(common.Hash{prefix[0]<<4 | prefix[1]}, []byte("after"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	root := parted.Hash()
	if err := parted.Put(keys[0], []byte("new")); !errors.Is(err, mpt.ErrPart) {
		t.Errorf("put: %v", err)
	}
	if err := parted.Delete(keys[1]); !errors.Is(err, mpt.ErrPart) {
		t.Errorf("delete: %v", err)
	}
	if err := parted.Prove(keys[0][:], &proof{}); !errors.Is(err, mpt.ErrPart) {
		t.Errorf("prove: %v", err)
	}
	if err := parted.LoadAll(); !errors.Is(err, mpt.ErrPart) {
		t.Errorf("load: %v", err)
	}
	if parted.Hash() != root || root != whole.Hash() {
		t.Errorf("the root is %s afterwards, it was %s", parted.Hash(), root)
	}
}

func prefix(key common.Hash, depth int) string {
	nibbles := make([]byte, depth)
	for i := range nibbles {
		nibbles[i] = key[i/2] >> (4 - 4*(i%2)) & 15
	}
	return string(nibbles)
}
