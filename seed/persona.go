package seed

import (
	"crypto/ecdsa"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// Mnemonic is the well-known phrase whose first ten accounts are personas (m/44'/60'/0'/0/n).
const Mnemonic = "test test test test test test test test test test test junk"

// role is a persona: a name, what it is there for, and its key in hex.
type role struct{ name, purpose, key string }

// roles are the personas in the order of their ids.
var roles = []role{
	{"alice", "everyday wallet: many native transactions, a dozen ERC-20s, several pages everywhere", "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"},
	{"bob", "alice's counterpart: receives much, sends little", "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"},
	{"whale", "holds the largest balances: values near 2^96 and beyond 2^64", "5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"},
	{"deployer", "deployed every fixture contract, directly and through a factory (CREATE, CREATE2)", "7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"},
	{"collector", "ERC-721 and ERC-1155 of every metadata status", "47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a"},
	{"clumsy", "mostly failed transactions: reverts with and without reason, out of gas", "8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba"},
	{"spammed", "receives malicious tokens", "92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e"},
	{"indirect", "touched by internal transactions only", "4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356"},
	{"fresh", "funded, has never sent anything", "dbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97"},
	{"nobody", "has never been seen on any chain", "2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6"},
	{"ewoq", "the well-known development key, funded on every chain", "56289e99c94b6912bfc12adc093c9b51124f0dc54ac7a766b2bc5ccf558d8027"},
	{"hoarder", "more than 1,024 UTXOs at one address on X", "65d59af6012e178c528241ae22f56c5f7e2b8cf21f34903757d7c126d64a219a"},
	{"committee", "first of three who own outputs that two of them spend", "3c3528c7dbb617a4c1cb74c27a03852f01fa3b25b26c2f380d8f6f7c0c9a92e1"},
	{"committee-two", "second member of the committee", "04e82868b7d5317e4b36a6bc9c2ff3230b38d09ff6f28f349bc50f9a72f92845"},
	{"committee-three", "third member of the committee", "4d99cd5eec1474fb8d71a9c4d5ebbd10d1fe547948e8dd6b6fbe1305fe76ba52"},
	{"locked", "outputs with a future locktime on P and X, and stakeable ones on P", "10f51f9dc56fd9a96ea54332603f8ec86bbc23793414ad60f1104ef0b9745eba"},
	{"traveller", "has moved value between P, X and C in every direction", "1d114847e8ffc260dc5b58cf288c3ac7d3ab8ef7c6bbb1d67b2c51c9bf9b2b1e"},
	{"staker", "runs validators, one of them finished and rewarded", "eaf1dfa98a292714a441597f71bbda2749e426422c22243dcc22f263b73c62e5"},
	{"delegator", "has several delegations, some finished and rewarded", "e8d6f36bbe2ab8a10884291c81137bab2dfc104927afa9c83ecfb79bbe761f1c"},
}

// actor is anyone who can sign.
type account struct {
	key     *ecdsa.PrivateKey
	address common.Address
	primary *primary.Key // the same key as owner of UTXOs
}

func newAccount(secret []byte) (*account, error) {
	key, err := crypto.ToECDSA(secret)
	if err != nil {
		return nil, err
	}
	owner := primary.NewKey(key)
	return &account{key: key, address: owner.EVMAddress(), primary: owner}, nil
}

// cast makes the personas, by name.
func cast() (map[string]*account, []store.Persona, error) {
	actors, rows := map[string]*account{}, make([]store.Persona, 0, len(roles))
	for i, r := range roles {
		a, err := newAccount(common.FromHex(r.key))
		if err != nil {
			return nil, nil, fmt.Errorf("persona %s: %w", r.name, err)
		}
		actors[r.name] = a
		rows = append(rows, store.Persona{ID: i, Name: r.name, Purpose: r.purpose, Key: common.FromHex(r.key), Address: a.address.Bytes()})
	}
	return actors, rows, nil
}

// crowd makes everyone else, the most active first. The key of an account is a hash of what it is for.
func newAccounts(d rng, size int) ([]*account, error) {
	all := make([]*account, size)
	for i := range all {
		secret := d.hash("actor", i)
		var err error
		if all[i], err = newAccount(secret[:]); err != nil {
			return nil, fmt.Errorf("actor %d: %w", i, err)
		}
	}
	return all, nil
}
