package evm

import (
	"bytes"

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
