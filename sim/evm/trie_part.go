package evm

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/mpt"
	"snowglobe/sim/store"
)

// The file stores the hashes of the parts of large tries, cut into 16, 256 or 4,096 so that a part has a few dozen keys. Rebuilding a
// smaller trie from all its leaves is quick.
const partedLeaves = 64

// partDepth returns how many nibbles the keys of a part have in common in a trie with this many leaves.
func partDepth(leaves int) (depth int) {
	for depth = 1; leaves >= 1<<(7+4*depth) && depth < 3; depth++ {
	}
	return depth
}

// For tries with very many leaves the file also stores versions of the parts: how their hashes changed with each block, for proofs of old
// states. A smaller trie is rebuilt from all its leaves in a few milliseconds.
const (
	versionedLeaves = 1536
	wholeVersion    = 4096 // after this many hashes the next version has all parts, so that a reader need not look further back
)

// AllAccounts stands for the account trie where storage tries have a contract's address.
var AllAccounts = []byte{}

// PartedAccountTrie returns the state trie, made from the parts in the file, or from all accounts if the parts belong to another state.
func (f FlatState) PartedAccountTrie(kind Kind, root common.Hash) (*Trie, error) {
	tree, err := f.partedTrie(kind, AllAccounts, root)
	if tree != nil || err != nil {
		return tree, err
	}
	return f.AccountTrie(kind)
}

// PartedStorageTrie returns a contract's storage trie, made from the parts in the file, or from all slots if the parts belong to another
// state.
func (f FlatState) PartedStorageTrie(kind Kind, address common.Address, root common.Hash) (*Trie, error) {
	tree, err := f.partedTrie(kind, address[:], root)
	if tree != nil || err != nil {
		return tree, err
	}
	return f.StorageTrie(kind, address)
}

// partedTrie makes a trie from the versions of its parts if it changed since, or else from the current parts. It returns nil if the root
// differs.
func (f FlatState) partedTrie(kind Kind, owner []byte, root common.Hash) (*Trie, error) {
	changed, err := f.versionedFrom(owner, f.block+1)
	if err != nil {
		return nil, err
	}
	if changed {
		return f.versionOf(kind, owner, root)
	}
	return f.PartsOf(kind, owner, root)
}

