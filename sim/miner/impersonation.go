package miner

import (
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
)

// Impersonation lists the accounts that clients may send for without a key. It lasts as long as the process.
type Impersonation struct {
	mu       sync.Mutex
	accounts []common.Address // in the order in which clients named them
	all      bool
}

// Start lets clients send for an account.
func (i *Impersonation) Start(address common.Address) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.accounts, address) {
		i.accounts = append(i.accounts, address)
	}
}

// Stop ends what Start began. It returns false if there was nothing to end.
func (i *Impersonation) Stop(address common.Address) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	at := slices.Index(i.accounts, address)
	if at >= 0 {
		i.accounts = slices.Delete(i.accounts, at, at+1)
	}
	return at >= 0
}

// SetAll lets clients send for every account, or ends that.
func (i *Impersonation) SetAll(on bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = on
}

// Allows reports whether clients may send for an account.
func (i *Impersonation) Allows(address common.Address) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.all || slices.Contains(i.accounts, address)
}

// Accounts returns the named accounts.
func (i *Impersonation) Accounts() []common.Address {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.accounts)
}
