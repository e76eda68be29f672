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

// LogsOf reads at most limit logs of one contract between two positions, ascending.
func (db *DB) LogsOf(ctx context.Context, address []byte, first, last Position, limit int) ([]Log, error) {
	return many(ctx, db, `SELECT `+logColumns+` FROM log WHERE address = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT 0 + ?`,
		[]any{address, first, last, limit}, scanLog)
}

// LogsAbout reads at most limit logs with this first topic between two positions, ascending.
func (db *DB) LogsAbout(ctx context.Context, topic []byte, first, last Position, limit int) ([]Log, error) {
	return many(ctx, db, `SELECT `+logColumns+` FROM log WHERE topic = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT 0 + ?`,
		[]any{topic, first, last, limit}, scanLog)
}

func (b *Batch) addLog(l *Log) error {
	return b.exec(`INSERT INTO log (`+logColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
		l.ID, l.Tx, l.Address, l.Topic, l.Topics, l.Data)
}
