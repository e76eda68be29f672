package store

import (
	"context"
)

// Log is one log of a transaction.
type Log struct {
	ID      Position `db:"id"` // index of the log in its block
	Tx      int      `db:"tx"` // index of the transaction in the block
	Address []byte   `db:"address"`
	Topic   []byte   `db:"topic"`  // the first topic, empty when there is none
	Topics  []byte   `db:"topics"` // the other topics, 32 bytes each
	Data    Packed   `db:"data"`
}

const logColumns = `id, tx, address, topic, topics, data`

// LogsBetween reads at most limit logs from one position to another, both included, ascending.
func (db *DB) LogsBetween(ctx context.Context, first, last Position, limit int) ([]Log, error) {
	return list[Log](ctx, db, `SELECT `+logColumns+` FROM log WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 0 + ?`, first, last, limit)
}

// SentWarpMessage reads the log by which a chain sent the warp message with this id.
func (db *DB) SentWarpMessage(ctx context.Context, chain int, message []byte) (*Log, error) {
	return get[Log](ctx, db, `SELECT `+logColumns+` FROM log
		WHERE topic = X'56600c567728a800c0aa927500f831cb451df66a7af570eb4df4dfbf4674887d' AND substr(topics, 33, 32) = ?
		AND address = X'0200000000000000000000000000000000000005' AND id BETWEEN ? AND ? LIMIT 1`,
		message, First(chain), Last(chain))
}

var intoLog = newInsertion("log", logColumns, 1)

func (b *Batch) addLog(l *Log) error {
	return b.insert(intoLog, l.ID, l.Tx, l.Address, l.Topic, l.Topics, l.Data)
}

// LogView is a log with the hashes of the block and the transaction that it belongs to.
type LogView struct {
	Log
	BlockHash []byte `db:"block_hash"`
	TxHash    []byte `db:"tx_hash"`
}

// The outer loop is the log's own index or range; block and transaction are found by their keys, one seek each.
const (
	eventSelect = `SELECT l.id, l.tx, l.address, l.topic, l.topics, l.data, b.hash AS block_hash, t.hash AS tx_hash
		FROM log l CROSS JOIN block b CROSS JOIN tx t
		WHERE b.id = l.id & ~65535 AND t.id = (l.id & ~65535) + l.tx AND `
	eventOrder = ` ORDER BY l.id LIMIT 0 + ?`
)

const logViewsBetween = eventSelect + `l.id BETWEEN ? AND ?` + eventOrder

// LogViewsBetween reads at most limit logs from one position to another, both included, ascending.
func (db *DB) LogViewsBetween(ctx context.Context, first, last Position, limit int) ([]LogView, error) {
	return list[LogView](ctx, db, logViewsBetween, first, last, limit)
}

// EachLogView is LogViewsBetween for who looks at one after the other. Who keeps one copies it.
func (db *DB) EachLogView(ctx context.Context, first, last Position, limit int, visit func(*LogView)) error {
	return each(ctx, db, visit, logViewsBetween, first, last, limit)
}

// EachLogViewOfAddress is EachLogView for the logs of one contract.
func (db *DB) EachLogViewOfAddress(ctx context.Context, address []byte, first, last Position, limit int, visit func(*LogView)) error {
	return each(ctx, db, visit, eventSelect+`substr(l.address, 1, 6) = substr(?1, 1, 6) AND l.address = ?1 AND l.id BETWEEN ?2 AND ?3`+eventOrder, address, first, last, limit)
}

// EachLogViewOfTopic is EachLogView for the logs with this first topic.
func (db *DB) EachLogViewOfTopic(ctx context.Context, topic []byte, first, last Position, limit int, visit func(*LogView)) error {
	return each(ctx, db, visit, eventSelect+`substr(l.topic, 1, 6) = substr(?1, 1, 6) AND l.topic = ?1 AND l.id BETWEEN ?2 AND ?3`+eventOrder, topic, first, last, limit)
}

// LogViewsAt reads the logs at positions, ascending.
func (db *DB) LogViewsAt(ctx context.Context, at []Position) ([]LogView, error) {
	if len(at) == 0 {
		return nil, nil
	}
	in, size := inList(len(at))
	return list[LogView](ctx, db, eventSelect+`l.id IN `+in+` ORDER BY l.id`, listArgs(at, size)...)
}

// LogsAt reads the logs at positions, in no order.
func (db *DB) LogsAt(ctx context.Context, at []Position) ([]Log, error) {
	if len(at) == 0 {
		return nil, nil
	}
	in, size := inList(len(at))
	return list[Log](ctx, db, `SELECT `+logColumns+` FROM log WHERE id IN `+in, listArgs(at, size)...)
}
