package data

import (
	"errors"
	"math/big"
	"slices"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// or replaces the store's answer that there is no such row.
func or(err error, missing *handlers.Error) error {
	if errors.Is(err, store.ErrNotFound) {
		return missing
	}
	return err
}

// amount writes a number of the store as a decimal.
func amount(n []byte) string {
	if len(n) <= 8 {
		return new(big.Int).SetBytes(n).String()
	}
	n = common.TrimLeftZeroes(n)
	return new(big.Int).SetBytes(n).String()
}

// hash writes 32 bytes as hex.
func hash(b []byte) string { return common.BytesToHash(b).Hex() }

func decimals(n uint64) string { return strconv.FormatUint(n, 10) }

// cb58 writes an id.
func cb58(id []byte) string { return ids.ID(id).String() }

// bech32s writes addresses of the network without a chain's prefix.
func bech32s(rules *primary.Network, addresses [][]byte) []string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = rules.Bech32(ids.ShortID(a))
	}
	return texts
}

// shortBech32s does the same for addresses that were parsed.
func shortBech32s(rules *primary.Network, addresses []ids.ShortID) []string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = rules.Bech32(a)
	}
	return texts
}

// addressesOf are those of a list parameter, each once, which must be of the network.
func addressesOf(r *handlers.Request, l *sim.Ledger, name string) ([]ids.ShortID, error) {
	return addressesIn(handlers.List[handlers.PrimaryAddress](r, name), l, name)
}

func addressesIn(given []handlers.PrimaryAddress, l *sim.Ledger, name string) ([]ids.ShortID, error) {
	var all []ids.ShortID
	var problems []string
	for _, p := range given {
		if p.HRP != "" && p.HRP != l.Rules.HRP {
			problems = append(problems, name+" "+p.String()+" is not allowed: expected an address of "+l.Network+", with "+l.Rules.HRP+"1")
		}
		if !slices.Contains(all, p.ID) {
			all = append(all, p.ID)
		}
	}
	if len(problems) > 0 {
		return nil, handlers.BadRequest(problems...)
	}
	return all, nil
}
