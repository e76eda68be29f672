package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store"
)

// compareIndex looks up every index row of a block and compares it, column by column.
func (v *chainVerifier) compareIndex(ctx context.Context, want *store.Delta) error {
	at := want.Block.ID
	err := cmp.Or(
		rowsLike("transfer", want.Transfers)(v.db.Transfers(ctx, at, at.End())),
		rowsLike("deployment", want.Deployments)(v.db.DeploymentsIn(ctx, at)),
		rowsLike("message", want.Messages)(v.db.MessagesIn(ctx, at)),
		rowsLike("message event", want.MessageEvents)(v.db.MessageEventsIn(ctx, at)),
	)
	if err != nil {
		return err
	}
	for i := range want.Touches {
		t := &want.Touches[i]
		found, err := v.db.Touched(ctx, t.Address, t.Tx)
		if err == nil && !found {
			err = store.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("touch of %s in transaction %d: %w", common.BytesToAddress(t.Address), t.Tx.Index(), err)
		}
	}
	return v.compareBalances(ctx, want)
}

// compareTokens compares the tokens of the chain, which a state change after any block can rename.
func (v *chainVerifier) compareTokens(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(v.tokens)) {
		w := v.tokens[id]
		if err := like("token", &w)(v.db.Token(ctx, id)); err != nil {
			return fmt.Errorf("token %s: %w", common.BytesToAddress(w.Address), err)
		}
	}
	return nil
}

func (v *chainVerifier) compareBalances(ctx context.Context, want *store.Delta) error {
	for i := range want.TokenBalances {
		w := &want.TokenBalances[i]
		if err := like("holding", w)(v.db.TokenBalance(ctx, w.Owner, w.Asset, w.Block)); err != nil {
			return fmt.Errorf("holding of %s: %w", common.BytesToAddress(w.Owner), err)
		}
	}
	for i := range want.NFTStates {
		w := &want.NFTStates[i]
		have, err := v.db.NFTStateAt(ctx, w.Asset, w.Block)
		if err == nil {
			err = sameItem(have, w)
		}
		if err != nil {
			return fmt.Errorf("item %x: %w", w.Asset, err)
		}
	}
	return nil
}

func sameItem(have, want *store.NFTState) error {
	switch {
	case (have.URI == nil) != (want.URI == nil):
		return errors.New("only one of the file and the history has the item's URI")
	case have.URI != nil && *have.URI != *want.URI:
		return fmt.Errorf("item's URI is %q, but should be %q", *have.URI, *want.URI)
	}
	h, w := *have, *want
	h.URI, w.URI = nil, nil
	return same("item", &h, &w)
}
