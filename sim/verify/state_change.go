package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

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
	if len(recorded) == 0 {
		return nil
	}
	known := &index.LaterHoldings{Tokens: maps.Clone(v.tokens), Balances: delta.TokenBalances, Items: delta.NFTStates}
	if number > 0 {
		known.Before = v.chain.Holdings(ctx, number-1)
	}
	again := make([]store.StateChange, len(recorded))
	for i := range recorded {
		c := &recorded[i]
		again[i] = store.StateChange{Kind: c.Kind, Address: c.Address, Key: c.Key, Value: append([]byte{}, c.Value...), Owner: c.Owner}
	}
	made, err := b.Changes(again, known)
	if err != nil {
		return fmt.Errorf("state change: %w", err)
	}
	var accounts []store.Account
	var slots []store.Slot
	for i, d := range made {
		if err := same("change", &recorded[i], &d.Change); err != nil {
			return fmt.Errorf("state change %d: %w", i, err)
		}
		for _, t := range d.Tokens {
			if _, known := v.tokens[t.ID]; !known {
				delta.Tokens = append(delta.Tokens, t)
			}
			v.tokens[t.ID] = t
		}
		delta.Codes = append(delta.Codes, d.Codes...)
		delta.Tries = append(delta.Tries, d.Tries...)
		accounts, slots = append(accounts, d.Accounts...), append(slots, d.Slots...)
	}
	delta.Accounts = index.Replaced(delta.Accounts, accounts, func(a, b *store.Account) int { return bytes.Compare(a.Address, b.Address) })
	delta.Slots = index.Replaced(delta.Slots, slots, func(a, b *store.Slot) int {
		return cmp.Or(bytes.Compare(a.Address, b.Address), bytes.Compare(a.Key, b.Key))
	})
	delta.TokenBalances, delta.NFTStates = known.Balances, known.Items
	return nil
}

// inspectChanges checks the digests of the state changes after a block, starting from the block's. The last one then becomes the block's.
func inspectChanges(d *store.Delta) error {
	for n := range d.Changes {
		c := &d.Changes[n]
		if c.Sequence != n {
			return fmt.Errorf("state change %d: it is missing", n)
		}
		if !bytes.Equal(evm.ChangeDigest(d.Block.Digest, c), c.Digest) {
			return fmt.Errorf("state change %d: its digest does not match its row", n)
		}
		d.Block.Digest = c.Digest
	}
	return nil
}

var errNoTransaction = errors.New("the unsigned transaction does not exist")
