package evm

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/triedb"

	"snowglobe/sim/store"
)

// stateDatabase implements state.Database for the head of a chain, in memory: the changes since it was loaded, the tries that hash it, and the state
// that was loaded.
type stateDatabase struct {
	kind     Kind
	base     *FlatState // nil for a chain that starts here
	accounts accounts
	slots    storage
	codes    map[common.Hash][]byte

	trie  *Trie
	mu    sync.Mutex // hashing a block opens storage tries concurrently
	tries map[common.Address]*Trie

	deleted map[common.Address]map[common.Hash]bool // accounts that the next commit deletes, and their slots

	update *state.StateUpdate // changed by the last commit
}

var (
	_ state.Database = (*stateDatabase)(nil)
	_ state.Reader   = (*stateDatabase)(nil)
)

func newStateDatabase(kind Kind) *stateDatabase {
	return &stateDatabase{
		kind:     kind,
		accounts: accounts{map[common.Address]account{}, map[common.Address]contract{}},
		slots:    storage{map[common.Address]slot{}, map[common.Address]map[common.Hash]common.Hash{}},
		codes:    map[common.Hash][]byte{},
		trie:     newTrie(kind),
		tries:    map[common.Address]*Trie{},
		deleted:  map[common.Address]map[common.Hash]bool{},
	}
}

func (l *stateDatabase) Account(address common.Address) (*types.StateAccount, error) {
	account, changed := l.accounts.get(address)
	if !changed && l.base != nil {
		return l.base.Account(address)
	}
	return account, nil
}

func (l *stateDatabase) Storage(address common.Address, key common.Hash) (common.Hash, error) {
	value, known := l.slots.get(address, key)
	if !known && l.base != nil {
		return l.base.Storage(address, key)
	}
	return value, nil
}

func (l *stateDatabase) Code(address common.Address, hash common.Hash) []byte {
	code, known := l.codes[hash]
	if !known && l.base != nil {
		return l.base.Code(address, hash)
	}
	return code
}

func (l *stateDatabase) Has(address common.Address, hash common.Hash) bool {
	return len(l.Code(address, hash)) > 0
}

func (l *stateDatabase) CodeSize(address common.Address, hash common.Hash) int {
	return len(l.Code(address, hash))
}

func (l *stateDatabase) Type() state.DatabaseType                     { return state.TypeMPT }
func (l *stateDatabase) Reader(common.Hash) (state.Reader, error)     { return l, nil }
func (l *stateDatabase) Iteratee(common.Hash) (state.Iteratee, error) { return nil, ErrFlatState }
func (l *stateDatabase) TrieDB() *triedb.Database                     { return nil }

func (l *stateDatabase) OpenTrie(common.Hash) (state.Trie, error) {
	return l.trie, nil
}

func (l *stateDatabase) OpenStorageTrie(_ common.Hash, address common.Address, root common.Hash, _ state.Trie) (state.Trie, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.tries[address]
	if before != nil && root != types.EmptyRootHash {
		return before, nil
	}
	var tree *Trie
	var err error
	switch {
	case root == types.EmptyRootHash:
		tree = newTrie(l.kind)
	case l.base == nil:
		tree, err = l.smallTrie(address, root)
	default:
		tree, err = l.base.PartedStorageTrie(l.kind, address, root)
	}
	if err != nil {
		return nil, fmt.Errorf("storage of %s: %w", address, err)
	}
	l.tries[address] = tree
	return tree, nil
}

// smallSlots is the most slots a contract may have to get a new trie in each block that changes it. A chain has tens of thousands of such
// contracts, and most never change again.
const smallSlots = 16

// smallTrie returns the storage trie of a small contract on a chain that starts here. Nothing keeps it.
func (l *stateDatabase) smallTrie(address common.Address, root common.Hash) (*Trie, error) {
	tree := newTrie(l.kind)
	for key, value := range l.slots.of(address) {
		if value == (common.Hash{}) {
			continue
		}
		if err := tree.UpdateStorage(address, key[:], common.TrimLeftZeroes(value[:])); err != nil {
			return nil, err
		}
		tree.leaves++
	}
	if hash := tree.Hash(); hash != root {
		return nil, fmt.Errorf("the slots hash to %s, want %s", hash, root)
	}
	return tree, nil
}

// inherit takes over the tries of a state that was reverted to this one, and reads the changed parts again. It reports whether the account trie
// has the expected root.
func (l *stateDatabase) inherit(later *stateDatabase, root common.Hash) bool {
	if later.base == nil || later.base.block > l.base.block {
		return false
	}
	for address, was := range later.accounts.all {
		account, err := l.base.Account(address)
		switch {
		case err != nil:
			return false
		case account == nil:
			err = later.trie.DeleteAccount(address)
		default:
			err = later.trie.UpdateAccount(address, account, 0)
		}
		if err != nil {
			return false
		}
		later.trie.leaves += gained(!was.gone, account != nil)
		if tree := later.tries[address]; tree != nil && account != nil && l.restoreSlots(tree, address, later.slots.of(address)) == account.Root {
			l.tries[address] = tree
			if err := l.adopt(tree, address[:]); err != nil {
				return false
			}
		}
	}
	l.trie = later.trie
	return l.adopt(l.trie, AllAccounts) == nil && l.trie.Hash() == root
}

