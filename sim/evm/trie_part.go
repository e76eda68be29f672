package evm

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/mpt"
	"snowglobe/sim/store"
)

// The file stores the hashes of the parts of large tries, cut into 16, 256 or 4,096 so that a part has some 2 to 32 keys. Rebuilding a
// smaller trie from all its leaves is quick.
const partedLeaves = 64

// partDepth returns how many nibbles the keys of a part have in common in a trie with this many leaves.
func partDepth(leaves int) (depth int) {
	for depth = 1; leaves >= 1<<(5+4*depth) && depth < 3; depth++ {
	}
	return depth
}

// AllAccounts stands for the account trie where storage tries have a contract's address.
var AllAccounts = []byte{}

// PartedAccountTrie returns the state trie, made from the parts in the file, or from all accounts if the parts belong to another state.
func (f FlatState) PartedAccountTrie(kind Kind, root common.Hash) (*Trie, error) {
	tree, err := f.PartsOf(kind, AllAccounts, root)
	if tree != nil || err != nil {
		return tree, err
	}
	return f.AccountTrie(kind)
}

// PartedStorageTrie returns a contract's storage trie, made from the parts in the file, or from all slots if the parts belong to another
// state.
func (f FlatState) PartedStorageTrie(kind Kind, address common.Address, root common.Hash) (*Trie, error) {
	tree, err := f.PartsOf(kind, address[:], root)
	if tree != nil || err != nil {
		return tree, err
	}
	return f.StorageTrie(kind, address)
}

// PartsOf makes the trie of the accounts or of a contract's storage from the parts in the file. It returns nil if there are none, or if
// their root differs.
func (f FlatState) PartsOf(kind Kind, owner []byte, root common.Hash) (*Trie, error) {
	var parts []mpt.Part
	leaves := 0
	err := f.db.TrieParts(f.ctx, f.chain, owner, func(p *store.TriePart) {
		parts = append(parts, mpt.Part{Prefix: string(p.Prefix), Hash: common.BytesToHash(p.Hash)})
		leaves += p.Size / store.TrieKeySize(owner)
	})
	if len(parts) == 0 || err != nil {
		return nil, err
	}
	tree, err := mpt.NewTrie(parts, f.loader(kind, owner))
	if err != nil || tree.Hash() != root {
		return nil, f.ctx.Err()
	}
	return &Trie{Trie: *tree, kind: kind, leaves: leaves, depth: len(parts[0].Prefix)}, nil
}

