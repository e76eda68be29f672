package store

import (
	"context"
	"database/sql"
)

// PrimaryName is a transaction of a primary chain by its place and id.
type PrimaryName struct {
	ID   Position
	Hash []byte
}

// PrimaryBlockIDs finds at most limit blocks of a primary chain from one position down to another.
func (db *DB) PrimaryBlockIDs(ctx context.Context, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, `SELECT id FROM primary_block WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 0 + ?`, low, high, limit)
}

// PrimaryBlocksBy finds at most limit blocks that a node proposed, from one position down to another.
func (db *DB) PrimaryBlocksBy(ctx context.Context, node []byte, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, `SELECT id FROM primary_block WHERE proposer = ? AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT 0 + ?`,
		node, low, high, limit)
}

// PrimaryNames reads the ids of the transactions from one position to another, both included, ascending.
func (db *DB) PrimaryNames(ctx context.Context, first, last Position) ([]PrimaryName, error) {
	return many(ctx, db, `SELECT id, hash FROM primary_tx WHERE id BETWEEN ? AND ? ORDER BY id`, []any{first, last},
		func(r *sql.Rows, n *PrimaryName) error { return r.Scan(&n.ID, &n.Hash) })
}

// PrimaryTime is when the block of a P- or X-chain at a position was made.
func (db *DB) PrimaryTime(ctx context.Context, at Position) (time int64, err error) {
	err = db.one(ctx, `SELECT time FROM primary_block WHERE id = ?`, []any{at}, &time)
	return time, err
}

// FirstPrimarySince is the height of the first block of a P- or X-chain at or after a time, in Unix seconds; head + 1 when
// there is none.
func (db *DB) FirstPrimarySince(ctx context.Context, chain int, time int64) (uint64, error) {
	head, err := db.PrimaryHead(ctx, chain)
	if err != nil {
		return 0, err
	}
	return firstSince(head.ID.Number(), time, func(n uint64) (int64, error) { return db.PrimaryTime(ctx, At(chain, n, 0)) })
}

// BlockTime is when the block of an EVM chain at a position was made.
func (db *DB) BlockTime(ctx context.Context, at Position) (time int64, err error) {
	err = db.one(ctx, `SELECT time FROM block WHERE id = ?`, []any{at}, &time)
	return time, err
}
