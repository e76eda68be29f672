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

// readings reads what a metric needs of the tallies of a scope that a condition chooses: nothing else, since what a long
// page costs is its values.
func (db *DB) readings(ctx context.Context, m *metric.Metric, condition string, args ...any) ([]metric.Reading, error) {
	columns := `start, ` + string(m.Amount)
	if m.Over != "" {
		columns += `, ` + string(m.Over)
	}
	if m.Elapsed {
		columns += `, first_block, last_block`
	}
	return many(ctx, db, `SELECT `+columns+` FROM tally WHERE scope = ? AND interval = ? AND `+condition+` ORDER BY start DESC`, args,
		func(r *sql.Rows, g *metric.Reading) error {
			g.Over = 1
			var amount any
			fields := append(make([]any, 0, 5), &g.Start, &amount)
			if m.Over != "" {
				fields = append(fields, &g.Over)
			}
			if m.Elapsed {
				fields = append(fields, &g.First, &g.Last)
			}
			err := r.Scan(fields...)
			g.Amount = number(amount)
			return err
		})
}

// number is an amount that is an integer or, where it may be larger, big-endian bytes.
func number(amount any) *big.Int {
	switch n := amount.(type) {
	case int64:
		return big.NewInt(n)
	case []byte:
		return new(big.Int).SetBytes(n)
	}
	return new(big.Int) // the driver reads an empty blob as nothing
}

// Readings reads what a metric needs of each tally from one start to another, both included, newest first.
func (db *DB) Readings(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, from, to int64) ([]metric.Reading, error) {
	return db.readings(ctx, m, `start BETWEEN ? AND ?`, scope, i, from, to)
}

// ReadingsSince reads what a metric needs of each tally that begins before one moment, down to another and to the newest
// one before that; newest first.
func (db *DB) ReadingsSince(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, from, before int64) ([]metric.Reading, error) {
	return db.readings(ctx, m, `start < ? AND start >= COALESCE((SELECT MAX(start) FROM tally
		WHERE scope = ? AND interval = ? AND start < ?), ?)`, scope, i, before, scope, i, from, from)
}

// ReadingBefore reads the newest tally that begins before a moment, if there is one.
func (db *DB) ReadingBefore(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, moment int64) ([]metric.Reading, error) {
	return db.readings(ctx, m, `start = (SELECT MAX(start) FROM tally WHERE scope = ? AND interval = ? AND start < ?)`, scope, i, scope, i, moment)
}

// SumBefore adds up an amount over the tallies that begin before a moment. It must be one of those that are integers.
func (db *DB) SumBefore(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, moment int64) (n int64, err error) {
	text := fmt.Sprintf(`SELECT COALESCE(SUM(%s), 0) FROM tally WHERE scope = ? AND interval = ? AND start < ?`, m.Amount)
	err = db.one(ctx, text, []any{scope, i, moment}, &n)
	return n, err
}
