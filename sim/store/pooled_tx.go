package store

import "context"

// PooledTx is a transaction that waited in the pool of an EVM chain when the world was closed.
type PooledTx struct {
	Chain   int    `db:"chain"`
	Arrival int    `db:"arrival"` // counts those of a chain in the order in which they came
	Sender  []byte `db:"sender"`
	Raw     []byte `db:"raw"` // canonical encoding
}

const pooledTxColumns = `chain, arrival, sender, raw`

// PooledTxs reads those of a chain in the order in which they came.
func (db *DB) PooledTxs(ctx context.Context, chain int) ([]PooledTx, error) {
	return list[PooledTx](ctx, db, `SELECT `+pooledTxColumns+` FROM pooled_tx WHERE chain = ? ORDER BY arrival`, chain)
}

// SetPooledTxs replaces those of a chain.
func (b *Batch) SetPooledTxs(chain int, all []PooledTx) error {
	if err := b.exec(`DELETE FROM pooled_tx WHERE chain = ?`, chain); err != nil {
		return err
	}
	return addAll(all, func(t *PooledTx) error {
		return b.exec(`INSERT INTO pooled_tx (`+pooledTxColumns+`) VALUES (?, ?, ?, ?)`, t.Chain, t.Arrival, t.Sender, t.Raw)
	})
}