// CompareParts compares the parts of a trie in the file, if any, with the trie made from all leaves.
func (f FlatState) CompareParts(owner []byte, tree *Trie) error {
	parts, keys, same := 0, 0, true
	err := f.db.TriePartsWithKeys(f.ctx, f.chain, owner, func(p *store.TriePart) {
		parts++
		if hash, _ := tree.PartHash(string(p.Prefix)); hash != common.BytesToHash(p.Hash) {
			same = false
		}
		for key := range slices.Chunk(p.Keys, store.TrieKeySize(owner)) {
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

// CompareBalances compares the balances stored with the parts of the account trie with all existing accounts, by address.
func (f FlatState) CompareBalances(accounts []store.Account) error {
	var wrong error
	err := f.db.EachNewestBalance(f.ctx, f.chain, func(address, balance []byte) {
		at, found := slices.BinarySearchFunc(accounts, address, func(a store.Account, address []byte) int { return bytes.Compare(a.Address, address) })
		if !found || !bytes.Equal(common.TrimLeftZeroes(accounts[at].Balance), balance) {
			wrong = fmt.Errorf("parts of the trie of 0x: the balance of 0x%x: %w", address, mpt.ErrPart)
		}
	})
	return errors.Join(err, wrong)
}

// PartsBefore returns the changes that turn the parts in the file, which are those of this state with a root, into the parts of the state after
// an earlier block with another root. It needs to know which accounts and slots changed since. It drops parts that it cannot make.
func (f FlatState) PartsBefore(kind Kind, root, earlierRoot common.Hash, plan *store.ChainRewind) ([]store.TrieChange, error) {
	earlier := f
	earlier.block = plan.After
	l := newStateDatabase(kind)
	l.base = &earlier
	accounts := store.TrieChange{Owner: AllAccounts, Anew: true}
	tree, err := f.PartsOf(kind, AllAccounts, root)
	if err != nil {
		return nil, err
	}
	if tree != nil {
		there, err := l.restoreAccounts(tree, plan.Accounts)
		if err == nil && tree.Hash() == earlierRoot {
			accounts.Anew = false
			accounts.Parts, err = l.partsOf(AllAccounts, tree, there)
		}
		if err != nil {
			return nil, err
		}
	}
	changes := []store.TrieChange{accounts}
	for _, address := range slices.SortedFunc(maps.Keys(plan.Slots), common.Address.Cmp) {
		c, err := f.slotPartsBefore(l, address, plan.Slots[address])
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// restoreAccounts applies the earlier state of accounts to a trie, and returns which of them exist then.
func (l *stateDatabase) restoreAccounts(tree *Trie, addresses map[common.Address]bool) (map[string]bool, error) {
	there := map[string]bool{}
	for address := range addresses {
		account, err := l.base.Account(address)
		switch {
		case err != nil:
		case account == nil:
			err = tree.DeleteAccount(address)
		default:
			err = tree.UpdateAccount(address, account, 0)
		}
		if err != nil {
			return nil, err
		}
		there[string(address[:])] = account != nil
	}
	return there, nil
}

// slotPartsBefore is PartsBefore for a contract's storage.
func (f FlatState) slotPartsBefore(l *stateDatabase, address common.Address, keys map[common.Hash]bool) (store.TrieChange, error) {
	c := store.TrieChange{Owner: address[:], Anew: true}
	now, err := f.Account(address)
	if now == nil || err != nil {
		return c, err
	}
	earlier, err := l.base.Account(address)
	if earlier == nil || err != nil {
		return c, err
	}
	tree, err := f.PartsOf(l.kind, address[:], now.Root)
	if tree == nil || err != nil {
		return c, err
	}
	there := map[string]bool{}
	root := l.restoreSlots(tree, address, func(yield func(common.Hash, common.Hash) bool) {
		for key := range keys {
			if !yield(key, common.Hash{}) {
				return
			}
		}
	})
	if root != earlier.Root {
		return c, nil
	}
	for key := range keys {
		value, err := l.base.Storage(address, key)
		if err != nil {
			return c, err
		}
		there[string(key[:])] = value != common.Hash{}
	}
	c.Anew = false
	c.Parts, err = l.partsOf(address[:], tree, there)
	return c, err
}

func (f FlatState) loader(kind Kind, owner []byte) mpt.Loader {
	return func(prefix string, visit func(common.Hash, []byte)) error {
		keys, err := f.db.TriePartKeys(f.ctx, f.chain, owner, []byte(prefix))
		if err != nil {
			return err
		}
		for key := range slices.Chunk(keys, store.TrieKeySize(owner)) {
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

// leaf returns the leaf of an account, or of a contract's slot; nil for none.
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

// keys lists the accounts, or the non-zero slots of a contract.
func (f FlatState) keys(owner []byte) (map[string]bool, error) {
	keys := map[string]bool{}
	if len(owner) > 0 {
		slots, err := f.slotKeys(common.BytesToAddress(owner))
		for _, key := range slots {
			keys[string(key[:])] = true
		}
		return keys, err
	}
	rows, err := f.db.AccountsAt(f.ctx, f.chain, f.block)
	for i := range rows {
		if !rows[i].Gone {
			keys[string(rows[i].Address)] = true
		}
	}
	return keys, err
}

// prefixOf returns the first nibbles of a key's hash.
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

// partsOf returns the parts of a trie that hold, or held, some keys.
func (l *stateDatabase) partsOf(owner []byte, tree *Trie, keys map[string]bool) (parts []store.TriePart, err error) {
	byPrefix := map[string]*store.TriePart{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		prefix := prefixOf([]byte(key), tree.depth)
		p := byPrefix[prefix]
		if p == nil {
			p = &store.TriePart{Prefix: []byte(prefix)}
			byPrefix[prefix] = p
		}
		if !keys[key] {
			p.Gone = append(p.Gone, key...)
			continue
		}
		p.Keys = append(p.Keys, key...)
		if len(owner) > 0 {
			continue
		}
		account, err := l.Account(common.BytesToAddress([]byte(key)))
		if err != nil {
			return nil, err
		}
		balance := account.Balance.Bytes()
		p.Balances = append(append(p.Balances, byte(len(balance))), balance...)
	}
	for _, prefix := range slices.Sorted(maps.Keys(byPrefix)) {
		p := byPrefix[prefix]
		if hash, there := tree.PartHash(prefix); there {
			p.Hash = hash.Bytes()
		}
		parts = append(parts, *p)
	}
	return parts, nil
}

// touched holds the accounts and slots that commits changed.
type touched struct {
	accounts map[common.Address]bool
	slots    map[common.Address]map[common.Hash]bool
}

func (t *touched) add(update *state.StateUpdate) {
	if t.accounts == nil {
		t.accounts, t.slots = map[common.Address]bool{}, map[common.Address]map[common.Hash]bool{}
	}
	for address := range update.AccountsOrigin {
		t.accounts[address] = true
	}
	for address, keys := range update.StoragesOrigin {
		if t.slots[address] == nil {
			t.slots[address] = map[common.Hash]bool{}
		}
		for key := range keys {
			t.slots[address][key] = true
		}
	}
}

// changedTries returns the changes that commits, of a block or of state changes after it, made to the trie parts in the file, including all
// parts of tries that became large. The parts of a chain built from block 0 are written at the end.
func (l *stateDatabase) changedTries(changed *touched) (changes []store.TrieChange, err error) {
	if l.base == nil {
		return nil, nil
	}
	accounts := map[string]bool{}
	for address := range changed.accounts {
		accounts[string(address[:])] = !l.accounts.all[address].gone
	}
	changes, err = l.changedTrie(nil, AllAccounts, l.trie, accounts)
	for _, address := range slices.SortedFunc(maps.Keys(changed.slots), common.Address.Cmp) {
		slots := map[string]bool{}
		for key := range changed.slots[address] {
			value, _ := l.slots.get(address, key)
			slots[string(key[:])] = value != common.Hash{}
		}
		if err == nil {
			changes, err = l.changedTrie(changes, address.Bytes(), l.tries[address], slots)
		}
	}
	return changes, err
}

// gained returns how many leaves a trie gained when a key changed.
func gained(before, now bool) int {
	switch {
	case now && !before:
		return 1
	case before && !now:
		return -1
	}
	return 0
}

// changedTrie adds the changes of a trie in which some keys were set or deleted.
func (l *stateDatabase) changedTrie(changes []store.TrieChange, owner []byte, tree *Trie, keys map[string]bool) ([]store.TrieChange, error) {
	c := store.TrieChange{Owner: owner}
	var err error
	switch {
	case len(owner) > 0 && (tree == nil || l.accounts.all[common.BytesToAddress(owner)].gone): // the contract was deleted
		c.Anew = true
	case tree.depth > 0:
		c.Parts, err = l.partsOf(owner, tree, keys)
	case tree.leaves >= partedLeaves:
		if err = tree.LoadAll(); err == nil {
			c, err = l.allParts(owner, tree)
		}
	default:
		return changes, nil
	}
	return append(changes, c), err
}

// largeTries returns all parts of the large tries of a chain built from block 0.
func (l *stateDatabase) largeTries() (changes []store.TrieChange) {
	add := func(owner []byte, tree *Trie) {
		if tree.leaves >= partedLeaves {
			c, _ := l.allParts(owner, tree) // needs no reading
			changes = append(changes, c)
		}
	}
	add(AllAccounts, l.trie)
	for _, address := range slices.SortedFunc(maps.Keys(l.tries), common.Address.Cmp) {
		add(address.Bytes(), l.tries[address])
	}
	return changes
}

// allParts returns the parts of a trie with all of their keys.
func (l *stateDatabase) allParts(owner []byte, tree *Trie) (c store.TrieChange, err error) {
	keys := map[string]bool{}
	if l.base != nil {
		if keys, err = l.base.keys(owner); err != nil {
			return c, err
		}
	}
	set := func(key []byte, there bool) {
		if keys[string(key)] = true; !there {
			delete(keys, string(key))
		}
	}
	if len(owner) == 0 {
		for address, account := range l.accounts.all {
			set(address[:], !account.gone)
		}
	} else {
		for key, value := range l.slots.of(common.BytesToAddress(owner)) {
			set(key[:], value != common.Hash{})
		}
	}
	tree.depth = partDepth(len(keys))
	c = store.TrieChange{Owner: owner, Anew: true}
	c.Parts, err = l.partsOf(owner, tree, keys)
	return c, err
}
