package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/trie/trienode"

	"snowglobe/sim/evm/mpt"
)

// leafSize is the maximum number of bytes in the leaf of an account, without the list header.
const leafSize = 9 + 33 + 33 + 33 + 1

// appendAccount appends the account as the leaf of the chain's state trie: types.StateAccount in RLP. On a C-Chain a fifth field marks accounts
// that ever held other native assets; none did.
func appendAccount(to []byte, kind Kind, a *types.StateAccount) []byte {
	var fields [leafSize]byte
	body := rlp.AppendUint64(fields[:0], a.Nonce)
	balance := a.Balance.Bytes32()
	body = appendString(body, common.TrimLeftZeroes(balance[:]))
	body = appendString(body, a.Root[:])
	body = appendString(body, a.CodeHash)
	if kind == KindC {
		body = append(body, 0x80) // false
	}
	if len(body) < 56 {
		to = append(to, 0xc0+byte(len(body)))
	} else {
		to = append(to, 0xf8, byte(len(body)))
	}
	return append(to, body...)
}

// AccountLeaf returns the leaf of an account in the chain's state trie.
func AccountLeaf(kind Kind, a *types.StateAccount) []byte { return appendAccount(nil, kind, a) }

// SlotLeaf returns the leaf of a slot in a storage trie, nil for zero.
func SlotLeaf(value common.Hash) []byte {
	if value == (common.Hash{}) {
		return nil
	}
	return appendString(nil, common.TrimLeftZeroes(value[:]))
}

// appendString appends fewer than 56 bytes as an RLP string.
func appendString(to, s []byte) []byte {
	if len(s) != 1 || s[0] >= 0x80 {
		to = append(to, 0x80+byte(len(s)))
	}
	return append(to, s...)
}

// Trie is the trie of a state or of a contract's storage. It is only ever hashed, never written: the world file has no trie nodes. It uses
// the account encoding of its chain's kind.
type Trie struct {
	mpt.Trie
	kind   Kind
	leaves int // number of leaves
	depth  int // of its parts in the file, 0 without parts
}

var _ state.Trie = (*Trie)(nil)

func newTrie(kind Kind) *Trie { return &Trie{kind: kind} }

func (t *Trie) UpdateAccount(address common.Address, account *types.StateAccount, _ int) error {
	var leaf [2 + leafSize]byte
	return t.Put(crypto.Keccak256Hash(address[:]), appendAccount(leaf[:0], t.kind, account))
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
	var leaf [1 + common.HashLength]byte
	return t.Put(crypto.Keccak256Hash(key), appendString(leaf[:0], value))
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

// Commit keeps the trie's nodes in memory and writes none.
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
