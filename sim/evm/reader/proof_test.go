package reader_test

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// TestProofsVerify proves every account and slot at every block, and verifies the proofs with only the header.
func TestProofsVerify(t *testing.T) {
	for _, kind := range []evm.Kind{evm.KindC, evm.KindL1} {
		c := newRandomChain(t, kind, 7, 12)
		keys := []common.Hash{{}, common.BigToHash(big.NewInt(1)), common.BigToHash(big.NewInt(3)), common.BigToHash(big.NewInt(99))}
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for number := uint64(0); number <= head.Number; number++ {
			b, err := c.Block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			for _, address := range append(emitters, c.from, common.Address{0xff}) {
				p, err := c.Prove(t.Context(), b, address, keys)
				if err != nil {
					t.Fatal(err)
				}
				checkProof(t, c, b, address, keys, p)
			}
		}
	}
}

func checkProof(t *testing.T, c *randomChain, b *reader.Block, address common.Address, keys []common.Hash, p *reader.Proof) {
	t.Helper()
	states, err := c.State(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	leaf := verified(t, b.Header.Root, address[:], p.Nodes)
	if p.Account == nil {
		if leaf != nil || states.Exist(address) {
			t.Errorf("block %d: %s is proven absent, but is there", b.Number, address)
		}
		return
	}
	want, err := accountLeaf(c.Kind, p.Account)
	if err != nil || !bytes.Equal(leaf, want) {
		t.Errorf("block %d: the leaf of %s is %x, not %x: %v", b.Number, address, leaf, want, err)
	}
	if p.Account.Nonce != states.GetNonce(address) || p.Account.Balance.Cmp(states.GetBalance(address)) != 0 {
		t.Errorf("block %d: the proof of %s disagrees with the state", b.Number, address)
	}
	for i, key := range keys {
		if value := states.GetState(address, key); value != p.Slots[i].Value {
			t.Errorf("block %d: slot %s of %s is %s, the proof says %s", b.Number, key, address, value, p.Slots[i].Value)
		}
		if p.Account.Root != types.EmptyRootHash {
			checkSlot(t, p.Account.Root, key, &p.Slots[i])
		}
	}
}

// accountLeaf returns the RLP of an account; coreth's has a fifth field, which says whether it is a multicoin account.
func accountLeaf(kind evm.Kind, a *types.StateAccount) ([]byte, error) {
	if kind == evm.KindC {
		return rlp.EncodeToBytes([]any{a.Nonce, a.Balance, a.Root, a.CodeHash, false})
	}
	return rlp.EncodeToBytes(a)
}

func checkSlot(t *testing.T, root, key common.Hash, p *reader.SlotProof) {
	t.Helper()
	var value []byte
	if leaf := verified(t, root, key[:], p.Nodes); leaf != nil {
		if err := rlp.DecodeBytes(leaf, &value); err != nil {
			t.Fatal(err)
		}
	}
	if common.BytesToHash(value) != p.Value {
		t.Errorf("slot %s: the leaf holds %x, the proof says %s", key, value, p.Value)
	}
}

// verified returns the leaf that a proof leads to, nil if it proves that there is none.
func verified(t *testing.T, root common.Hash, key []byte, nodes [][]byte) []byte {
	t.Helper()
	proof := memorydb.New()
	for _, node := range nodes {
		if err := proof.Put(crypto.Keccak256(node), node); err != nil {
			t.Fatal(err)
		}
	}
	leaf, err := trie.VerifyProof(root, crypto.Keccak256(key), proof)
	if err != nil {
		t.Errorf("proof of %x: %v", key, err)
	}
	return leaf
}
