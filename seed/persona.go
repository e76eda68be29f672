package seed

import (
	"crypto/ecdsa"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

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
	{"nobody", "has never been seen on any chain", "2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7dff6dff6409c6"},
	{"ewoq", "the well-known development key, funded on every chain", "56289e99c94b6912bfc12adc093c9b51124f0dc54ac7a766b2bc5ccf558d8027"},
}

// actor is anyone who can sign.
type actor struct {
	key     *ecdsa.PrivateKey
	address common.Address
}

func newActor(secret []byte) (*actor, error) {
	key, err := crypto.ToECDSA(secret)
	if err != nil {
		return nil, err
	}
	return &actor{key: key, address: crypto.PubkeyToAddress(key.PublicKey)}, nil
}

// cast makes the personas, by name.
func cast() (map[string]*actor, []store.Persona, error) {
	actors, rows := map[string]*actor{}, make([]store.Persona, 0, len(roles))
	for i, r := range roles {
		a, err := newActor(common.FromHex(r.key))
		if err != nil {
			return nil, nil, fmt.Errorf("persona %s: %w", r.name, err)
		}
		actors[r.name] = a
		rows = append(rows, store.Persona{ID: i, Name: r.name, Purpose: r.purpose, Key: common.FromHex(r.key), Address: a.address.Bytes()})
	}
	return actors, rows, nil
}

// crowd makes everyone else, the most active first. The key of an account is a hash of what it is for.
func crowd(d dice, size int) ([]*actor, error) {
	all := make([]*actor, size)
	for i := range all {
		secret := d.hash("actor", i)
		var err error
		if all[i], err = newActor(secret[:]); err != nil {
			return nil, fmt.Errorf("actor %d: %w", i, err)
		}
	}
	return all, nil
}
