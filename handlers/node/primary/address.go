package primary

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/parse"
	"snowglobe/sim/txs"
)

var errMismatched = errors.New("mismatched chainIDs")

// Address reads an address of the chain, or 20 bytes in cb58: avalanchego's avax.ParseServiceAddress.
func (a *Service) Address(text string) (ids.ShortID, error) {
	if short, err := parse.ShortID(text); err == nil {
		return short, nil
	}
	short, err := a.parseLocal(text)
	if err != nil {
		return short, fmt.Errorf("couldn't parse address %q: %w", text, err)
	}
	return short, nil
}

// parseLocal reads an address whose chain prefix must be this chain's.
func (a *Service) parseLocal(text string) (ids.ShortID, error) {
	alias, hrp, raw, err := parse.Address(text)
	if err != nil {
		return ids.ShortEmpty, err
	}
	chain, err := ChainByAlias(a.Network, alias)
	if err != nil {
		return ids.ShortEmpty, err
	}
	if hrp != a.Network.Rules.HRP {
		return ids.ShortEmpty, fmt.Errorf("expected hrp %q but got %q", a.Network.Rules.HRP, hrp)
	}
	short, err := ids.ToShortID(raw)
	if err != nil {
		return ids.ShortEmpty, err
	}
	switch own := a.Network.Rules.BlockchainID(a.chain); {
	case chain == own:
		return short, nil
	case a.chain == txs.CChain:
		return ids.ShortEmpty, fmt.Errorf("expected chainID to be %q but was %q", own, chain)
	default:
		return ids.ShortEmpty, fmt.Errorf("%w: expected %q but got %q", errMismatched, own, chain)
	}
}

// Addresses reads addresses, drops duplicates and sorts them ascending: the order in which a node searches.
func (a *Service) Addresses(texts []string) ([]ids.ShortID, error) {
	all := make([]ids.ShortID, len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = a.Address(text); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b ids.ShortID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(all), nil
}

// FormatAddress formats an address of the chain.
func (a *Service) FormatAddress(short ids.ShortID) string {
	return a.Network.Rules.Address(a.chain, short)
}
