package evm

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
)

// withoutAccounts is the state under construction minus the accounts of precompiles that an upgrade disables. go-ethereum cannot delete an
// account that has storage, so withoutAccounts hides it while the block runs and deletes it on seal.
type withoutAccounts struct {
	*stateDatabase
	accounts map[common.Address]bool
}

var (
	_ state.Database = withoutAccounts{}
	_ state.Reader   = withoutAccounts{}
)

func (w withoutAccounts) Reader(common.Hash) (state.Reader, error) { return w, nil }

func (w withoutAccounts) Account(address common.Address) (*types.StateAccount, error) {
	if w.accounts[address] {
		return nil, nil
	}
	return w.stateDatabase.Account(address)
}

func (w withoutAccounts) Storage(address common.Address, key common.Hash) (common.Hash, error) {
	if w.accounts[address] {
		return common.Hash{}, nil
	}
	return w.stateDatabase.Storage(address, key)
}

// deleteAccount deletes an account from the state with the next commit.
func (l *stateDatabase) deleteAccount(address common.Address) error {
	keys := map[common.Hash]bool{}
	if l.base != nil {
		old, err := l.base.slotKeys(address)
		if err != nil {
			return fmt.Errorf("storage of %s: %w", address, err)
		}
		for _, key := range old {
			keys[key] = true
		}
	}
	for key, value := range l.slots.of(address) {
		keys[key] = value != common.Hash{}
	}
	delete(l.tries, address)
	l.deleted[address] = keys
	return l.trie.DeleteAccount(address)
}

func (l *stateDatabase) addDeletions(update *state.StateUpdate) {
	for address, keys := range l.deleted {
		if _, touched := update.AccountsOrigin[address]; !touched {
			update.AccountsOrigin[address] = nil
		}
		if update.StoragesOrigin[address] == nil {
			update.StoragesOrigin[address] = map[common.Hash]common.Hash{}
		}
		for key, held := range keys {
			if held {
				update.StoragesOrigin[address][key] = common.Hash{}
			}
		}
	}
	clear(l.deleted)
}
