package store

import (
	"context"
	"strings"
)

// Transaction is an executed transaction of an EVM chain with the outcome that its receipt reports.
type Transaction struct {
	ID        Position `db:"id"`
	Hash      []byte   `db:"hash"`
	Sender    []byte   `db:"sender"`
	Recipient []byte   `db:"recipient"` // nil for a creation
	Created   []byte   `db:"created"`   // address of the contract that a creation made, else nil
	Status    uint64   `db:"status"`    // 1 success, 0 failed
	GasUsed   uint64   `db:"gas_used"`
	GasTotal  uint64   `db:"gas_total"` // cumulative in the block
	Logs      int      `db:"logs"`
	Raw       Packed   `db:"raw"` // the signed transaction, canonical encoding
}

const transactionColumns = `id, hash, sender, recipient, created, status, gas_used, gas_total, logs, raw`

// Transaction reads the transaction at a position.
func (db *DB) Transaction(ctx context.Context, at Position) (*Transaction, error) {
	return get[Transaction](ctx, db, `SELECT `+transactionColumns+` FROM tx WHERE id = ?`, at)
}

// TransactionByHash reads the transaction of a chain with this hash.
func (db *DB) TransactionByHash(ctx context.Context, chain int, hash []byte) (*Transaction, error) {
	return get[Transaction](ctx, db, `SELECT `+transactionColumns+` FROM tx WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND id BETWEEN ?2 AND ?3`,
		hash, First(chain), Last(chain))
}

