package index

import (
	"bytes"
	"cmp"
	"slices"

	"snowglobe/sim/store"
)

// LaterHoldings gives access to what is known of tokens after some state changes that the file does not have yet.
type LaterHoldings struct {
	Before   Holdings                      // what the file has, nil for nothing
	Tokens   map[store.TokenID]store.Token // those since, which win over Before's
	Balances []store.TokenBalance
	Items    []store.NFTState
}

var _ Holdings = (*LaterHoldings)(nil)

// Add adds the rows of a state change.
func (l *LaterHoldings) Add(d *store.StateDelta) {
	for _, t := range d.Tokens {
		l.Tokens[t.ID] = t
	}
	l.Balances = Replaced(l.Balances, d.TokenBalances, compareBalance)
	l.Items = Replaced(l.Items, d.NFTStates, compareItem)
}

// Token implements Holdings.
func (l *LaterHoldings) Token(id store.TokenID) (*store.Token, error) {
	if t, known := l.Tokens[id]; known {
		return &t, nil
	}
	if l.Before == nil {
		return nil, store.ErrNotFound
	}
	return l.Before.Token(id)
}

// TokenBalances implements Holdings.
func (l *LaterHoldings) TokenBalances(id store.TokenID) (all []store.TokenBalance, err error) {
	if l.Before != nil {
		all, err = l.Before.TokenBalances(id)
	}
	return later(all, l.Balances, compareBalance, func(h *store.TokenBalance) bool { return h.Asset.Token() == id }), err
}

// NFTStates implements Holdings.
func (l *LaterHoldings) NFTStates(id store.TokenID) (all []store.NFTState, err error) {
	if l.Before != nil {
		all, err = l.Before.NFTStates(id)
	}
	return later(all, l.Items, compareItem, func(n *store.NFTState) bool { return n.Asset.Token() == id }), err
}

// later combines the earlier rows of a token with later ones, as far as the index reads them.
func later[T any](before, since []T, compare func(a, b *T) int, belongs func(*T) bool) []T {
	var own []T
	for i := range since {
		if belongs(&since[i]) {
			own = append(own, since[i])
		}
	}
	all := Replaced(before, own, compare)
	return all[:min(len(all), MaxHoldings)]
}

func compareBalance(a, b *store.TokenBalance) int {
	return cmp.Or(bytes.Compare(a.Owner, b.Owner), bytes.Compare(a.Asset, b.Asset))
}

func compareItem(a, b *store.NFTState) int { return bytes.Compare(a.Asset, b.Asset) }

// Replaced replaces rows by others with the same key, of which the last one holds, sorted by key.
func Replaced[T any](rows, others []T, compare func(a, b *T) int) []T {
	if len(others) == 0 && slices.IsSortedFunc(rows, func(a, b T) int { return compare(&a, &b) }) {
		return rows
	}
	all := slices.Concat(rows, others)
	slices.SortStableFunc(all, func(a, b T) int { return compare(&a, &b) })
	kept := all[:0]
	for i := range all {
		if i+1 == len(all) || compare(&all[i], &all[i+1]) != 0 {
			kept = append(kept, all[i])
		}
	}
	return kept
}
