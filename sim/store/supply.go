package store

import "context"

// Burned adds up what the transactions from one position to another burned, both included, in nAVAX.
func (db *DB) Burned(ctx context.Context, first, last Position) (n uint64, err error) {
	err = db.one(ctx, `SELECT COALESCE(SUM(burned), 0) FROM primary_tx WHERE id BETWEEN ? AND ?`, []any{first, last}, &n)
	return n, err
}

// LockedUTXOs reads the unspent amounts that a chain can spend and that are locked, or once were: a locktime stands where
// a plain amount has zeros.
func (db *DB) LockedUTXOs(ctx context.Context, chain int) ([]UTXO, error) {
	return many(ctx, db, `SELECT `+utxoColumns+` FROM utxo
		WHERE chain = ? AND spent IS NULL AND amount <> 0 AND substr(out, 13, 8) <> x'0000000000000000'`, []any{chain}, scanUTXO)
}
