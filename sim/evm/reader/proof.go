package reader

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/mpt"
	"snowglobe/sim/store"
)

// Proof proves an account and some of its slots in the state after a block. The root is the one in the block's header, since Helicon on a
// C-Chain in the header that settles the block, unless the state changed since without a transaction: then it is the root that the next block
// begins with, as on anvil, which no header has.
type Proof struct {
	Account *types.StateAccount // nil if the account does not exist
	Nodes   [][]byte            // from the state root down
	Slots   []SlotProof
}

// SlotProof proves the value of a slot.
type SlotProof struct {
	Value common.Hash
	Nodes [][]byte // from the account's storage root down
}

// Prove proves an account and its slots after a block. As on the network, the proof is for the key as given: on a C-Chain, a key that the
// state does not use (evm.StateKey) gets a value, and a proof that it is absent.
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
	return p, c.proveSlots(ctx, b, address, account.Root, keys, p.Slots)
}

// proveAccount keeps the last block's trie: clients usually request several proofs of the same block.
func (c *Chain) proveAccount(ctx context.Context, b *Block, address common.Address) ([][]byte, error) {
	c.history.proofLock.Lock()
	defer c.history.proofLock.Unlock()
	changes, state := c.Changes.Load(), evm.NewFlatState(context.WithoutCancel(ctx), c.db, c.Row.ID, b.Number)
	if c.history.proofTrie == nil || c.history.proofBlock != b.Number || c.history.proofChanges != changes {
		want, err := c.rootAfter(ctx, b)
		if err != nil {
			return nil, err
		}
		tree, err := state.PartedAccountTrie(c.Kind, want)
		if err != nil {
			return nil, err
		}
		if root := tree.Hash(); root != want {
			return nil, fmt.Errorf("block %d: the flat state hashes to %s, want %s", b.Number, root, want)
		}
		c.history.proofTrie, c.history.proofBlock, c.history.proofChanges = tree, b.Number, changes
	}
	return prove(&c.history.proofTrie, crypto.Keccak256(address[:]), func() (*evm.Trie, error) { return state.AccountTrie(c.Kind) })
}

// prove makes the proof of a key. Blocks added since may have changed the trie's parts in the file: then it rebuilds the trie from all its
// leaves.
func prove(tree **evm.Trie, key []byte, whole func() (*evm.Trie, error)) (proofNodes, error) {
	var nodes proofNodes
	err := (*tree).Prove(key, &nodes)
	if errors.Is(err, mpt.ErrPart) {
		if *tree, err = whole(); err == nil {
			err = (*tree).Prove(key, &nodes)
		}
	}
	return nodes, err
}

func (c *Chain) rootAfter(ctx context.Context, b *Block) (common.Hash, error) {
	last, err := c.db.LastStateChange(ctx, c.Row.ID, b.Number)
	if last == nil || err != nil {
		return b.Results.Root, err
	}
	return common.BytesToHash(last.Root), nil
}

// PartsBefore returns the changes to the parts of the chain's tries in the file when its newest blocks go.
func (c *Chain) PartsBefore(ctx context.Context, plan *store.ChainRewind) ([]store.TrieChange, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	last, err := c.Block(ctx, plan.After)
	if err != nil {
		return nil, err
	}
	root, err := c.rootAfter(ctx, head)
	if err != nil {
		return nil, err
	}
	earlier, err := c.rootAfter(ctx, last)
	if err != nil {
		return nil, err
	}
	return evm.NewFlatState(ctx, c.db, c.Row.ID, head.Number).PartsBefore(c.Kind, root, earlier, plan)
}

func (c *Chain) proveSlots(ctx context.Context, b *Block, address common.Address, root common.Hash, keys []common.Hash, proofs []SlotProof) error {
	state := evm.NewFlatState(ctx, c.db, c.Row.ID, b.Number)
	tree, err := state.PartedStorageTrie(c.Kind, address, root)
	if err != nil {
		return err
	}
	for i, key := range keys {
		stored := evm.StateKey(c.Kind, key)
		value, err := c.db.Slot(ctx, c.Row.ID, address[:], stored[:], b.Number)
		if err != nil {
			return err
		}
		nodes, err := prove(&tree, crypto.Keccak256(key[:]), func() (*evm.Trie, error) { return state.StorageTrie(c.Kind, address) })
		if err != nil {
			return err
		}
		proofs[i] = SlotProof{Value: common.BytesToHash(value), Nodes: nodes}
	}
	return nil
}

// proofNodes collects the nodes of a proof, from the root down.
type proofNodes [][]byte

// Put keeps a node and ignores its hash.
func (p *proofNodes) Put(_, node []byte) error {
	*p = append(*p, node)
	return nil
}

// Delete exists for the interface only: building a proof deletes no node.
func (p *proofNodes) Delete([]byte) error { return store.ErrNotFound }
