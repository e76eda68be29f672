package store

import (
	"context"
)

// Call is a call inside a transaction that moved value or created a contract.
type Call struct {
	ID        Position `db:"id"`    // index of the call in its block
	Tx        int      `db:"tx"`    // index of the transaction in the block
	Depth     int      `db:"depth"` // 1 for a call by the transaction's own target
	Type      string   `db:"type"`  // CALL, CALLCODE, CREATE, CREATE2 or SELFDESTRUCT
	Sender    []byte   `db:"sender"`
	Recipient []byte   `db:"recipient"` // the created address of a creation
	Value     Word     `db:"value"`     // 32 bytes
	Gas       uint64   `db:"gas"`
	GasUsed   uint64   `db:"gas_used"`
	Reverted  bool     `db:"reverted"` // this call or one around it was undone
	Error     string   `db:"error"`    // the EVM's reason, empty on success
}

// Called says that a transaction, by its index in the block, called an address inside, with value or without.
type Called struct {
	Tx      int
	Address [20]byte
}

const callColumns = `id, tx, depth, type, sender, recipient, value, gas, gas_used, reverted, error`

// Calls reads the calls of a block in the order in which they began.
func (db *DB) Calls(ctx context.Context, block Position) ([]Call, error) {
	return db.CallsBetween(ctx, block.Block(), block.End())
}

// CallsBetween reads the calls from one position to another, both included, in order.
func (db *DB) CallsBetween(ctx context.Context, first, last Position) ([]Call, error) {
	return list[Call](ctx, db, `SELECT `+callColumns+` FROM call WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

var intoCall = newInsertion("call", callColumns, 1)

func (b *Batch) addCall(c *Call) error {
	return b.insert(intoCall, c.ID, c.Tx, c.Depth, c.Type, c.Sender, c.Recipient, c.Value, c.Gas, c.GasUsed, c.Reverted, c.Error)
}

// CallView is an internal transaction with its inclusion.
type CallView struct {
	Call
	Inclusion
}

// InternalTransactions reads the internal transactions of a transaction in order.
func (db *DB) InternalTransactions(ctx context.Context, tx Position) ([]Call, error) {
	return list[Call](ctx, db, `SELECT `+callColumns+` FROM call WHERE id BETWEEN ? AND ? AND tx = ? AND type <> 'SELFDESTRUCT' ORDER BY id`,
		tx.Block(), tx.End(), tx.Index())
}

// InternalHistory reads at most limit internal transactions from or to an address, from one position down to another.
func (db *DB) InternalHistory(ctx context.Context, address []byte, high, low Position, limit int) ([]CallView, error) {
	return list[CallView](ctx, db, `
		SELECT c.id, c.tx, c.depth, c.type, c.sender, c.recipient, c.value, c.gas, c.gas_used, c.reverted, c.error, `+inclusionColumns+`
		FROM (`+pageOfCalls+`)
		CROSS JOIN call c ON c.id = page
		CROSS JOIN block b ON b.id = page & ~65535
		CROSS JOIN tx t ON t.id = (page & ~65535) + c.tx`, address, high, low, limit)
}

// InternalHistoryIDs finds what InternalHistory reads.
func (db *DB) InternalHistoryIDs(ctx context.Context, address []byte, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, pageOfCalls, address, high, low, limit)
}
