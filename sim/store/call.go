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
