package data

import (
	"errors"
	"math/big"
	"slices"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// OrNotFound turns the store's missing row into the client's 404.
func OrNotFound(err error, missing *rest.Error) error {
	if errors.Is(err, store.ErrNotFound) {
		return missing
	}
	return err
}

// Amount formats a number from the store in decimal.
func Amount(n []byte) string {
	return new(big.Int).SetBytes(common.TrimLeftZeroes(n)).String()
}

// Hash formats 32 bytes in hex.
func Hash(b []byte) string { return common.BytesToHash(b).Hex() }

func Decimals(n uint64) string { return strconv.FormatUint(n, 10) }

// CB58 formats an id.
func CB58(id []byte) string { return ids.ID(id).String() }

// Bech32s formats a network's addresses without a chain prefix.
func Bech32s[T []byte | ids.ShortID](networkRules *rules.Network, addresses []T) []string {
	return List(addresses, func(a *T) string { return networkRules.Bech32(ids.ShortID(*a)) })
}

// AddressesOf returns a list parameter's addresses without duplicates; all must belong to the network.
func AddressesOf(r *rest.Request, n *sim.Network, name string) ([]ids.ShortID, error) {
	return AddressesIn(rest.List[schema.PrimaryAddress](r, name), n, name)
}

func AddressesIn(given []schema.PrimaryAddress, n *sim.Network, name string) ([]ids.ShortID, error) {
	var all []ids.ShortID
	var problems []string
	for _, p := range given {
		if p.HRP != "" && p.HRP != n.Rules.HRP {
			problems = append(problems, name+" "+p.String()+" is not allowed: expected an address of "+n.Name+", with "+n.Rules.HRP+"1")
		}
		if !slices.Contains(all, p.ID) {
			all = append(all, p.ID)
		}
	}
	if len(problems) > 0 {
		return nil, rest.BadRequest(problems...)
	}
	return all, nil
}
