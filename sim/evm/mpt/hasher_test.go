package mpt

import (
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"
)

// TestLanesHashAsOneAfterAnother hashes messages of all lengths up to five blocks, each lane beginning another whenever it is idle.
func TestLanesHashAsOneAfterAnother(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	messages := make([][]byte, 5*blockBytes+1)
	for i, length := range r.Perm(len(messages)) {
		messages[i] = randomBytes(r, length)
	}
	s, begun := lanes{}, 0
	for begun < len(messages) || s.busy > 0 {
		for lane := range laneCount {
			if s.idle(lane) && begun < len(messages) && r.IntN(3) > 0 {
				s.begin(lane, begun, append([]byte{}, messages[begun]...))
				begun++
			}
		}
		s.step()
		for lane := range laneCount {
			if job, finished := s.finished(lane); finished {
				got := common.Hash{}
				s.hash(lane, (*[common.HashLength]byte)(&got))
				if want := crypto.Keccak256Hash(messages[job]); got != want {
					t.Fatalf("%d bytes hash to %s, want %s", len(messages[job]), got, want)
				}
			}
		}
	}
}

// TestLanesMakeTheSameReferences changes a trie, hashes what changed with lanes and one by one, and compares the references of all nodes and
// the root with go-ethereum's. There are from one to hundreds of changes at once, and nodes from those in their parents to those of several
// blocks.
func TestLanesMakeTheSameReferences(t *testing.T) {
	for seed := range uint64(48) {
		r := rand.New(rand.NewPCG(seed, 4))
		ways := [2]Trie{}
		theirs := trie.NewEmpty(triedb.NewDatabase(rawdb.NewMemoryDatabase(), nil))
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
				for way := range ways {
					var err error
					if value[0] < 50 {
						err = ways[way].Delete(key)
					} else {
						err = ways[way].Put(key, value)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				var err error
				if value[0] < 50 {
					err = theirs.Delete(key[:])
				} else {
					err = theirs.Update(key[:], value)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for way := range ways {
				h := newHasher(&ways[way])
				before := h.oneByOne
				if h.oneByOne = way == 1; ways[way].root != none {
					h.refer(ways[way].root, 0)
				}
				h.oneByOne = before
				h.release()
			}
			if n := sameReferences(t, &ways, ways[0].root, ways[1].root); n == 0 != (ways[0].root == none) {
				t.Fatalf("seed %d, step %d: %d nodes", seed, step, n)
			}
			if got, want := ways[0].Hash(), theirs.Hash(); got != want {
				t.Fatalf("seed %d, step %d: root %s, go-ethereum's is %s", seed, step, got, want)
			}
		}
	}
}

// sameReferences compares what is below two nodes and counts the nodes.
func sameReferences(t *testing.T, ways *[2]Trie, a, b node) (nodes int) {
	t.Helper()
	if a.kind() != b.kind() {
		t.Fatalf("nodes of kinds %d and %d", a.kind(), b.kind())
	}
	if a == none {
		return 0
	}
	r, s := ways[0].ref(a), ways[1].ref(b)
	if r.size == 0 || r.size != s.size || string(r.bytes[:r.size]) != string(s.bytes[:s.size]) {
		t.Fatalf("reference %x, one by one %x", r.bytes[:r.size], s.bytes[:s.size])
	}
	nodes = 1
	if a.kind() == branchNode {
		for i, child := range ways[0].branch(a).children {
			nodes += sameReferences(t, ways, child, ways[1].branch(b).children[i])
		}
	}
	return nodes
}

func randomBytes(r *rand.Rand, length int) []byte {
	some := make([]byte, length)
	for i := range some {
		some[i] = byte(r.Uint32())
	}
	return some
}
