package evm

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/mpt"
	"snowglobe/sim/store"
)

// The file has the hashes of the parts of large tries: of 16, 256 or 4,096, so that a part has a few dozen keys. A trie of fewer leaves is
// quickly made of all of them.
const partedLeaves = 64

// partDepth is how many nibbles the keys of a part have in common in a trie of so many leaves.
func partDepth(leaves int) (depth int) {
	for depth = 1; leaves >= 1<<(7+4*depth) && depth < 3; depth++ {
	}
	return depth
}

// AllAccounts stands for the trie of the accounts where others have the address of a contract.
var AllAccounts = []byte{}

// PartedAccountTrie is the state trie, made of the parts in the file, or of all accounts if those are not of this state.
func (f FlatState) PartedAccountTrie(kind Kind, root common.Hash) (*Trie, error) {
	tree, err := f.PartsOf(kind, AllAccounts, root)
	if tree != nil || err != nil {
		return tree, err
	}
	return f.AccountTrie(kind)
}

// PartedStorageTrie is the storage trie of a contract, made of the parts in the file, or of all slots if those are not of this state.
func (f FlatState) PartedStorageTrie(kind Kind, address common.Address, root common.Hash) (*Trie, error) {
	tree, err := f.PartsOf(kind, address[:], root)
	if tree != nil || err != nil {
		return tree, err
	}
	return f.StorageTrie(kind, address)
}

// PartsOf is the trie of the accounts or of a contract's storage, made of the parts in the file: nil if there are none, or if they have
// another root.
func (f FlatState) PartsOf(kind Kind, owner []byte, root common.Hash) (*Trie, error) {
	var parts []mpt.Part
	err := f.db.TrieParts(f.ctx, f.chain, owner, func(p *store.TriePart) {
		parts = append(parts, mpt.Part{Prefix: string(p.Prefix), Hash: common.BytesToHash(p.Hash)})
	})
	if len(parts) == 0 || err != nil {
		return nil, err
	}
	tree, err := mpt.NewTrie(parts, f.loader(kind, owner))
	if err != nil || tree.Hash() != root {
		return nil, f.ctx.Err()
	}
	return &Trie{Trie: *tree, kind: kind, depth: len(parts[0].Prefix)}, nil
}

// CompareParts compares the parts of a trie in the file, if there are any, with the trie that was made of all leaves.
func (f FlatState) CompareParts(owner []byte, tree *Trie) error {
	parts, keys, same := 0, 0, true
	err := f.db.TriePartsWithKeys(f.ctx, f.chain, owner, func(p *store.TriePart) {
		parts++
		if hash, _ := tree.PartHash(string(p.Prefix)); hash != common.BytesToHash(p.Hash) {
			same = false
		}
		for key := range slices.Chunk(p.Keys, keySize(owner)) {
			if keys++; prefixOf(key, len(p.Prefix)) != string(p.Prefix) {
				same = false
			}
		}
	})
	if err == nil && parts > 0 && (!same || keys != tree.leaves) {
		err = fmt.Errorf("parts of the trie of 0x%x: %w", owner, mpt.ErrPart)
	}
	return err
}

// loader reads what is in a part.
func (f FlatState) loader(kind Kind, owner []byte) mpt.Loader {
	return func(prefix string, visit func(common.Hash, []byte)) error {
		keys, err := f.db.TriePartKeys(f.ctx, f.chain, owner, []byte(prefix))
		if errors.Is(err, store.ErrNotFound) {
			return mpt.ErrPart
		}
		if err != nil {
			return err
		}
		for key := range slices.Chunk(keys, keySize(owner)) {
			leaf, err := f.leaf(kind, owner, key)
			if err != nil {
				return err
			}
			if leaf != nil {
				visit(crypto.Keccak256Hash(key), leaf)
			}
		}
		return nil
	}
}

func keySize(owner []byte) int {
	if len(owner) == 0 {
		return common.AddressLength
	}
	return common.HashLength
}

// leaf is that of an account, or of a slot of a contract; nil for none.
func (f FlatState) leaf(kind Kind, owner, key []byte) ([]byte, error) {
	if len(owner) == 0 {
		account, err := f.Account(common.BytesToAddress(key))
		if account == nil || err != nil {
			return nil, err
		}
		return appendAccount(nil, kind, account), nil
	}
	value, err := f.db.Slot(f.ctx, f.chain, owner, key, f.block)
	if len(value) == 0 || err != nil {
		return nil, err
	}
	return appendString(nil, value), nil
}

