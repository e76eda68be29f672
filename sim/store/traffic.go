package store

import (
	"context"
	"database/sql"

	"snowglobe/sim/metric"
)

// AddTraffic counts a message in the intervals around its time, for its network and for all.
func (b *Batch) AddTraffic(m *Message) error {
	network, err := b.scopeOf(m.ID.Chain())
	if err != nil {
		return err
	}
	for _, scope := range []metric.Scope{network, metric.Total} {
		for i := range metric.Intervals {
			if err := b.exec(`INSERT INTO traffic (scope, interval, start, source, destination, messages) VALUES (?, ?, ?, ?, ?, 1)
				ON CONFLICT (scope, interval, start, source, destination) DO UPDATE SET messages = messages + 1`,
				scope, i, metric.Interval(i).Start(m.Time), m.Source, m.Destination); err != nil {
				return err
			}
		}
	}
	return nil
}

func scanTraffic(r *sql.Rows, t *metric.Traffic) error {
	return r.Scan(&t.Start, &t.Source, &t.Destination, &t.Messages)
}

// Traffic reads how many messages were sent from where to where in each interval that begins from one moment on and before
// another, newest first.
func (db *DB) Traffic(ctx context.Context, scope metric.Scope, i metric.Interval, from, before int64) ([]metric.Traffic, error) {
	return many(ctx, db, `SELECT start, source, destination, messages FROM traffic WHERE scope = ? AND interval = ? AND start >= ? AND start < ?
		ORDER BY start DESC, source DESC, destination DESC`, []any{scope, i, from, before}, scanTraffic)
}

// TrafficSpan says where the oldest and the newest interval with messages begin. ErrNotFound says that there is none.
func (db *DB) TrafficSpan(ctx context.Context, scope metric.Scope, i metric.Interval) (oldest, newest int64, err error) {
	const end = `SELECT start FROM traffic WHERE scope = ? AND interval = ? ORDER BY start `
	if err := db.one(ctx, end+`LIMIT 1`, []any{scope, i}, &oldest); err != nil {
		return 0, 0, err
	}
	err = db.one(ctx, end+`DESC LIMIT 1`, []any{scope, i}, &newest)
	return oldest, newest, err
}
