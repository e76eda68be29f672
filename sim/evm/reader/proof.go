package reader

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Proof shows an account and some of its slots to be in the state after a block. That is the one that its header names, unless the state
// was changed without a transaction since: then it is the one with which the next block begins, as on anvil, and the proof is
// against a root that no header has.
type Proof struct {
	Account *types.StateAccount // nil when there is no such account
	Nodes   [][]byte            // from the state root down
	Slots   []SlotProof
}

// SlotProof shows the value of a slot.
type SlotProof struct {
	Value common.Hash
	Nodes [][]byte // from the account's storage root down
}

// Prove makes the proof of an account and its slots after a block. As on the network, the proof is that of the key as it is given: on
// a C-Chain, one that is not a key of the state (evm.StateKey) has a value, and a proof that there is none.
func (c *Chain) Prove(ctx context.Context, b *Block, address common.Address, keys []common.Hash) (*Proof, error) {
	account, err := evm.NewFlatState(ctx, c.db, c.Row.ID, b.Number).Account(address)
	if err != nil {
		return nil, err
	}
	p := &Proof{Account: account, Slots: make([]SlotProof, len(keys))}
	if p.Nodes, err = c.proveAccount(ctx, b, address); err != nil {
		return nil, err
	}
	if len(keys) == 0 || account == nil || account.Root == types.EmptyRootHash {
		return p, nil
	}
	return p, c.proveSlots(ctx, b, address, keys, p.Slots)
}

// proveAccount keeps the last block's trie: clients usually request several proofs of the same block.
func (c *Chain) proveAccount(ctx context.Context, b *Block, address common.Address) ([][]byte, error) {
	c.history.proofLock.Lock()
	defer c.history.proofLock.Unlock()
	changes := c.changes.Load()
	if c.history.proofTrie == nil || c.history.proofBlock != b.Number || c.history.proofChanges != changes {
		want, err := c.rootAfter(ctx, b)
		if err != nil {
			return nil, err
		}
		tree, err := evm.NewFlatState(ctx, c.db, c.Row.ID, b.Number).AccountTrie(c.Kind)
		if err != nil {
			return nil, err
		}
		if root := tree.Hash(); root != want {
			return nil, fmt.Errorf("block %d: the flat state hashes to %s, it should to %s", b.Number, root, want)
		}
		c.history.proofTrie, c.history.proofBlock, c.history.proofChanges = tree, b.Number, changes
	}
	var nodes proofNodes
	err := c.history.proofTrie.Prove(crypto.Keccak256(address[:]), &nodes)
	return nodes, err
}

// rootAfter is that of the state after a block.
func (c *Chain) rootAfter(ctx context.Context, b *Block) (common.Hash, error) {
	last, err := c.db.LastStateChange(ctx, c.Row.ID, b.Number)
	if last == nil || err != nil {
		return b.Header.Root, err
	}
	return common.BytesToHash(last.Root), nil
}

func (c *Chain) proveSlots(ctx context.Context, b *Block, address common.Address, keys []common.Hash, proofs []SlotProof) error {
	tree, err := evm.NewFlatState(ctx, c.db, c.Row.ID, b.Number).StorageTrie(c.Kind, address)
	if err != nil {
		return err
	}
	tree.Hash()
	for i, key := range keys {
		stored := evm.StateKey(c.Kind, key)
		value, err := c.db.Slot(ctx, c.Row.ID, address[:], stored[:], b.Number)
		if err != nil {
			return err
		}
		var nodes proofNodes
		if err := tree.Prove(crypto.Keccak256(key[:]), &nodes); err != nil {
			return err
		}
		proofs[i] = SlotProof{Value: common.BytesToHash(value), Nodes: nodes}
	}
	return nil
}

// proofNodes collects the nodes of a proof in the order in which they are found.
type proofNodes [][]byte

// Put keeps a node; its hash need not be kept.
func (p *proofNodes) Put(_, node []byte) error {
	*p = append(*p, node)
	return nil
}

// Delete is there for the interface only: building a proof deletes no node.
func (p *proofNodes) Delete([]byte) error { return store.ErrNotFound }