// versionedFrom reports whether the file has versions of a trie's parts at a block or later.
func (f FlatState) versionedFrom(owner []byte, block uint64) (bool, error) {
	_, err := f.db.NextTrieVersion(f.ctx, f.chain, owner, block)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// versionOf makes a trie from the versions of its parts or, before the first version, from the keys that existed by then. It returns nil if
// the root differs.
func (f FlatState) versionOf(kind Kind, owner []byte, root common.Hash) (*Trie, error) {
	hashes, err := f.VersionHashes(owner)
	if err != nil {
		return nil, err
	}
	tree := newTrie(kind)
	if hashes == nil {
		err = f.putPast(tree, owner)
	} else if parted, partErr := mpt.NewTrie(hashes.parts(), f.loader(kind, owner)); partErr == nil {
		tree.Trie = *parted
	}
	if err != nil || tree.Hash() != root {
		return nil, errors.Join(err, f.ctx.Err())
	}
	return tree, nil
}

// putPast adds to a trie the past values of the keys it had by its first version.
func (f FlatState) putPast(tree *Trie, owner []byte) error {
	past, err := f.db.PastKeys(f.ctx, f.chain, owner, []byte{})
	if err != nil {
		return err
	}
	keys := slices.Collect(slices.Chunk(past, keySize(owner)))
	for some := range slices.Chunk(keys, store.MostAmong) {
		if len(owner) == 0 {
			var rows []store.Account
			if rows, err = f.db.AccountsAmong(f.ctx, f.chain, some, f.block); err == nil {
				err = tree.putAccounts(rows)
			}
		} else {
			var rows []store.Slot
			if rows, err = f.db.SlotsAmong(f.ctx, f.chain, owner, some, f.block); err == nil {
				err = tree.putSlots(rows)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// VersionHashes returns the hashes that the parts of a trie had at a block, nil if the first version is later.
func (f FlatState) VersionHashes(owner []byte) (hashes *PartHashes, err error) {
	err = f.db.TrieVersions(f.ctx, f.chain, owner, f.block, func(v *store.TrieVersion) {
		if hashes == nil {
			hashes = &PartHashes{}
		}
		hashes.Follow(v)
	})
	return hashes, err
}

// PartHashes maps the two nibbles of a part's prefix, as a byte, to the hash of a versioned part.
type PartHashes [1 << (4 * store.VersionDepth)]common.Hash

// Follow applies a version to the hashes.
func (h *PartHashes) Follow(v *store.TrieVersion) {
	if v.Whole {
		*h = PartHashes{}
	}
	v.Each(func(prefix byte, hash common.Hash) { h[prefix] = hash })
}

// parts lists the parts that exist.
func (h *PartHashes) parts() (parts []mpt.Part) {
	for i := range h {
		if h[i] != (common.Hash{}) {
			parts = append(parts, mpt.Part{Prefix: versionPrefix(byte(i)), Hash: h[i]})
		}
	}
	return parts
}

func versionPrefix(at byte) string { return string([]byte{at >> 4, at & 15}) }

// PartsOf makes the trie of the accounts or of a contract's storage from the parts in the file. It returns nil if there are none, or if
// their root differs.
func (f FlatState) PartsOf(kind Kind, owner []byte, root common.Hash) (*Trie, error) {
	var parts []mpt.Part
	leaves := 0
	err := f.db.TrieParts(f.ctx, f.chain, owner, func(p *store.TriePart) {
		parts = append(parts, mpt.Part{Prefix: string(p.Prefix), Hash: common.BytesToHash(p.Hash)})
		leaves += p.Size / keySize(owner)
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
		for key := range slices.Chunk(p.Keys, keySize(owner)) {
			if keys++; prefixOf(key, len(p.Prefix)) != string(p.Prefix) {
				same = false
			}
		}
	})
	if err == nil && parts > 0 && (!same || keys != tree.leaves) {
		err = fmt.Errorf("parts of the trie of 0x%x: %w", owner, mpt.ErrPart)
	}
	if err != nil {
		return err
	}
	hashes, err := f.VersionHashes(owner)
	if err == nil && hashes != nil && *hashes != tree.partHashes() {
		err = fmt.Errorf("versions of the trie of 0x%x: %w", owner, mpt.ErrPart)
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

// CheckPastKeys checks that the file has every key a versioned trie ever had.
func (f FlatState) CheckPastKeys(owner []byte) error {
	first, err := f.db.NextTrieVersion(f.ctx, f.chain, owner, 0)
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return err
	}
	keys, err := f.keys(owner)
	if err != nil {
		return err
	}
	wanted := pastKeys(keys)
	if f.block = first.Block; f.block > 0 {
		f.block--
		if keys, err = f.keys(owner); err != nil {
			return err
		}
		wanted = append(wanted, allKeys(keys))
	}
	for _, p := range wanted {
		past, err := f.db.PastKeys(f.ctx, f.chain, owner, p.Prefix)
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for key := range slices.Chunk(past, keySize(owner)) {
			found[string(key)] = true
		}
		for key := range slices.Chunk(p.Keys, keySize(owner)) {
			if !found[string(key)] {
				return fmt.Errorf("keys that the trie of 0x%x had: 0x%x is missing", owner, key)
			}
		}
	}
	return nil
}

// loader reads the keys of a part, and for versioned parts also the deleted ones.
func (f FlatState) loader(kind Kind, owner []byte) mpt.Loader {
	return func(prefix string, visit func(common.Hash, []byte)) error {
		keys, err := f.db.TriePartKeys(f.ctx, f.chain, owner, []byte(prefix))
		if err != nil {
			return err
		}
		if len(prefix) == store.VersionDepth {
			past, err := f.db.PastKeys(f.ctx, f.chain, owner, []byte(prefix)) // read these last: a key deleted meanwhile is in one of the two
			if err != nil {
				return err
			}
			keys = append(keys, past...)
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

// keys lists every account, or slot of a contract, that ever existed, and whether it still does.
func (f FlatState) keys(owner []byte) (map[string]bool, error) {
	keys := map[string]bool{}
	if len(owner) > 0 {
		rows, err := f.db.SlotsAt(f.ctx, f.chain, owner, f.block)
		for i := range rows {
			keys[string(rows[i].Key)] = len(rows[i].Value) > 0
		}
		return keys, err
	}
	rows, err := f.db.AccountsAt(f.ctx, f.chain, f.block)
	for i := range rows {
		keys[string(rows[i].Address)] = !rows[i].Gone
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
func (l *buildState) partsOf(owner []byte, tree *Trie, keys map[string]bool) (parts []store.TriePart, err error) {
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

// changedTries returns the changes that the last commit, of a block or of a state change after it, made to the trie parts in the file,
// including all parts of tries that became large.
func (l *buildState) changedTries(block uint64) (changes []store.TrieChange, err error) {
	if l.base == nil {
		return l.newVersions(block)
	}
	accounts := map[string]bool{}
	for address := range l.update.AccountsOrigin {
		accounts[string(address[:])] = !l.accounts.all[address].gone
	}
	changes, err = l.changedTrie(nil, AllAccounts, l.trie, accounts, block)
	for _, address := range slices.SortedFunc(maps.Keys(l.update.StoragesOrigin), common.Address.Cmp) {
		slots := map[string]bool{}
		for key := range l.update.StoragesOrigin[address] {
			value, _ := l.slots.get(address, key)
			slots[string(key[:])] = value != common.Hash{}
		}
		if err == nil {
			changes, err = l.changedTrie(changes, address.Bytes(), l.tries[address], slots, block)
		}
	}
	return changes, err
}

// newVersions returns the versions that the last commit made of tries on a chain built from block 0. The parts themselves are written at
// the end.
func (l *buildState) newVersions(block uint64) (changes []store.TrieChange, err error) {
	add := func(owner []byte, tree *Trie) {
		if tree == nil || !tree.versioned && tree.leaves < versionedLeaves {
			return
		}
		c := store.TrieChange{Owner: owner}
		if !tree.versioned {
			var keys map[string]bool
			keys, err = l.keys(owner)
			c.Past = []store.PastKeys{allKeys(keys)}
		}
		c.Version = tree.version(block)
		changes = append(changes, c)
	}
	add(AllAccounts, l.trie)
	for address := range l.update.StoragesOrigin {
		add(address.Bytes(), l.tries[address])
	}
	slices.SortFunc(changes, func(a, b store.TrieChange) int { return bytes.Compare(a.Owner, b.Owner) })
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
func (l *buildState) changedTrie(changes []store.TrieChange, owner []byte, tree *Trie, keys map[string]bool, block uint64) ([]store.TrieChange, error) {
	c := store.TrieChange{Owner: owner}
	if len(owner) > 0 && (tree == nil || l.accounts.all[common.BytesToAddress(owner)].gone) { // the contract was deleted
		versioned, err := l.base.versionedFrom(owner, 0)
		if c.Anew = true; versioned {
			c.Past, c.Version = pastKeys(keys), &store.TrieVersion{Block: block, Whole: true, Hashes: []byte{}}
		}
		return append(changes, c), err
	}
	first := !tree.versioned && tree.leaves >= versionedLeaves
	if tree.versioned {
		c.Past = pastKeys(keys)
	}
	switch {
	case tree.depth > 0 && !first:
		var err error
		if c.Parts, err = l.partsOf(owner, tree, keys); err != nil {
			return nil, err
		}
	case tree.leaves >= partedLeaves || tree.versioned:
		err := tree.LoadAll()
		if err == nil {
			c, err = l.allParts(owner, tree, first)
		}
		if err != nil {
			return nil, err
		}
	}
	if tree.versioned || first {
		c.Version = tree.version(block)
	}
	if c.Anew || c.Parts != nil || c.Version != nil {
		changes = append(changes, c)
	}
	return changes, nil
}

// version returns the hashes of the parts that may have changed, or of all parts. The caller of the first version also writes the keys so
// far.
func (t *Trie) version(block uint64) *store.TrieVersion {
	v := &store.TrieVersion{Block: block, Whole: !t.versioned || t.written >= wholeVersion, Hashes: []byte{}}
	if t.versioned = true; v.Whole {
		t.written = 0
	}
	for i, touched := range t.touched {
		if !touched && !v.Whole {
			continue
		}
		if hash := t.versionHash(byte(i)); hash != (common.Hash{}) || !v.Whole {
			v.Hashes = append(append(v.Hashes, byte(i)), hash[:]...)
		}
		if !v.Whole {
			t.written++
		}
	}
	clear(t.touched[:])
	return v
}

// versionHash returns the hash of a part, zero if it is empty.
func (t *Trie) versionHash(part byte) common.Hash {
	if hash, there := t.PartHash(versionPrefix(part)); there {
		return hash
	}
	return common.Hash{}
}

// partHashes returns the hashes of all parts.
func (t *Trie) partHashes() (h PartHashes) {
	for i := range h {
		h[i] = t.versionHash(byte(i))
	}
	return h
}

// largeTries returns all parts of the large tries of a chain built from block 0.
func (l *buildState) largeTries() (changes []store.TrieChange) {
	add := func(owner []byte, tree *Trie) {
		if tree.leaves >= partedLeaves || tree.versioned {
			c, _ := l.allParts(owner, tree, false) // needs no reading
			changes = append(changes, c)
		}
	}
	add(AllAccounts, l.trie)
	for _, address := range slices.SortedFunc(maps.Keys(l.tries), common.Address.Cmp) {
		add(address.Bytes(), l.tries[address])
	}
	return changes
}

// allParts returns the parts of a trie with all of their keys, deleted ones included if the trie has versions. The first version needs all
// keys so far.
func (l *buildState) allParts(owner []byte, tree *Trie, first bool) (store.TrieChange, error) {
	keys, err := l.keys(owner)
	if err != nil {
		return store.TrieChange{}, err
	}
	leaves := 0
	for _, there := range keys {
		leaves += gained(false, there)
	}
	tree.depth = partDepth(leaves)
	c := store.TrieChange{Owner: owner, Anew: true}
	if first || tree.versioned {
		tree.depth = max(tree.depth, store.VersionDepth)
		c.Past = pastKeys(keys)
	}
	if first {
		c.Past = append(c.Past, allKeys(keys))
	}
	c.Parts, err = l.partsOf(owner, tree, keys)
	return c, err
}

// keys lists every account, or slot of a contract, that ever existed, and whether it still does.
func (l *buildState) keys(owner []byte) (keys map[string]bool, err error) {
	keys = map[string]bool{}
	if l.base != nil {
		if keys, err = l.base.keys(owner); err != nil {
			return nil, err
		}
	}
	if len(owner) == 0 {
		for address, account := range l.accounts.all {
			keys[string(address[:])] = !account.gone
		}
		return keys, nil
	}
	for key, value := range l.slots.of(common.BytesToAddress(owner)) {
		keys[string(key[:])] = value != common.Hash{}
	}
	return keys, nil
}

// allKeys returns all keys, deleted ones included.
func allKeys(keys map[string]bool) store.PastKeys {
	all := store.PastKeys{Prefix: []byte{}}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		all.Keys = append(all.Keys, key...)
	}
	return all
}

// pastKeys returns the deleted keys by prefix.
func pastKeys(keys map[string]bool) (past []store.PastKeys) {
	byPrefix := map[string][]byte{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !keys[key] {
			prefix := prefixOf([]byte(key), store.VersionDepth)
			byPrefix[prefix] = append(byPrefix[prefix], key...)
		}
	}
	for _, prefix := range slices.Sorted(maps.Keys(byPrefix)) {
		past = append(past, store.PastKeys{Prefix: []byte(prefix), Keys: byPrefix[prefix]})
	}
	return past
}
