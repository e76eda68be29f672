package store

import (
	"context"
	"database/sql"
)

// Log is one event that a transaction left behind.
type Log struct {
	ID      Position // index of the log in its block
	Tx      int      // index of the transaction in the block
	Address []byte
	Topic   []byte // the first topic, empty when there is none
	Topics  []byte // the other topics, 32 bytes each
	Data    []byte
}

const logColumns = `id, tx, address, topic, topics, data`

func scanLog(r *sql.Rows, l *Log) error {
	return r.Scan(&l.ID, &l.Tx, &l.Address, &l.Topic, &l.Topics, &l.Data)
}

// LogsBetween reads at most limit logs from one position to another, both included, ascending.
func (db *DB) LogsBetween(ctx context.Context, first, last Position, limit int) ([]Log, error) {
	return many(ctx, db, `SELECT `+logColumns+` FROM log WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 0 + ?`,
		[]any{first, last, limit}, scanLog)
}

// SentWarpMessage finds the log by which a chain sent the warp message with this id.
func (db *DB) SentWarpMessage(ctx context.Context, chain int, message []byte) error {
	var at Position
	return db.one(ctx, `SELECT id FROM log
		WHERE topic = X'56600c567728a800c0aa927500f831cb451df66a7af570eb4df4dfbf4674887d' AND substr(topics, 33, 32) = ?
		AND address = X'0200000000000000000000000000000000000005' AND id BETWEEN ? AND ? LIMIT 1`,
		[]any{message, First(chain), Last(chain)}, &at)
}

func (b *Batch) addLog(l *Log) error {
	return b.exec(`INSERT INTO log (`+logColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
		l.ID, l.Tx, l.Address, l.Topic, l.Topics, l.Data)
}
