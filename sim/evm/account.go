package evm

import (
	"bytes"
	"iter"
	"maps"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// accounts are those that changed since a state was loaded. A chain has hundreds of thousands: without pointers they take half the memory,
// and the garbage collector has nothing to look at.
type accounts struct {
	all       map[common.Address]account
	contracts map[common.Address]contract // of those that have code or storage
}

type account struct {
	balance  uint256.Int
	nonce    uint64
	gone     bool
	contract bool
}

type contract struct{ root, codeHash common.Hash }

func newAccounts() accounts {
	return accounts{map[common.Address]account{}, map[common.Address]contract{}}
}

// get is an account as it is now, nil when it is gone, and whether it changed.
func (a accounts) get(address common.Address) (now *types.StateAccount, changed bool) {
	kept, changed := a.all[address]
	if !changed || kept.gone {
		return nil, changed
	}
	whole := &struct {
		types.StateAccount
		balance uint256.Int
	}{balance: kept.balance}
	now = &whole.StateAccount
	now.Nonce, now.Balance, now.Root, now.CodeHash = kept.nonce, &whole.balance, types.EmptyRootHash, emptyCodeHash
	if kept.contract {
		c := a.contracts[address]
		now.Root, now.CodeHash = c.root, c.codeHash[:]
	}
	return now, true
}

// emptyCodeHash is what accounts without code share. Nothing writes into it.
var emptyCodeHash = types.EmptyCodeHash.Bytes()

// set changes an account; nil says that it is gone.
func (a accounts) set(address common.Address, to *types.StateAccount) {
	if to == nil {
		delete(a.contracts, address)
		a.all[address] = account{gone: true}
		return
	}
	kept := account{balance: *to.Balance, nonce: to.Nonce, contract: to.Root != types.EmptyRootHash || !bytes.Equal(to.CodeHash, emptyCodeHash)}
	if kept.contract {
		a.contracts[address] = contract{to.Root, common.BytesToHash(to.CodeHash)}
	} else {
		delete(a.contracts, address)
	}
	a.all[address] = kept
}

// storage are the slots of accounts that changed since a state was loaded. Most contracts have one: those are kept without a map each.
type storage struct {
	single map[common.Address]slot
	many   map[common.Address]map[common.Hash]common.Hash
}

type slot struct{ key, value common.Hash }

func newStorage() storage {
	return storage{map[common.Address]slot{}, map[common.Address]map[common.Hash]common.Hash{}}
}

// get is what a slot has now, and whether it changed.
func (s storage) get(address common.Address, key common.Hash) (value common.Hash, changed bool) {
	if slots := s.many[address]; slots != nil {
		value, changed = slots[key]
		return value, changed
	}
	if only, there := s.single[address]; there && only.key == key {
		return only.value, true
	}
	return common.Hash{}, false
}

// set changes a slot.
func (s storage) set(address common.Address, key, value common.Hash) {
	slots := s.many[address]
	if slots == nil {
		only, there := s.single[address]
		if !there || only.key == key {
			s.single[address] = slot{key, value}
			return
		}
		slots = map[common.Hash]common.Hash{only.key: only.value}
		s.many[address] = slots
		delete(s.single, address)
	}
	slots[key] = value
}

// of are the slots of an account that changed.
func (s storage) of(address common.Address) iter.Seq2[common.Hash, common.Hash] {
	if slots := s.many[address]; slots != nil {
		return maps.All(slots)
	}
	return func(yield func(key, value common.Hash) bool) {
		if only, there := s.single[address]; there {
			yield(only.key, only.value)
		}
	}
}

// count is how many slots of an account changed.
func (s storage) count(address common.Address) int {
	if slots := s.many[address]; slots != nil {
		return len(slots)
	}
	if _, there := s.single[address]; there {
		return 1
	}
	return 0
}
