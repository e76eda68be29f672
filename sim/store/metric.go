package store

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"

	"snowglobe/sim/metric"
)

// NewestTally says where the newest tally of a scope begins. ErrNotFound says that there is none.
func (db *DB) NewestTally(ctx context.Context, scope metric.Scope, i metric.Interval) (start int64, err error) {
	err = db.one(ctx, `SELECT start FROM tally WHERE scope = ? AND interval = ? ORDER BY start DESC LIMIT 1`, []any{scope, i}, &start)
	return start, err
}

// readings begins every statement that reads a metric's quantities.
func readings(m *metric.Metric) string {
	over := string(m.Over)
	if over == "" {
		over = "1"
	}
	return fmt.Sprintf(`SELECT start, first_block, last_block, %s, %s FROM tally WHERE scope = ? AND interval = ? AND `, m.Amount, over)
}

// scanReading reads an amount that is an integer or, where it may be larger, big-endian bytes.
func scanReading(r *sql.Rows, g *metric.Reading) error {
	var amount any
	if err := r.Scan(&g.Start, &g.First, &g.Last, &amount, &g.Over); err != nil {
		return err
	}
	switch n := amount.(type) {
	case int64:
		g.Amount = big.NewInt(n)
	case []byte:
		g.Amount = new(big.Int).SetBytes(n)
	default:
		g.Amount = new(big.Int) // the driver reads an empty blob as nothing
	}
	return nil
}

// Readings reads what a metric needs of each tally from one start to another, both included, newest first.
func (db *DB) Readings(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, from, to int64) ([]metric.Reading, error) {
	return many(ctx, db, readings(m)+`start BETWEEN ? AND ? ORDER BY start DESC`, []any{scope, i, from, to}, scanReading)
}

// ReadingsSince reads what a metric needs of each tally that begins before one moment, down to another and to the newest
// one before that; newest first.
func (db *DB) ReadingsSince(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, from, before int64) ([]metric.Reading, error) {
	return many(ctx, db, readings(m)+`start < ? AND start >= COALESCE((SELECT MAX(start) FROM tally
		WHERE scope = ? AND interval = ? AND start < ?), ?) ORDER BY start DESC`, []any{scope, i, before, scope, i, from, from}, scanReading)
}

// ReadingBefore reads the newest tally that begins before a moment, if there is one.
func (db *DB) ReadingBefore(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, moment int64) ([]metric.Reading, error) {
	return many(ctx, db, readings(m)+`start < ? ORDER BY start DESC LIMIT 1`, []any{scope, i, moment}, scanReading)
}

// SumBefore adds up an amount over the tallies that begin before a moment. It must be one of those that are integers.
func (db *DB) SumBefore(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, moment int64) (n int64, err error) {
	text := fmt.Sprintf(`SELECT COALESCE(SUM(%s), 0) FROM tally WHERE scope = ? AND interval = ? AND start < ?`, m.Amount)
	err = db.one(ctx, text, []any{scope, i, moment}, &n)
	return n, err
}
