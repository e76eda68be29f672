package reader

import (
	"context"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/store"
)

// StateChanged tells readers that the state at the head was changed without a block. Whoever commits such a change calls it, once
// the commit stands.
func (c *Chain) StateChanged() { c.changes.Add(1) }

// Holdings is what the file knows of tokens after a block.
func (c *Chain) Holdings(ctx context.Context, block uint64) index.Holdings {
	return holdings{context.WithoutCancel(ctx), c, block}
}

type holdings struct {
	ctx   context.Context
	chain *Chain
	block uint64
}

func (h holdings) Token(id store.TokenID) (*store.Token, error) { return h.chain.db.Token(h.ctx, id) }

func (h holdings) TokenBalances(id store.TokenID) ([]store.TokenBalance, error) {
	return h.chain.db.TokenBalances(h.ctx, id, h.block, index.MaxHoldings)
}

func (h holdings) NFTStates(id store.TokenID) ([]store.NFTState, error) {
	return h.chain.db.NFTStates(h.ctx, id, store.At(h.chain.Row.ID, h.block, 0), index.MaxHoldings)
}

// NoncesSet says whether any nonce was changed without a transaction, so that an account may have used one already.
func (c *Chain) NoncesSet(ctx context.Context) (bool, error) { return c.db.NoncesSet(ctx, c.Row.ID) }
