package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim/store"
)

// ErrFlatState answers requests for trie nodes, which go-ethereum's interfaces allow: the file has none.
var ErrFlatState = errors.New("the state is flat: it is read from rows, not from a trie")

// FlatState is the state of a chain after one block, read from the rows of the world file.
type FlatState struct {
	ctx   context.Context
	db    *store.DB
	chain int
	block uint64
}

var _ state.Reader = FlatState{}

// Fault returns the internal error that kept a state from being read, if any. go-ethereum passes it on as text only.
func Fault(states *state.StateDB) error { return store.Inside(states.Error()) }

// NewFlatState reads a chain's state after a block. All its reads use the context.
func NewFlatState(ctx context.Context, db *store.DB, chain int, block uint64) FlatState {
	return FlatState{ctx, db, chain, block}
}

// Account returns an account without its storage, nil if it does not exist.
func (f FlatState) Account(address common.Address) (*types.StateAccount, error) {
	row, err := f.db.Account(f.ctx, f.chain, address[:], f.block)
	if errors.Is(err, store.ErrNotFound) || err == nil && row.Gone {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", address, err)
	}
	return StateAccount(row), nil
}

// StateAccount returns the account of a row.
func StateAccount(row *store.Account) *types.StateAccount {
	account := &types.StateAccount{
		Nonce:    row.Nonce,
		Balance:  new(uint256.Int).SetBytes(row.Balance),
		Root:     types.EmptyRootHash,
		CodeHash: types.EmptyCodeHash[:],
	}
	if row.Root != nil {
		account.Root = common.BytesToHash(row.Root)
	}
	if row.CodeHash != nil {
		account.CodeHash = row.CodeHash
	}
	return account
}

// Storage returns the value of a slot, zero if it was never written.
func (f FlatState) Storage(address common.Address, key common.Hash) (common.Hash, error) {
	value, err := f.db.Slot(f.ctx, f.chain, address[:], key[:], f.block)
	return common.BytesToHash(value), err
}

// Slots returns the slots of a contract that were ever written, or nil if they had more than a number of values up to the block.
func (f FlatState) Slots(address common.Address, most int) (map[common.Hash]common.Hash, error) {
	values, err := f.db.SlotValues(f.ctx, f.chain, address[:], f.block, most+1)
	if err != nil || len(values) > most {
		return nil, err
	}
	slots := make(map[common.Hash]common.Hash, len(values))
	for i := range values {
		slots[common.BytesToHash(values[i].Key)] = common.BytesToHash(values[i].Value) // the newest comes last
	}
	return slots, nil
}

// Has reports whether the file has code with this hash.
func (f FlatState) Has(address common.Address, hash common.Hash) bool {
	return len(f.Code(address, hash)) > 0
}

// Code returns nil for code it cannot read: the interface has no room for an error, and verify checks the integrity of the file.
func (f FlatState) Code(_ common.Address, hash common.Hash) []byte {
	code, err := f.db.Code(f.ctx, hash[:])
	if err != nil {
		return nil
	}
	return code
}

// CodeSize returns the length of the code with this hash.
func (f FlatState) CodeSize(address common.Address, hash common.Hash) int {
	return len(f.Code(address, hash))
}

// AccountTrie makes the state trie, whose root is in the block's header, from all accounts.
func (f FlatState) AccountTrie(kind Kind) (*Trie, error) {
	rows, err := f.db.AccountsAt(f.ctx, f.chain, f.block)
	if err != nil {
		return nil, err
	}
	tree := newTrie(kind)
	return tree, tree.putAccounts(rows)
}

// StorageTrie makes a contract's storage trie, whose root is in its account, from all slots.
func (f FlatState) StorageTrie(kind Kind, address common.Address) (*Trie, error) {
	rows, err := f.db.SlotsAt(f.ctx, f.chain, address[:], f.block)
	if err != nil {
		return nil, err
	}
	tree := newTrie(kind)
	return tree, tree.putSlots(rows)
}

func (t *Trie) putAccounts(rows []store.Account) error {
	for i := range rows {
		if rows[i].Gone {
			continue
		}
		if err := t.UpdateAccount(common.BytesToAddress(rows[i].Address), StateAccount(&rows[i]), 0); err != nil {
			return err
		}
		t.leaves++
	}
	return nil
}

func (t *Trie) putSlots(rows []store.Slot) error {
	for i := range rows {
		if len(rows[i].Value) == 0 {
			continue
		}
		if err := t.UpdateStorage(common.Address{}, rows[i].Key, rows[i].Value); err != nil {
			return err
		}
		t.leaves++
	}
	return nil
}

// slotKeys returns the keys of a contract's non-zero slots.
func (f FlatState) slotKeys(address common.Address) ([]common.Hash, error) {
	rows, err := f.db.SlotsAt(f.ctx, f.chain, address[:], f.block)
	var keys []common.Hash
	for i := range rows {
		if len(rows[i].Value) > 0 {
			keys = append(keys, common.BytesToHash(rows[i].Key))
		}
	}
	return keys, err
}
