package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holiman/uint256"

	"snowglobe/sim/metric"
)

// NewestTally says where the newest tally of a scope begins. ErrNotFound says that there is none.
func (db *DB) NewestTally(ctx context.Context, scope metric.Scope, i metric.Interval) (start int64, err error) {
	err = db.one(ctx, `SELECT start FROM tally WHERE scope = ? AND interval = ? ORDER BY start DESC LIMIT 1`, []any{scope, i}, &start)
	return start, err
}

// ReadingsSince reads what a metric needs, and nothing else, of each tally that begins before one moment, down to another
// and to the newest one before that; newest first.
func (db *DB) ReadingsSince(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, from, before int64) ([]metric.Reading, error) {
	g := metric.Reading{Over: 1} // every row in its turn
	columns, fields := `start, `+string(m.Amount), []any{&g.Start, (*number)(&g.Amount)}
	if m.Over != "" {
		columns, fields = columns+`, `+string(m.Over), append(fields, &g.Over)
	}
	if m.Elapsed {
		columns, fields = columns+`, first_block, last_block`, append(fields, &g.First, &g.Last)
	}
	return many(ctx, db, `SELECT `+columns+` FROM tally WHERE scope = ? AND interval = ? AND start < ?
		AND start >= COALESCE((SELECT MAX(start) FROM tally WHERE scope = ? AND interval = ? AND start < ?), ?) ORDER BY start DESC`,
		[]any{scope, i, before, scope, i, from, from},
		func(r *sql.Rows, row *metric.Reading) error {
			err := r.Scan(fields...)
			*row = g
			return err
		})
}

// number is an amount that is an integer or, where it may be larger, big-endian bytes.
type number uint256.Int

// Scan reads either.
func (n *number) Scan(amount any) error {
	switch amount := amount.(type) {
	case int64:
		(*uint256.Int)(n).SetUint64(uint64(amount))
	case []byte:
		(*uint256.Int)(n).SetBytes(amount)
	case nil: // the driver reads an empty blob as nothing
		*n = number{}
	default:
		return fmt.Errorf("number is %T", amount)
	}
	return nil
}

// SumBefore adds up an amount over the tallies that begin before a moment. It must be one of those that are integers.
func (db *DB) SumBefore(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, moment int64) (n int64, err error) {
	text := fmt.Sprintf(`SELECT COALESCE(SUM(%s), 0) FROM tally WHERE scope = ? AND interval = ? AND start < ?`, m.Amount)
	err = db.one(ctx, text, []any{scope, i, moment}, &n)
	return n, err
}