// adopt makes a trie with parts read them from the file.
func (l *stateDatabase) adopt(tree *Trie, owner []byte) (err error) {
	if tree.depth > 0 {
		tree.SetLoader(l.base.loader(l.kind, owner))
		tree.depth, err = l.base.db.TrieDepth(l.base.ctx, l.base.chain, owner)
	}
	return err
}

// restoreSlots applies a contract's changed slots to its trie and returns the root, or no root if that failed.
func (l *stateDatabase) restoreSlots(tree *Trie, address common.Address, changed iter.Seq2[common.Hash, common.Hash]) common.Hash {
	for key, was := range changed {
		value, err := l.base.Storage(address, key)
		switch {
		case err != nil:
		case value == common.Hash{}:
			err = tree.DeleteStorage(address, key[:])
		default:
			err = tree.UpdateStorage(address, key[:], common.TrimLeftZeroes(value[:]))
		}
		if err != nil {
			return common.Hash{}
		}
		tree.leaves += gained(was != common.Hash{}, value != common.Hash{})
	}
	return tree.Hash()
}

// Commit takes over the changes of a block.
func (l *stateDatabase) Commit(update *state.StateUpdate) error {
	l.addDeletions(update)
	for address, before := range update.AccountsOrigin {
		now := update.Accounts[crypto.Keccak256Hash(address[:])]
		l.trie.leaves += gained(before != nil, now != nil)
		l.accounts.set(address, now)
	}
	for address, keys := range update.StoragesOrigin {
		values := update.Storages[crypto.Keccak256Hash(address[:])]
		grown := 0
		for key, before := range keys {
			now := values[crypto.Keccak256Hash(key[:])]
			grown += gained(before != common.Hash{}, now != common.Hash{})
			l.slots.set(address, key, now)
		}
		if tree := l.tries[address]; tree != nil {
			tree.leaves += grown
		}
		if l.base == nil && l.slots.count(address) <= smallSlots {
			delete(l.tries, address)
		}
	}
	for _, code := range update.Codes {
		l.codes[code.Hash] = code.Blob
	}
	l.update = update
	return nil
}

// rows returns the flat rows that the last commit changed, sorted by key.
func (l *stateDatabase) rows(delta *store.Delta, chain int, block uint64) {
	for address := range l.update.AccountsOrigin {
		account, _ := l.accounts.get(address)
		delta.Accounts = append(delta.Accounts, accountRow(chain, block, address, account))
	}
	slices.SortFunc(delta.Accounts, func(a, b store.Account) int { return bytes.Compare(a.Address, b.Address) })
	for address, keys := range l.update.StoragesOrigin {
		for key := range keys {
			value, _ := l.slots.get(address, key)
			delta.Slots = append(delta.Slots, store.Slot{
				Chain: chain, Address: bytes.Clone(address[:]), Key: bytes.Clone(key[:]), Block: block,
				Value: append([]byte{}, common.TrimLeftZeroes(value[:])...), // never nil: a cleared slot is an empty blob
			})
		}
	}
	slices.SortFunc(delta.Slots, func(a, b store.Slot) int {
		if c := bytes.Compare(a.Address, b.Address); c != 0 {
			return c
		}
		return bytes.Compare(a.Key, b.Key)
	})
	for _, code := range l.update.Codes {
		if len(code.Blob) == 0 { // a state change removed it
			continue
		}
		delta.Codes = append(delta.Codes, store.Code{Hash: bytes.Clone(code.Hash[:]), Code: code.Blob})
	}
	slices.SortFunc(delta.Codes, func(a, b store.Code) int { return bytes.Compare(a.Hash, b.Hash) })
	delta.Codes = slices.CompactFunc(delta.Codes, func(a, b store.Code) bool { return bytes.Equal(a.Hash, b.Hash) })
}

func accountRow(chain int, block uint64, address common.Address, account *types.StateAccount) store.Account {
	row := store.Account{Chain: chain, Address: bytes.Clone(address[:]), Block: block, Balance: make([]byte, 32)}
	if account == nil {
		row.Gone = true
		return row
	}
	row.Nonce = account.Nonce
	account.Balance.WriteToSlice(row.Balance)
	if !bytes.Equal(account.CodeHash, types.EmptyCodeHash[:]) {
		row.CodeHash = bytes.Clone(account.CodeHash)
	}
	if account.Root != types.EmptyRootHash {
		row.Root = bytes.Clone(account.Root[:])
	}
	return row
}
