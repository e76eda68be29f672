package mpt

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"
)

// TestRootsOfChangingTries changes a trie repeatedly and compares the root with go-ethereum's, with one to hundreds of changes at a time, and nodes
// from embedded ones to ones of several hash blocks.
func TestRootsOfChangingTries(t *testing.T) {
	for seed := range uint64(48) {
		r := rand.New(rand.NewPCG(seed, 4))
		ours, theirs := Trie{}, trie.NewEmpty(triedb.NewDatabase(rawdb.NewMemoryDatabase(), nil))
		keys := make([]common.Hash, []int{1, 2, 5, 40, 700, 2500}[seed%6])
		for i := range keys {
			keys[i] = common.Hash(randomBytes(r, common.HashLength))
			if i > 0 && r.IntN(3) < int(seed/6%3) {
				copy(keys[i][:], keys[r.IntN(i)][:r.IntN(common.HashLength)])
			}
		}
		longest := []int{2, 40, 112, 700}[seed/12]
		for step := range 20 {
			changes := 1 + r.IntN(1+r.IntN(2*len(keys)))
			if step == 0 {
				changes = 3 * len(keys)
			}
			for range changes {
				key, value := keys[r.IntN(len(keys))], randomBytes(r, 1+r.IntN(longest))
				var err error
				if value[0] < 50 {
					err = errors.Join(ours.Delete(key), theirs.Delete(key[:]))
				} else {
					err = errors.Join(ours.Put(key, value), theirs.Update(key[:], value))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if got, want := ours.Hash(), theirs.Hash(); got != want {
				t.Fatalf("seed %d, step %d: root %s, go-ethereum's is %s", seed, step, got, want)
			}
		}
	}
}

func randomBytes(r *rand.Rand, length int) []byte {
	some := make([]byte, length)
	for i := range some {
		some[i] = byte(r.Uint32())
	}
	return some
}
