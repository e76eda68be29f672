package store

import (
	"context"
	"database/sql"
)

// Call is a call inside a transaction that moved value or created a contract.
type Call struct {
	ID        Position // index of the call in its block
	Tx        int      // index of the transaction in the block
	Depth     int      // 1 for a call by the transaction's own target
	Type      string   // CALL, CALLCODE, CREATE, CREATE2 or SELFDESTRUCT
	Sender    []byte
	Recipient []byte // the created address of a creation
	Value     []byte // 32 bytes
	Gas       uint64
	GasUsed   uint64
	Reverted  bool   // this call or one around it was undone
	Error     string // the EVM's reason, empty on success
}

const callColumns = `id, tx, depth, type, sender, recipient, value, gas, gas_used, reverted, error`

func scanCall(r *sql.Rows, c *Call) error {
	return r.Scan(&c.ID, &c.Tx, &c.Depth, &c.Type, &c.Sender, &c.Recipient, &c.Value, &c.Gas, &c.GasUsed, &c.Reverted, &c.Error)
}

// Calls reads the calls of a block in the order in which they began.
func (db *DB) Calls(ctx context.Context, block Position) ([]Call, error) {
	return many(ctx, db, `SELECT `+callColumns+` FROM call WHERE id BETWEEN ? AND ? ORDER BY id`,
		[]any{block.Block(), block.End()}, scanCall)
}

func (b *Batch) addCall(c *Call) error {
	return b.exec(`INSERT INTO call (`+callColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.Tx, c.Depth, c.Type, c.Sender, c.Recipient, c.Value, c.Gas, c.GasUsed, c.Reverted, c.Error)
}

// CallView is an internal transaction with its place.
type CallView struct {
	Call
	Place
}

// InternalTransactions reads the internal transactions of a transaction in order.
func (db *DB) InternalTransactions(ctx context.Context, tx Position) ([]Call, error) {
	return many(ctx, db, `SELECT `+callColumns+` FROM call WHERE id BETWEEN ? AND ? AND tx = ? AND type <> 'SELFDESTRUCT' ORDER BY id`,
		[]any{tx.Block(), tx.End(), tx.Index()}, scanCall)
}

// InternalHistory reads at most limit internal transactions from or to an address, from one position down to another.
func (db *DB) InternalHistory(ctx context.Context, address []byte, high, low Position, limit int) ([]CallView, error) {
	return many(ctx, db, `
		SELECT c.id, c.tx, c.depth, c.type, c.sender, c.recipient, c.value, c.gas, c.gas_used, c.reverted, c.error, `+placeColumns+`
		FROM (`+pageOfCalls+`)
		CROSS JOIN call c ON c.id = page
		CROSS JOIN block b ON b.id = page & ~65535
		CROSS JOIN tx t ON t.id = (page & ~65535) + c.tx`, []any{address, high, low, limit},
		func(r *sql.Rows, v *CallView) error {
			return r.Scan(append([]any{&v.ID, &v.Tx, &v.Depth, &v.Type, &v.Sender, &v.Recipient, &v.Value, &v.Gas, &v.GasUsed,
				&v.Reverted, &v.Error}, v.Place.fields()...)...)
		})
}

// InternalHistoryIDs finds what InternalHistory reads.
func (db *DB) InternalHistoryIDs(ctx context.Context, address []byte, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, pageOfCalls, address, high, low, limit)
}
