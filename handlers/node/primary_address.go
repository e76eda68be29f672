package node

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting/address"
)

var errMismatched = errors.New("mismatched chainIDs")

// address reads an address of the chain, or 20 bytes in cb58.
func (a *primaryAPI) address(text string) (ids.ShortID, error) {
	if short, err := ids.ShortFromString(text); err == nil {
		return short, nil
	}
	short, err := a.local(text)
	if err != nil {
		return short, fmt.Errorf("couldn't parse address %q: %w", text, err)
	}
	return short, nil
}

// local reads an address with the prefix of a chain, which must be this one.
func (a *primaryAPI) local(text string) (ids.ShortID, error) {
	alias, hrp, raw, err := address.Parse(text)
	if err != nil {
		return ids.ShortEmpty, err
	}
	chain, err := a.lookup(alias)
	if err != nil {
		return ids.ShortEmpty, err
	}
	if hrp != a.Rules.HRP {
		return ids.ShortEmpty, fmt.Errorf("expected hrp %q but got %q", a.Rules.HRP, hrp)
	}
	short, err := ids.ToShortID(raw)
	if err != nil {
		return ids.ShortEmpty, err
	}
	if own := a.Rules.BlockchainID(a.chain); chain != own {
		return ids.ShortEmpty, fmt.Errorf("%w: expected %q but got %q", errMismatched, own, chain)
	}
	return short, nil
}

// addresses reads several, each once, ascending: the order in which a node searches.
func (a *primaryAPI) addresses(texts []string) ([]ids.ShortID, error) {
	all := make([]ids.ShortID, len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = a.address(text); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b ids.ShortID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(all), nil
}

// format writes an address of the chain.
func (a *primaryAPI) format(short ids.ShortID) string { return a.Rules.Address(a.chain, short) }
