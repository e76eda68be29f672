package store

import (
	"context"
	"database/sql"
)

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
