package evm

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/trie/trienode"

	"snowglobe/sim/evm/mpt"
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

// Trie is the trie of a state or of a contract's storage. It is only ever hashed, never written: the world file has no trie nodes.
// It carries the account encoding of its chain's kind.
type Trie struct {
	mpt.Trie
	kind   Kind
	leaves int // how many there were when it was made of all of them
	depth  int // of its parts in the file, 0 if there are none
}

var _ state.Trie = (*Trie)(nil)

func newTrie(kind Kind) *Trie { return &Trie{kind: kind} }

func (t *Trie) UpdateAccount(address common.Address, account *types.StateAccount, _ int) error {
	leaf, err := encodeAccount(t.kind, account)
	if err != nil {
		return fmt.Errorf("account %s: %w", address, err)
	}
	return t.Put(crypto.Keccak256Hash(address[:]), leaf)
}

func (t *Trie) UpdateAccountBatch(addresses []common.Address, accounts []*types.StateAccount, sizes []int) error {
	for i, address := range addresses {
		if err := t.UpdateAccount(address, accounts[i], sizes[i]); err != nil {
			return err
		}
	}
	return nil
}

// UpdateStorage takes the value without leading zeros; the leaf is its RLP.
func (t *Trie) UpdateStorage(_ common.Address, key, value []byte) error {
	leaf, err := rlp.EncodeToBytes(value)
	if err != nil {
		return err
	}
	return t.Put(crypto.Keccak256Hash(key), leaf)
}

func (t *Trie) UpdateStorageBatch(address common.Address, keys, values [][]byte) error {
	for i, key := range keys {
		if err := t.UpdateStorage(address, key, values[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *Trie) DeleteAccount(address common.Address) error {
	return t.Delete(crypto.Keccak256Hash(address[:]))
}

func (t *Trie) DeleteStorage(_ common.Address, key []byte) error {
	return t.Delete(crypto.Keccak256Hash(key))
}

// Commit keeps the trie as it is: its nodes stay in memory and none are written.
func (t *Trie) Commit(bool) (common.Hash, *trienode.NodeSet) { return t.Hash(), nil }

// The state is read from flat rows, never through the trie.

func (t *Trie) GetAccount(common.Address) (*types.StateAccount, error) {
	return nil, ErrFlatState
}
func (t *Trie) GetStorage(common.Address, []byte) ([]byte, error)            { return nil, ErrFlatState }
func (t *Trie) GetKey([]byte) []byte                                         { return nil }
func (t *Trie) PrefetchAccount([]common.Address) error                       { return nil }
func (t *Trie) PrefetchStorage(common.Address, [][]byte) error               { return nil }
func (t *Trie) UpdateContractCode(common.Address, common.Hash, []byte) error { return nil }
func (t *Trie) Witness() map[string][]byte                                   { return nil }
func (t *Trie) IsUBT() bool                                                  { return false }
func (t *Trie) NodeIterator([]byte) (trie.NodeIterator, error)               { return nil, ErrFlatState }
