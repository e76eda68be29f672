package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/store"
)

// change makes the state changes after a block again, compares them with the file, and replaces the block's rows that they changed.
func (v *chainVerifier) change(ctx context.Context, b *evm.Builder, delta *store.Delta) error {
	number := delta.Block.ID.Number()
	recorded, err := v.db.StateChanges(ctx, v.chain.Row.ID, number, number)
	if err != nil {
		return err
	}
	delta.Changes = recorded
	rows := &changedRows{v: v, delta: delta}
	if number > 0 {
		rows.before = v.chain.Holdings(ctx, number-1)
	}
	for i := range recorded {
		c := &recorded[i]
		d, err := b.Change(store.StateChange{Kind: c.Kind, Address: c.Address, Key: c.Key, Value: append([]byte{}, c.Value...), Owner: c.Owner}, rows)
		if err == nil {
			err = same("change", c, &d.Change)
		}
		if err != nil {
			return fmt.Errorf("state change %d: %w", c.Sequence, err)
		}
		rows.take(d)
	}
	return nil
}

// changedRows holds the rows of a block while the state changes after it are made again. At that point, the known data of tokens comes from
// earlier blocks in the file, from the block, and from the changes so far.
type changedRows struct {
	v      *chainVerifier
	delta  *store.Delta
	before index.Holdings // after the previous block, nil at the first
}

func (r *changedRows) take(d *store.StateDelta) {
	for _, t := range d.Tokens {
		if _, known := r.v.tokens[t.ID]; !known {
			r.delta.Tokens = append(r.delta.Tokens, t)
		}
		r.v.tokens[t.ID] = t
	}
	r.delta.Codes = append(r.delta.Codes, d.Codes...)
	r.delta.Tries = append(r.delta.Tries, d.Tries...)
	r.delta.Accounts = replaced(r.delta.Accounts, d.Accounts, func(a, b *store.Account) int { return bytes.Compare(a.Address, b.Address) })
	r.delta.Slots = replaced(r.delta.Slots, d.Slots, func(a, b *store.Slot) int {
		return cmp.Or(bytes.Compare(a.Address, b.Address), bytes.Compare(a.Key, b.Key))
	})
	r.delta.TokenBalances = replaced(r.delta.TokenBalances, d.TokenBalances, compareBalance)
	r.delta.NFTStates = replaced(r.delta.NFTStates, d.NFTStates, compareItem)
}

func compareBalance(a, b *store.TokenBalance) int {
	return cmp.Or(bytes.Compare(a.Owner, b.Owner), bytes.Compare(a.Asset, b.Asset))
}

func compareItem(a, b *store.NFTState) int { return bytes.Compare(a.Asset, b.Asset) }

// replaced replaces rows by others with the same key, sorted by key.
func replaced[T any](rows, others []T, compare func(a, b *T) int) []T {
	order := func(a, b T) int { return compare(&a, &b) }
	slices.SortFunc(rows, order)
	for i := range others {
		if at, there := slices.BinarySearchFunc(rows, others[i], order); there {
			rows[at] = others[i]
		} else {
			rows = slices.Insert(rows, at, others[i])
		}
	}
	return rows
}

var _ index.Holdings = (*changedRows)(nil)

func (r *changedRows) Token(id store.TokenID) (*store.Token, error) {
	t, known := r.v.tokens[id]
	if !known {
		return nil, store.ErrNotFound
	}
	return &t, nil
}

func (r *changedRows) TokenBalances(id store.TokenID) (all []store.TokenBalance, err error) {
	if r.before != nil {
		all, err = r.before.TokenBalances(id)
	}
	return known(all, r.delta.TokenBalances, compareBalance, func(h *store.TokenBalance) bool { return h.Asset.Token() == id }), err
}

func (r *changedRows) NFTStates(id store.TokenID) (all []store.NFTState, err error) {
	if r.before != nil {
		all, err = r.before.NFTStates(id)
	}
	return known(all, r.delta.NFTStates, compareItem, func(n *store.NFTState) bool { return n.Asset.Token() == id }), err
}

// known combines the earlier data of a token with later rows, as far as the index reads it.
func known[T any](before, since []T, compare func(a, b *T) int, belongs func(*T) bool) []T {
	var own []T
	for i := range since {
		if belongs(&since[i]) {
			own = append(own, since[i])
		}
	}
	all := replaced(before, own, compare)
	return all[:min(len(all), index.MaxHoldings)]
}

// inspectChanges checks the digests of the state changes after a block, starting from the block's. The last one then becomes the block's.
func inspectChanges(d *store.Delta) error {
	for n := range d.Changes {
		c := &d.Changes[n]
		if c.Sequence != n {
			return fmt.Errorf("state change %d: it is missing", n)
		}
		if !bytes.Equal(evm.ChangeDigest(d.Block.Digest, c), c.Digest) {
			return fmt.Errorf("state change %d: its digest is not that of its row", n)
		}
		d.Block.Digest = c.Digest
	}
	return nil
}

var errNoTransaction = errors.New("the unsigned transaction does not exist")
