package store

import (
	"context"
	"database/sql"
)

// Transaction is an executed transaction of an EVM chain with the outcome that its receipt reports.
type Transaction struct {
	ID        Position
	Hash      []byte
	Sender    []byte
	Recipient []byte // nil for a creation
	Created   []byte // address of the contract that a creation made, else nil
	Status    uint64 // 1 success, 0 failed
	GasUsed   uint64
	GasTotal  uint64 // cumulative in the block
	Logs      int
	Raw       []byte // the signed transaction, canonical encoding
}

const transactionColumns = `id, hash, sender, recipient, created, status, gas_used, gas_total, logs, raw`

func (t *Transaction) fields() []any {
	return []any{&t.ID, &t.Hash, &t.Sender, &t.Recipient, &t.Created, &t.Status, &t.GasUsed, &t.GasTotal, &t.Logs, &t.Raw}
}

func scanTransaction(r *sql.Rows, t *Transaction) error { return r.Scan(t.fields()...) }

// Transaction reads the transaction at a position.
func (db *DB) Transaction(ctx context.Context, at Position) (*Transaction, error) {
	var t Transaction
	err := db.one(ctx, `SELECT `+transactionColumns+` FROM tx WHERE id = ?`, []any{at}, t.fields()...)
	return &t, err
}

// TransactionByHash reads the transaction of a chain with this hash.
func (db *DB) TransactionByHash(ctx context.Context, chain int, hash []byte) (*Transaction, error) {
	var t Transaction
	err := db.one(ctx, `SELECT `+transactionColumns+` FROM tx WHERE hash = ? AND id BETWEEN ? AND ?`,
		[]any{hash, First(chain), Last(chain)}, t.fields()...)
	return &t, err
}

// TransactionsBetween reads the transactions from one position to another, both included, ascending.
func (db *DB) TransactionsBetween(ctx context.Context, first, last Position) ([]Transaction, error) {
	return many(ctx, db, `SELECT `+transactionColumns+` FROM tx WHERE id BETWEEN ? AND ? ORDER BY id`,
		[]any{first, last}, scanTransaction)
}

// Transactions reads the transactions of a block in order.
func (db *DB) Transactions(ctx context.Context, block Position) ([]Transaction, error) {
	return db.TransactionsBetween(ctx, block.Block(), block.End())
}

// FirstFailed reads the oldest failed transaction of a chain.
func (db *DB) FirstFailed(ctx context.Context, chain int) (*Transaction, error) {
	var t Transaction
	err := db.one(ctx, `SELECT `+transactionColumns+` FROM tx
		WHERE status = 0 AND id BETWEEN ? AND ? ORDER BY id LIMIT 1`, []any{First(chain), Last(chain)}, t.fields()...)
	return &t, err
}

func (b *Batch) addTransaction(t *Transaction) error {
	return b.exec(`INSERT INTO tx (`+transactionColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.ID, t.Hash, t.Sender, t.Recipient, t.Created, t.Status, t.GasUsed, t.GasTotal, t.Logs, t.Raw)
}
