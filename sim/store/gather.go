package store

import (
	"context"
	"strings"
)

// Gathered is how many transactions can be read at once by their positions.
const Gathered = 64

var (
	// k is a table of positions, in the order in which they are given.
	positionsOfK = `WITH k(at) AS (VALUES ` + strings.TrimSuffix(strings.Repeat("(?), ", Gathered), ", ") + `) `

	gatherTransactions = positionsOfK + `SELECT ` + transactionView + `
		FROM k CROSS JOIN tx t ON t.id = k.at CROSS JOIN block b ON b.id = k.at & ~65535`
	gatherCalls = positionsOfK + `SELECT c.id, c.tx, c.depth, c.type, c.sender, c.recipient, c.value, c.gas, c.gas_used, c.reverted, c.error
		FROM k CROSS JOIN call c ON c.id BETWEEN k.at & ~65535 AND k.at | 65535 AND c.tx = k.at & 65535 AND c.type <> 'SELFDESTRUCT'`
	gatherTransfers = positionsOfK + `SELECT x.id, x.tx, x.log, x.standard, x.asset, x.sender, x.recipient, x.amount
		FROM k CROSS JOIN transfer x ON x.id BETWEEN k.at & ~65535 AND k.at | 65535 AND x.tx = k.at & 65535`
)

// nowhere fills the places that are not needed: there is no row at it.
const nowhere = Position(0)

// gatherArgs are the arguments of a statement that gathers.
func gatherArgs(at []Position) []any {
	args := make([]any, Gathered)
	for i := range args {
		args[i] = nowhere
		if i < len(at) {
			args[i] = at[i]
		}
	}
	return args
}

// TransactionsAt reads the transactions at positions, at most Gathered of them.
func (db *DB) TransactionsAt(ctx context.Context, at []Position) ([]TransactionView, error) {
	return many(ctx, db, gatherTransactions, gatherArgs(at), scanTransactionView)
}

// CallsAt reads the internal transactions of the transactions at positions, one after the other.
func (db *DB) CallsAt(ctx context.Context, at []Position) ([]Call, error) {
	return many(ctx, db, gatherCalls, gatherArgs(at), scanCall)
}

// TransfersAt reads the transfers in the transactions at positions, one after the other.
func (db *DB) TransfersAt(ctx context.Context, at []Position) ([]Transfer, error) {
	return many(ctx, db, gatherTransfers, gatherArgs(at), scanTransfer)
}

// TouchIDs finds at most limit transactions of an EVM chain in which an address took any part, from one position up to
// another.
func (db *DB) TouchIDs(ctx context.Context, address []byte, low, high Position, limit int) ([]Position, error) {
	return db.ids(ctx, pageOfTouch+oldestFirst, address, high, low, limit)
}

// UTXOsOfGenesis reads the outputs of an address that a primary chain began with.
func (db *DB) UTXOsOfGenesis(ctx context.Context, address []byte, chain int) ([]UTXO, error) {
	return many(ctx, db, `SELECT u.id, u.tx, u.output, u.chain, u.asset, u.amount, u.out, u.reward, u.spent
		FROM utxo_owner o CROSS JOIN utxo u ON u.id = o.utxo
		WHERE o.address = ? AND o.chain = ? AND o.utxo >= ? AND o.utxo < ? ORDER BY o.utxo`,
		[]any{address, chain, NumberUTXO(chain, 0, 0), NumberUTXO(chain, 1, 0)}, scanUTXO)
}
