package reader

import (
	"context"
	"sync"

	"github.com/ethereum/go-ethereum/core/state"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// draft holds a pending block in memory, since the file has nothing of it.
type draft struct {
	rows *store.Delta // transactions and logs

	mu    sync.Mutex // copying a state also changes it
	state *state.StateDB
}

func (d *draft) copyState() *state.StateDB {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.Copy()
}

// Pending reports whether the block is only a preview of the next one, without a hash or a state root.
func (b *Block) Pending() bool { return b.draft != nil }

// NewDraft makes a builder that previews a block on the head.
func (c *Chain) NewDraft(ctx context.Context, head *Block) (*evm.Builder, error) {
	ctx = context.WithoutCancel(ctx) // the draft outlives the request
	base := evm.NewFlatState(ctx, c.db, c.Row.ID, head.Number)
	return evm.NewDraft(c.Row.ID, c.Genesis, c.NetworkContext, head.Header, head.Hash, head.Results, base, c.blockHash(ctx, head.Number))
}

// PendingBlock presents a block under construction to readers.
func (l *Ledger) PendingBlock(p *evm.BlockExecution) (*Block, error) {
	header, results, states, rows, err := p.Draft()
	if err != nil {
		return nil, err
	}
	number := header.Number.Uint64()
	rows.Block = store.Block{ID: store.At(l.Row.ID, number, 0), Time: int64(header.Time), Txs: len(rows.Transactions), GasUsed: results.GasCharged}
	if rows.Block.Header, err = header.Encode(l.Kind); err != nil {
		return nil, err
	}
	return &Block{
		Row: &rows.Block, Header: header, Number: number, draft: &draft{rows: rows, state: states},
		Results: results, Executed: results.Executed(header),
	}, nil
}

// transactionRows returns the rows of a block's transactions.
func (l *Ledger) transactionRows(ctx context.Context, b *Block) ([]store.Transaction, error) {
	if b.draft != nil {
		return b.draft.rows.Transactions, nil
	}
	return l.db.Transactions(ctx, b.position())
}
