package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

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
	rows := &changedRows{index.LaterHoldings{Tokens: v.tokens, Balances: delta.TokenBalances, Items: delta.NFTStates}, delta}
	if number > 0 {
		rows.Before = v.chain.Holdings(ctx, number-1)
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
	index.LaterHoldings
	delta *store.Delta
}

func (r *changedRows) take(d *store.StateDelta) {
	for _, t := range d.Tokens {
		if _, known := r.Tokens[t.ID]; !known {
			r.delta.Tokens = append(r.delta.Tokens, t)
		}
	}
	r.Add(d)
	r.delta.Codes = append(r.delta.Codes, d.Codes...)
	r.delta.Tries = append(r.delta.Tries, d.Tries...)
	r.delta.Accounts = index.Replaced(r.delta.Accounts, d.Accounts, func(a, b *store.Account) int { return bytes.Compare(a.Address, b.Address) })
	r.delta.Slots = index.Replaced(r.delta.Slots, d.Slots, func(a, b *store.Slot) int {
		return cmp.Or(bytes.Compare(a.Address, b.Address), bytes.Compare(a.Key, b.Key))
	})
	r.delta.TokenBalances, r.delta.NFTStates = r.Balances, r.Items
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
