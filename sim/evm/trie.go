package evm

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/trie/trienode"
	"github.com/ethereum/go-ethereum/triedb"
)

// multicoinAccount is the C-Chain's account: a fifth field says whether the account ever held other assets natively.
type multicoinAccount struct {
	Nonce       uint64
	Balance     *big.Int
	Root        common.Hash
	CodeHash    []byte
	IsMultiCoin bool
}

// encodeAccount is the account as the leaf of the chain's state trie.
func encodeAccount(kind Kind, a *types.StateAccount) ([]byte, error) {
	if kind == KindC {
		return rlp.EncodeToBytes(&multicoinAccount{a.Nonce, a.Balance.ToBig(), a.Root, a.CodeHash, false})
	}
	return rlp.EncodeToBytes(a)
}

// memoryTrie is a Merkle-Patricia trie that is only ever hashed, never written: the world file has no trie nodes.
// It carries the account encoding of its chain's kind.
type memoryTrie struct {
	kind Kind
	tree *trie.Trie
}

var _ state.Trie = (*memoryTrie)(nil)

func newMemoryTrie(kind Kind) *memoryTrie {
	return &memoryTrie{kind: kind, tree: trie.NewEmpty(triedb.NewDatabase(rawdb.NewMemoryDatabase(), nil))}
}

func (t *memoryTrie) UpdateAccount(address common.Address, account *types.StateAccount, _ int) error {
	leaf, err := encodeAccount(t.kind, account)
	if err != nil {
		return fmt.Errorf("account %s: %w", address, err)
	}
	return t.tree.Update(crypto.Keccak256(address[:]), leaf)
}

func (t *memoryTrie) UpdateAccountBatch(addresses []common.Address, accounts []*types.StateAccount, sizes []int) error {
	for i, address := range addresses {
		if err := t.UpdateAccount(address, accounts[i], sizes[i]); err != nil {
			return err
		}
	}
	return nil
}

// UpdateStorage takes the value without leading zeros; the leaf is its RLP.
func (t *memoryTrie) UpdateStorage(_ common.Address, key, value []byte) error {
	leaf, err := rlp.EncodeToBytes(value)
	if err != nil {
		return err
	}
	return t.tree.Update(crypto.Keccak256(key), leaf)
}

func (t *memoryTrie) UpdateStorageBatch(address common.Address, keys, values [][]byte) error {
	for i, key := range keys {
		if err := t.UpdateStorage(address, key, values[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *memoryTrie) DeleteAccount(address common.Address) error {
	return t.tree.Delete(crypto.Keccak256(address[:]))
}

func (t *memoryTrie) DeleteStorage(_ common.Address, key []byte) error {
	return t.tree.Delete(crypto.Keccak256(key))
}

func (t *memoryTrie) Hash() common.Hash { return t.tree.Hash() }

// Commit keeps the trie as it is: its nodes stay in memory and none are written.
func (t *memoryTrie) Commit(bool) (common.Hash, *trienode.NodeSet) { return t.tree.Hash(), nil }

func (t *memoryTrie) Prove(key []byte, proof ethdb.KeyValueWriter) error {
	return t.tree.Prove(key, proof)
}

func (t *memoryTrie) NodeIterator(start []byte) (trie.NodeIterator, error) {
	return t.tree.NodeIterator(start)
}

// The state is read from flat rows, never through the trie.

func (t *memoryTrie) GetAccount(common.Address) (*types.StateAccount, error) {
	return nil, ErrFlatState
}
func (t *memoryTrie) GetStorage(common.Address, []byte) ([]byte, error)            { return nil, ErrFlatState }
func (t *memoryTrie) GetKey([]byte) []byte                                         { return nil }
func (t *memoryTrie) PrefetchAccount([]common.Address) error                       { return nil }
func (t *memoryTrie) PrefetchStorage(common.Address, [][]byte) error               { return nil }
func (t *memoryTrie) UpdateContractCode(common.Address, common.Hash, []byte) error { return nil }
func (t *memoryTrie) Witness() map[string][]byte                                   { return nil }
func (t *memoryTrie) IsUBT() bool                                                  { return false }