// TransactionsBetween reads the transactions from one position to another, both included, ascending.
func (db *DB) TransactionsBetween(ctx context.Context, first, last Position) ([]Transaction, error) {
	return list[Transaction](ctx, db, `SELECT `+transactionColumns+` FROM tx WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

// Transactions reads the transactions of a block in order.
func (db *DB) Transactions(ctx context.Context, block Position) ([]Transaction, error) {
	return db.TransactionsBetween(ctx, block.Block(), block.End())
}

// FirstFailedTransaction reads the oldest failed transaction of a chain.
func (db *DB) FirstFailedTransaction(ctx context.Context, chain int) (*Transaction, error) {
	return get[Transaction](ctx, db, `SELECT `+transactionColumns+` FROM tx
		WHERE status = 0 AND id BETWEEN ? AND ? ORDER BY id LIMIT 1`, First(chain), Last(chain))
}

var intoTx = newInsertion("tx", transactionColumns, 1)

func (b *Batch) addTransaction(t *Transaction) error {
	return b.insert(intoTx, t.ID, t.Hash, t.Sender, t.Recipient, t.Created, t.Status, t.GasUsed, t.GasTotal, t.Logs, t.Raw)
}

// ImpersonatedTx is a transaction that its sender did not sign, because a client impersonated it.
type ImpersonatedTx struct {
	ID Position `db:"id"` // of the transaction
}

// ImpersonatedTxs reads those among the transactions from one position to another, ascending.
func (db *DB) ImpersonatedTxs(ctx context.Context, first, last Position) ([]ImpersonatedTx, error) {
	return list[ImpersonatedTx](ctx, db, `SELECT id FROM impersonated_tx WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

func (b *Batch) addImpersonatedTx(t *ImpersonatedTx) error {
	return b.exec(`INSERT INTO impersonated_tx (id) VALUES (?)`, t.ID)
}

// Inclusion is the inclusion of something in a chain: its transaction and its block.
type Inclusion struct {
	TxHash    []byte `db:"tx_hash"`
	BlockHash []byte `db:"block_hash"` // of the block
	BlockTime int64  `db:"time"`       // of the block, Unix seconds
	Header    Packed `db:"header"`     // of the block, RLP
}

// inclusionColumns are those of a transaction t in a block b.
const inclusionColumns = `t.hash AS tx_hash, b.hash AS block_hash, b.time, b.header`

// Touch says that an address took part in a transaction without being its sender or recipient.
type Touch struct {
	Address []byte
	Tx      Position
}

// Touched reports whether the index says that an address took part in a transaction.
func (db *DB) Touched(ctx context.Context, address []byte, tx Position) (bool, error) {
	return value[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM touch WHERE address = ? AND tx = ?)`, address, tx)
}

var intoTouch = newInsertion("touch", `address, tx`, 2)

func (b *Batch) addTouch(t *Touch) error {
	return b.insert(intoTouch, t.Address, t.Tx)
}

// MaxTransactionsAt is how many transactions can be read at once by their positions.
const MaxTransactionsAt = 64

var (
	// k is a table of positions, in the order in which they are given.
	positionTable = `WITH k(at) AS (VALUES ` + strings.TrimSuffix(strings.Repeat("(?), ", MaxTransactionsAt), ", ") + `) `

	transactionsAt = positionTable + `SELECT ` + transactionView + `
		FROM k CROSS JOIN tx t ON t.id = k.at CROSS JOIN block b ON b.id = k.at & ~65535`
	callsAt = positionTable + `SELECT c.id, c.tx, c.depth, c.type, c.sender, c.recipient, c.value, c.gas, c.gas_used, c.reverted, c.error
		FROM k CROSS JOIN call c ON c.id BETWEEN k.at & ~65535 AND k.at | 65535 AND c.tx = k.at & 65535 AND c.type <> 'SELFDESTRUCT'`
	transfersAt = positionTable + `SELECT x.id, x.tx, x.log, x.standard, x.asset, x.sender, x.recipient, x.amount
		FROM k CROSS JOIN transfer x ON x.id BETWEEN k.at & ~65535 AND k.at | 65535 AND x.tx = k.at & 65535`
)

// nowhere fills the parameters that are not needed: there is no row at this position.
const nowhere = Position(0)

// positionArgs are the positions as arguments of a statement with positionTable.
func positionArgs(at []Position) []any {
	args := make([]any, MaxTransactionsAt)
	for i := range args {
		args[i] = nowhere
		if i < len(at) {
			args[i] = at[i]
		}
	}
	return args
}

// TransactionsAt reads the transactions at positions, at most as many as one statement takes.
func (db *DB) TransactionsAt(ctx context.Context, at []Position) ([]TransactionView, error) {
	return list[TransactionView](ctx, db, transactionsAt, positionArgs(at)...)
}

// CallsAt reads the internal transactions of the transactions at positions, one after the other.
func (db *DB) CallsAt(ctx context.Context, at []Position) ([]Call, error) {
	return list[Call](ctx, db, callsAt, positionArgs(at)...)
}

// TransfersAt reads the transfers in the transactions at positions, one after the other.
func (db *DB) TransfersAt(ctx context.Context, at []Position) ([]Transfer, error) {
	return list[Transfer](ctx, db, transfersAt, positionArgs(at)...)
}

// PooledTx is a transaction that waited in the pool of an EVM chain when the world was closed.
type PooledTx struct {
	Chain   int    `db:"chain"`
	Arrival int    `db:"arrival"` // counts those of a chain in the order in which they came
	Sender  []byte `db:"sender"`
	Raw     []byte `db:"raw"` // canonical encoding
}

const pooledTxColumns = `chain, arrival, sender, raw`

// PooledTxs reads those of a chain in the order in which they came.
func (db *DB) PooledTxs(ctx context.Context, chain int) ([]PooledTx, error) {
	return list[PooledTx](ctx, db, `SELECT `+pooledTxColumns+` FROM pooled_tx WHERE chain = ? ORDER BY arrival`, chain)
}

// SetPooledTxs replaces those of a chain. Nothing else changes in the batch, which is not undone: a snapshot keeps its own.
func (b *Batch) SetPooledTxs(chain int, all []PooledTx) error {
	b.aside = true
	if err := b.exec(`DELETE FROM pooled_tx WHERE chain = ?`, chain); err != nil {
		return err
	}
	return addAll(all, func(t *PooledTx) error {
		return b.exec(`INSERT INTO pooled_tx (`+pooledTxColumns+`) VALUES (?, ?, ?, ?)`, t.Chain, t.Arrival, t.Sender, t.Raw)
	})
}
