package evm

import (
	"bytes"
	"iter"
	"maps"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// accounts holds the accounts that changed since a state was loaded. A chain has hundreds of thousands: without pointers they take half the
// memory, and the garbage collector skips them.
type accounts struct {
	all       map[common.Address]account
	contracts map[common.Address]contract // with code or storage
}

type account struct {
	balance  uint256.Int
	nonce    uint64
	gone     bool
	contract bool
}

type contract struct{ root, codeHash common.Hash }

// get returns an account's current state, nil if it was deleted, and whether it changed.
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

// emptyCodeHash is shared by all accounts without code. Nothing writes into it.
var emptyCodeHash = types.EmptyCodeHash.Bytes()

// set changes an account; nil deletes it.
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

// storage holds the slots of accounts that changed since a state was loaded. Most contracts change a single slot, which needs no map.
type storage struct {
	single map[common.Address]slot
	many   map[common.Address]map[common.Hash]common.Hash
}

type slot struct{ key, value common.Hash }

// get returns a slot's current value, and whether it changed.
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

func (s storage) count(address common.Address) int {
	if slots := s.many[address]; slots != nil {
		return len(slots)
	}
	if _, there := s.single[address]; there {
		return 1
	}
	return 0
}