// keys are the accounts, or the slots of a contract, that there are.
func (f FlatState) keys(owner []byte) (keys [][]byte, err error) {
	if len(owner) > 0 {
		slots, err := f.slotKeys(common.BytesToAddress(owner))
		for i := range slots {
			keys = append(keys, slots[i][:])
		}
		return keys, err
	}
	rows, err := f.db.AccountsAt(f.ctx, f.chain, f.block)
	for i := range rows {
		if !rows[i].Gone {
			keys = append(keys, rows[i].Address)
		}
	}
	return keys, err
}

// prefixOf are the first nibbles of a key's hash.
func prefixOf(key []byte, depth int) string {
	hash := crypto.Keccak256(key)
	prefix := make([]byte, depth)
	for i := range prefix {
		if prefix[i] = hash[i/2] >> 4; i%2 == 1 {
			prefix[i] = hash[i/2] & 15
		}
	}
	return string(prefix)
}

// partsOf are the parts of a trie in which there are some keys, or were.
func partsOf(tree *Trie, keys map[string]bool) (parts []store.TriePart) {
	byPrefix := map[string]*store.TriePart{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		prefix := prefixOf([]byte(key), tree.depth)
		p := byPrefix[prefix]
		if p == nil {
			p = &store.TriePart{Prefix: []byte(prefix)}
			byPrefix[prefix] = p
		}
		if keys[key] {
			p.Keys = append(p.Keys, key...)
		} else {
			p.Gone = append(p.Gone, key...)
		}
	}
	for _, prefix := range slices.Sorted(maps.Keys(byPrefix)) {
		p := byPrefix[prefix]
		if hash, there := tree.PartHash(prefix); there {
			p.Hash = hash.Bytes()
		}
		parts = append(parts, *p)
	}
	return parts
}

// changedTries is what the last commit changed in the parts of tries that the file has, with all parts of those that turned out large.
func (l *buildState) changedTries() (changes []store.TrieChange, err error) {
	if l.base == nil { // a chain that is made from its beginning: largeTries are those of its end
		return nil, nil
	}
	accounts := map[string]bool{}
	for address := range l.update.AccountsOrigin {
		accounts[string(address[:])] = !l.accounts.all[address].gone
	}
	changes, err = l.changedTrie(nil, AllAccounts, l.trie, accounts)
	for _, address := range slices.SortedFunc(maps.Keys(l.update.StoragesOrigin), common.Address.Cmp) {
		slots := map[string]bool{}
		for key := range l.update.StoragesOrigin[address] {
			slots[string(key[:])] = l.slots[address][key] != common.Hash{}
		}
		if err == nil {
			changes, err = l.changedTrie(changes, address.Bytes(), l.tries[address], slots)
		}
	}
	return changes, err
}

func (l *buildState) changedTrie(changes []store.TrieChange, owner []byte, tree *Trie, keys map[string]bool) ([]store.TrieChange, error) {
	switch {
	case tree == nil: // the contract is gone
		return append(changes, store.TrieChange{Owner: owner, Anew: true}), nil
	case tree.depth > 0:
		return append(changes, store.TrieChange{Owner: owner, Parts: partsOf(tree, keys)}), nil
	case tree.leaves < partedLeaves:
		return changes, nil
	}
	all, err := l.base.keys(owner)
	if err != nil {
		return nil, err
	}
	return append(changes, l.allParts(owner, tree, all)), nil
}

// largeTries are all parts of the tries of a chain that was made from its beginning.
func (l *buildState) largeTries() (changes []store.TrieChange) {
	if len(l.accounts.all) >= partedLeaves {
		changes = append(changes, l.allParts(AllAccounts, l.trie, nil))
	}
	for _, address := range slices.SortedFunc(maps.Keys(l.slots), common.Address.Cmp) {
		if tree := l.tries[address]; tree != nil && len(l.slots[address]) >= partedLeaves {
			changes = append(changes, l.allParts(address.Bytes(), tree, nil))
		}
	}
	return changes
}

// allParts are the parts of a trie with the keys that the state was loaded with and those that came since.
func (l *buildState) allParts(owner []byte, tree *Trie, loaded [][]byte) store.TrieChange {
	keys := map[string]bool{}
	for _, key := range loaded {
		keys[string(key)] = true
	}
	set := func(key []byte, there bool) {
		if delete(keys, string(key)); there {
			keys[string(key)] = true
		}
	}
	if len(owner) == 0 {
		for address, account := range l.accounts.all {
			set(address[:], !account.gone)
		}
	} else {
		for key, value := range l.slots[common.BytesToAddress(owner)] {
			set(key[:], value != common.Hash{})
		}
	}
	tree.depth = partDepth(len(keys))
	return store.TrieChange{Owner: owner, Anew: true, Parts: partsOf(tree, keys)}
}
