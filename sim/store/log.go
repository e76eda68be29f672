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

// Event is a log with the hashes of the block and the transaction that it belongs to.
type Event struct {
	Log
	BlockHash []byte
	TxHash    []byte
}

// The outer loop is the log's own index or range; block and transaction are found by their keys, one seek each.
const (
	eventSelect = `SELECT l.id, l.tx, l.address, l.topic, l.topics, l.data, b.hash, t.hash
		FROM log l CROSS JOIN block b CROSS JOIN tx t
		WHERE b.id = l.id & ~65535 AND t.id = (l.id & ~65535) + l.tx AND `
	eventOrder = ` ORDER BY l.id LIMIT 0 + ?`
)

func scanEvent(r *sql.Rows, e *Event) error {
	return r.Scan(&e.ID, &e.Tx, &e.Address, &e.Topic, &e.Topics, &e.Data, &e.BlockHash, &e.TxHash)
}

// EventsBetween reads at most limit logs from one position to another, both included, ascending.
func (db *DB) EventsBetween(ctx context.Context, first, last Position, limit int) ([]Event, error) {
	return many(ctx, db, eventSelect+`l.id BETWEEN ? AND ?`+eventOrder, []any{first, last, limit}, scanEvent)
}

// EventsOf reads at most limit logs of one contract between two positions, ascending.
func (db *DB) EventsOf(ctx context.Context, address []byte, first, last Position, limit int) ([]Event, error) {
	return many(ctx, db, eventSelect+`l.address = ? AND l.id BETWEEN ? AND ?`+eventOrder,
		[]any{address, first, last, limit}, scanEvent)
}

// EventsAbout reads at most limit logs with this first topic between two positions, ascending.
func (db *DB) EventsAbout(ctx context.Context, topic []byte, first, last Position, limit int) ([]Event, error) {
	return many(ctx, db, eventSelect+`l.topic = ? AND l.id BETWEEN ? AND ?`+eventOrder,
		[]any{topic, first, last, limit}, scanEvent)
}
