package population

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/secp256k1"
	"snowglobe/sim/txs"
)

// Account is a key with its addresses on all chains.
type Account struct {
	Key     *secp256k1.Key
	Address common.Address
	Primary *txs.Key // the same key as owner of UTXOs

	owner txs.OutputOwners
}

// NewAccount returns the account of a private key.
func NewAccount(secret []byte) (*Account, error) {
	key, err := secp256k1.NewKey(secret)
	if err != nil {
		return nil, err
	}
	owner := txs.NewKey(key)
	return &Account{Key: key, Address: owner.EVMAddress(), Primary: owner, owner: txs.NewOwner(owner.Address())}, nil
}

// Owner returns the account as an owner on P and X. All its outputs share one list of addresses.
func (a *Account) Owner() txs.OutputOwners { return a.owner }

// NewAccounts makes the accounts other than personas, the most active first. An account's key is a hash of its number.
func NewAccounts(g RNG, size int) ([]*Account, error) {
	all := make([]*Account, size)
	for i := range all {
		secret := g.Hash("account", i)
		var err error
		if all[i], err = NewAccount(secret[:]); err != nil {
			return nil, fmt.Errorf("account %d: %w", i, err)
		}
	}
	return all, nil
}
