package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"snowglobe/sim/store/bulk"
)

// Transaction is an executed transaction of an EVM chain with its outcome for the receipt.
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
	return Get[Transaction](ctx, db, `SELECT `+transactionColumns+` FROM tx WHERE id = ?`, at)
}

// TransactionByHash reads the transaction of a chain with this hash.
func (db *DB) TransactionByHash(ctx context.Context, chain int, hash []byte) (*Transaction, error) {
	return Get[Transaction](ctx, db, `SELECT `+transactionColumns+` FROM tx WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND id BETWEEN ?2 AND ?3`,
		hash, First(chain), Last(chain))
}

// TransactionsBetween reads the transactions from one position to another, both included, ascending.
func (db *DB) TransactionsBetween(ctx context.Context, first, last Position) ([]Transaction, error) {
	return List[Transaction](ctx, db, `SELECT `+transactionColumns+` FROM tx WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

// PaidBetween reads the gas payments of the transactions from one position to another, both included: the gas used and the encoding,
// ascending.
func (db *DB) PaidBetween(ctx context.Context, first, last Position) ([]Transaction, error) {
	return List[Transaction](ctx, db, `SELECT id, gas_used, raw FROM tx WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

// Transactions reads the transactions of a block in order.
func (db *DB) Transactions(ctx context.Context, block Position) ([]Transaction, error) {
	return db.TransactionsBetween(ctx, block.Block(), block.End())
}

// FirstFailedTransaction reads the oldest failed transaction of a chain.
func (db *DB) FirstFailedTransaction(ctx context.Context, chain int) (*Transaction, error) {
	return Get[Transaction](ctx, db, `SELECT `+transactionColumns+` FROM tx
		WHERE status = 0 AND id BETWEEN ? AND ? ORDER BY id LIMIT 1`, First(chain), Last(chain))
}

var intoTx = bulk.NewTable("tx", transactionColumns, false)

func (b *Batch) addTransaction(t *Transaction) error {
	return b.insert(intoTx, t.ID, t.Hash, t.Sender, t.Recipient, t.Created, t.Status, t.GasUsed, t.GasTotal, t.Logs, t.Raw)
}

// ImpersonatedTx is a transaction that its sender did not sign, because a client impersonated it.
type ImpersonatedTx struct {
	ID Position `db:"id"` // of the transaction
}

// ImpersonatedTxs reads the impersonated transactions from one position to another, ascending.
func (db *DB) ImpersonatedTxs(ctx context.Context, first, last Position) ([]ImpersonatedTx, error) {
	return List[ImpersonatedTx](ctx, db, `SELECT id FROM impersonated_tx WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

func (b *Batch) addImpersonatedTx(t *ImpersonatedTx) error {
	return b.exec(`INSERT INTO impersonated_tx (id) VALUES (?)`, t.ID)
}

// Inclusion tells where the chain includes something: its transaction and its block.
type Inclusion struct {
	TxHash    []byte `db:"tx_hash"`
	BlockHash []byte `db:"block_hash"` // of the block
	BlockTime int64  `db:"time"`       // of the block, Unix seconds
	Header    Packed `db:"header"`     // of the block, RLP
	Execution []byte `db:"execution"`  // of the block
}

// inclusionColumns selects the columns of a transaction t in a block b.
const inclusionColumns = `t.hash AS tx_hash, b.hash AS block_hash, b.time, b.header, b.execution`

// Touch records that an address took part in a transaction without being its sender or recipient.
type Touch struct {
	Address []byte
	Tx      Position
}

// Touched reports whether the index lists an address for a transaction.
func (db *DB) Touched(ctx context.Context, address []byte, tx Position) (bool, error) {
	return value[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM touch WHERE address = ? AND tx = ?)`, address, tx)
}

var intoTouch = bulk.NewTable("touch", `address, tx`, true)

func (b *Batch) addTouch(t *Touch) error {
	return b.insert(intoTouch, t.Address, t.Tx)
}

// MaxTransactionsAt is the most transactions that can be read at once by position.
const MaxTransactionsAt = 64

var (
	// k is a table of the given positions, in their order.
	positionTable = `WITH k(at) AS (VALUES ` + strings.TrimSuffix(strings.Repeat("(?), ", MaxTransactionsAt), ", ") + `) `

	transactionsAt = positionTable + `SELECT ` + transactionView + `
		FROM k CROSS JOIN tx t ON t.id = k.at CROSS JOIN block b ON b.id = k.at & ~65535`
	callsAt = positionTable + `SELECT c.id, c.tx, c.depth, c.type, c.sender, c.recipient, c.value, c.gas, c.gas_used, c.reverted, c.error
		FROM k CROSS JOIN call c ON c.id BETWEEN k.at & ~65535 AND k.at | 65535 AND c.tx = k.at & 65535 AND c.type <> 'SELFDESTRUCT'`
	transfersAt = positionTable + `SELECT x.id, x.tx, x.log, x.standard, x.asset, x.sender, x.recipient, x.amount
		FROM k CROSS JOIN transfer x ON x.id BETWEEN k.at & ~65535 AND k.at | 65535 AND x.tx = k.at & 65535`
)

// nowhere fills unused parameters: no row has this position.
const nowhere = Position(0)

// positionArgs converts positions to arguments of a statement with positionTable.
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

// TransactionsAt reads the transactions at up to MaxTransactionsAt positions.
func (db *DB) TransactionsAt(ctx context.Context, at []Position) ([]TransactionView, error) {
	return List[TransactionView](ctx, db, transactionsAt, positionArgs(at)...)
}

// CallsAt reads the internal transactions of the transactions at positions, one after another.
func (db *DB) CallsAt(ctx context.Context, at []Position) ([]Call, error) {
	return List[Call](ctx, db, callsAt, positionArgs(at)...)
}

// TransfersAt reads the transfers in the transactions at positions, one after another.
func (db *DB) TransfersAt(ctx context.Context, at []Position) ([]Transfer, error) {
	return List[Transfer](ctx, db, transfersAt, positionArgs(at)...)
}

// PooledTx is a transaction that was in an EVM chain's pool when the world was closed.
type PooledTx struct {
	Chain   int    `db:"chain"`
	Arrival int    `db:"arrival"` // numbers the chain's transactions by arrival
	Sender  []byte `db:"sender"`
	Raw     []byte `db:"raw"` // canonical encoding
}

const pooledTxColumns = `chain, arrival, sender, raw`

// PooledTxs reads a chain's pooled transactions in order of arrival.
func (db *DB) PooledTxs(ctx context.Context, chain int) ([]PooledTx, error) {
	return List[PooledTx](ctx, db, `SELECT `+pooledTxColumns+` FROM pooled_tx WHERE chain = ? ORDER BY arrival`, chain)
}

// SetPooledTxs replaces a chain's pooled transactions. The batch must change nothing else, and is not undone: a snapshot keeps its own.
func (b *Batch) SetPooledTxs(chain int, all []PooledTx) error {
	b.aside = true
	if err := b.exec(`DELETE FROM pooled_tx WHERE chain = ?`, chain); err != nil {
		return err
	}
	return addAll(all, func(t *PooledTx) error {
		return b.exec(`INSERT INTO pooled_tx (`+pooledTxColumns+`) VALUES (?, ?, ?, ?)`, t.Chain, t.Arrival, t.Sender, t.Raw)
	})
}

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

// Called records that a transaction, by its index in the block, called an address internally, with or without value.
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
	return List[Call](ctx, db, `SELECT `+callColumns+` FROM call WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

var intoCall = bulk.NewTable("call", callColumns, false)

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
	return List[Call](ctx, db, `SELECT `+callColumns+` FROM call WHERE id BETWEEN ? AND ? AND tx = ? AND type <> 'SELFDESTRUCT' ORDER BY id`,
		tx.Block(), tx.End(), tx.Index())
}

// InternalHistory reads at most limit internal transactions from or to an address, from one position down to another.
func (db *DB) InternalHistory(ctx context.Context, address []byte, high, low Position, limit int) ([]CallView, error) {
	return List[CallView](ctx, db, `
		SELECT c.id, c.tx, c.depth, c.type, c.sender, c.recipient, c.value, c.gas, c.gas_used, c.reverted, c.error, `+inclusionColumns+`
		FROM (`+pageOfCalls+`)
		CROSS JOIN call c ON c.id = page
		CROSS JOIN block b ON b.id = page & ~65535
		CROSS JOIN tx t ON t.id = (page & ~65535) + c.tx`, address, high, low, limit)
}

// InternalHistoryIDs finds the ids for InternalHistory.
func (db *DB) InternalHistoryIDs(ctx context.Context, address []byte, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, pageOfCalls, address, high, low, limit)
}

// TransactionView is a transaction with its block.
type TransactionView struct {
	Transaction
	BlockHash []byte `db:"block_hash"` // of the block
	BlockTime int64  `db:"time"`       // of the block, Unix seconds
	Header    Packed `db:"header"`     // of the block, RLP
	Execution []byte `db:"execution"`  // of the block
}

const transactionView = `t.id, t.hash, t.sender, t.recipient, t.created, t.status, t.gas_used, t.gas_total, t.logs, t.raw, b.hash AS block_hash, b.time, b.header, b.execution`

// transactionPage completes a list of transaction ids, named page.
const transactionPage = `SELECT ` + transactionView + `
	FROM (%s) CROSS JOIN tx t ON t.id = page CROSS JOIN block b ON b.id = page & ~65535`

// Pages of transaction ids. Those about an address merge both directions while reading.
const (
	pageOfAll     = `SELECT id AS page FROM tx WHERE id BETWEEN ?2 AND ?1 ORDER BY page DESC LIMIT 0 + ?3`
	pageOfSuccess = `SELECT id AS page FROM tx WHERE id BETWEEN ?2 AND ?1 AND status = 1 ORDER BY page DESC LIMIT 0 + ?3`
	pageOfFailed  = `SELECT id AS page FROM tx WHERE id BETWEEN ?2 AND ?1 AND status = 0 ORDER BY page DESC LIMIT 0 + ?3`
	pageOfNative  = `SELECT id AS page FROM tx WHERE sender = ?1 AND id BETWEEN ?3 AND ?2
		UNION SELECT id FROM tx WHERE ifnull(recipient, created) = ?1 AND id BETWEEN ?3 AND ?2`
	pageOfTouch = pageOfNative + `
		UNION SELECT tx FROM touch WHERE address = ?1 AND tx BETWEEN ?3 AND ?2`
	internalWith = `SELECT id AS page FROM call WHERE sender = ?1 AND type <> 'SELFDESTRUCT' AND id BETWEEN ?3 AND ?2
		UNION SELECT id FROM call WHERE recipient = ?1 AND type <> 'SELFDESTRUCT' AND id BETWEEN ?3 AND ?2`
	pageOfCalls = internalWith + newestFirst
	newestFirst = ` ORDER BY page DESC LIMIT 0 + ?4`
	oldestFirst = ` ORDER BY page LIMIT 0 + ?4`
)

// Status is a transaction's outcome.
type Status int

// The outcomes to which a list can be limited.
const (
	AnyStatus Status = iota
	Succeeded
	Failed
)

// idsByStatus selects the ids of pages, without the rows.
var idsByStatus = map[Status]string{AnyStatus: pageOfAll, Succeeded: pageOfSuccess, Failed: pageOfFailed}

// ids runs a statement that returns positions.
func (db *DB) ids(ctx context.Context, text string, args ...any) ([]Position, error) {
	return List[Position](ctx, db, text, args...)
}

// HistoryIDs finds the ids for History.
func (db *DB) HistoryIDs(ctx context.Context, s Status, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, idsByStatus[s], high, low, limit)
}

// NativeHistoryIDs finds the ids for NativeHistory.
func (db *DB) NativeHistoryIDs(ctx context.Context, address []byte, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, pageOfNative+newestFirst, address, high, low, limit)
}

var byStatus = map[Status]string{
	AnyStatus: fmt.Sprintf(transactionPage, pageOfAll),
	Succeeded: fmt.Sprintf(transactionPage, pageOfSuccess),
	Failed:    fmt.Sprintf(transactionPage, pageOfFailed),
}

// History reads at most limit transactions with an outcome from one position down to another.
func (db *DB) History(ctx context.Context, s Status, high, low Position, limit int) ([]TransactionView, error) {
	return List[TransactionView](ctx, db, byStatus[s], high, low, limit)
}

// NativeCount counts the transactions that an address sent or received on an EVM chain.
func (db *DB) NativeCount(ctx context.Context, chain int, address []byte) (int64, error) {
	low, high := First(chain), Last(chain)
	received, err := value[int64](ctx, db, `SELECT count(*) FROM tx WHERE ifnull(recipient, created) = ?1 AND id BETWEEN ?3 AND ?2`, address, high, low)
	if err != nil {
		return 0, err
	}
	if received > 0 {
		return value[int64](ctx, db, nativeCount, address, high, low) // it may have sent some to itself
	}
	sent, err := value[int64](ctx, db, sentByNonce, chain, address)
	if errors.Is(err, ErrNotFound) {
		return value[int64](ctx, db, `SELECT count(*) FROM tx WHERE sender = ?1 AND id BETWEEN ?3 AND ?2`, address, high, low)
	}
	return sent, err
}

// An account's nonce counts what it sent since the genesis, unless it held a contract, which creates others, a client changed the nonce, or
// the account sent something to the P- or X-Chain.
const sentByNonce = `SELECT nonce - ifnull((SELECT nonce FROM account WHERE chain = ?1 AND address = ?2 AND block = 0), 0) FROM account
	WHERE chain = ?1 AND address = ?2 AND block = (SELECT max(block) FROM account WHERE chain = ?1 AND address = ?2) AND code_hash IS NULL
		AND NOT EXISTS (SELECT 1 FROM account INDEXED BY account_gone WHERE chain = ?1 AND address = ?2 AND gone = 1)
		AND NOT EXISTS (SELECT 1 FROM state_change WHERE chain = ?1 AND address = ?2 AND kind IN ('nonce', 'code'))
		AND NOT EXISTS (SELECT 1 FROM primary_activity WHERE subject = ?2 AND (SELECT kind = 'C' FROM chain WHERE id = ?1))`

// The order is not needed, but the ORDER BY makes the engine merge two indexes without storing rows. It takes four times as long as counting
// the entries of each.
var nativeCount = `SELECT count(*) FROM (` + pageOfNative + ` ORDER BY page DESC LIMIT -1)`

var nativeHistory = fmt.Sprintf(transactionPage, pageOfNative+newestFirst)

// NativeHistory reads at most limit transactions that an address sent or received, from one position down to another.
func (db *DB) NativeHistory(ctx context.Context, address []byte, high, low Position, limit int) ([]TransactionView, error) {
	return List[TransactionView](ctx, db, nativeHistory, address, high, low, limit)
}

// AddressHistory requests a part of an address's history: at most Limit transactions of any kind between two positions, the newest first
// unless Ascending.
type AddressHistory struct {
	Address   []byte
	High, Low Position
	Limit     int
	Ascending bool
}

func (i AddressHistory) args() []any { return []any{i.Address, i.High, i.Low, i.Limit} }

// in chooses between a statement that reads newest first and one that reads oldest first.
func (i AddressHistory) in(texts [2]string) string {
	if i.Ascending {
		return texts[1]
	}
	return texts[0]
}

func bothWays(format string) [2]string {
	return [2]string{fmt.Sprintf(format, pageOfTouch+newestFirst), fmt.Sprintf(format, pageOfTouch+oldestFirst)}
}

// The plus signs keep these statements to the rows of the page's transactions: an index by address would read all rows
// of the address.
var (
	wholeHistory     = bothWays(transactionPage)
	historyTransfers = bothWays(`
		SELECT x.id, x.tx, x.log, x.standard, x.asset, x.sender, x.recipient, x.amount, ` + nftColumns + `
		FROM (%s) CROSS JOIN transfer x ON x.id BETWEEN page & ~65535 AND page | 65535
			AND x.tx = page & 65535 AND (+x.sender = ?1 OR +x.recipient = ?1)
		LEFT JOIN nft n ON x.standard > 0 AND n.asset = x.asset
			AND n.block = (SELECT block FROM nft WHERE asset = x.asset ORDER BY block DESC LIMIT 1)`)
	historyCalls = bothWays(`
		SELECT c.id, c.tx, c.depth, c.type, c.sender, c.recipient, c.value, c.gas, c.gas_used, c.reverted, c.error
		FROM (%s) CROSS JOIN call c ON c.id BETWEEN page & ~65535 AND page | 65535
			AND c.tx = page & 65535 AND (+c.sender = ?1 OR +c.recipient = ?1) AND c.type <> 'SELFDESTRUCT'`)
)

var (
	nativeIDs   = [2]string{pageOfNative + newestFirst, pageOfNative + oldestFirst}
	internalIDs = [2]string{internalWith + newestFirst, internalWith + oldestFirst}
	callIDs     = [2]string{callsIn + newestFirst, callsIn + oldestFirst}

	callViewsAt = positionTable + `SELECT c.id, c.tx, c.depth, c.type, c.sender, c.recipient, c.value, c.gas, c.gas_used, c.reverted, c.error, ` + inclusionColumns + `
		FROM k CROSS JOIN call c ON c.id = k.at CROSS JOIN block b ON b.id = k.at & ~65535 CROSS JOIN tx t ON t.id = (k.at & ~65535) + c.tx`
)

// callsIn has the same parameters as pages about an address.
const callsIn = `SELECT id AS page FROM call WHERE ?1 IS NULL AND type <> 'SELFDESTRUCT' AND id BETWEEN ?3 AND ?2`

// HistoryNativeIDs finds the transactions that the address sent or received in a part of a history.
func (db *DB) HistoryNativeIDs(ctx context.Context, i AddressHistory) ([]Position, error) {
	return db.ids(ctx, i.in(nativeIDs), i.args()...)
}

// HistoryInternalIDs finds the internal transactions from or to the address in a part of a history; without an address, all of them.
func (db *DB) HistoryInternalIDs(ctx context.Context, i AddressHistory) ([]Position, error) {
	if i.Address == nil {
		return db.ids(ctx, i.in(callIDs), i.args()...)
	}
	return db.ids(ctx, i.in(internalIDs), i.args()...)
}

// CallViewsAt reads the calls at up to MaxTransactionsAt positions.
func (db *DB) CallViewsAt(ctx context.Context, at []Position) ([]CallView, error) {
	return List[CallView](ctx, db, callViewsAt, positionArgs(at)...)
}

// WholeHistory reads the transactions of a part of a history.
func (db *DB) WholeHistory(ctx context.Context, i AddressHistory) ([]TransactionView, error) {
	return List[TransactionView](ctx, db, i.in(wholeHistory), i.args()...)
}

// HistoryTransfers reads the transfers from or to the address in the transactions of a part of a history; their
// inclusion stays empty.
func (db *DB) HistoryTransfers(ctx context.Context, i AddressHistory) ([]TransferView, error) {
	return List[TransferView](ctx, db, i.in(historyTransfers), i.args()...)
}

// HistoryCalls reads the internal transactions from or to the address in the transactions of a part of a history.
func (db *DB) HistoryCalls(ctx context.Context, i AddressHistory) ([]Call, error) {
	return List[Call](ctx, db, i.in(historyCalls), i.args()...)
}

// TransactionViewByHash reads the transaction of a chain with this hash.
func (db *DB) TransactionViewByHash(ctx context.Context, chain int, hash []byte) (*TransactionView, error) {
	return Get[TransactionView](ctx, db, `SELECT `+transactionView+` FROM tx t CROSS JOIN block b ON b.id = t.id & ~65535
		WHERE substr(t.hash, 1, 6) = substr(?1, 1, 6) AND t.hash = ?1 AND t.id BETWEEN ?2 AND ?3`, hash, First(chain), Last(chain))
}

// TransactionViewAt reads the transaction at a position.
func (db *DB) TransactionViewAt(ctx context.Context, at Position) (*TransactionView, error) {
	return Get[TransactionView](ctx, db, `SELECT `+transactionView+` FROM tx t CROSS JOIN block b ON b.id = t.id & ~65535 WHERE t.id = ?`,
		at)
}

// AddressSeen reports whether an address took part in any transaction of a chain, or ever had an account there: an import from another
// chain of the network needs no transaction on this one.
func (db *DB) AddressSeen(ctx context.Context, chain int, address []byte) (bool, error) {
	return value[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM tx WHERE sender = ?1 AND id BETWEEN ?2 AND ?3)
		OR EXISTS (SELECT 1 FROM tx WHERE ifnull(recipient, created) = ?1 AND id BETWEEN ?2 AND ?3)
		OR EXISTS (SELECT 1 FROM touch WHERE address = ?1 AND tx BETWEEN ?2 AND ?3)
		OR EXISTS (SELECT 1 FROM account WHERE chain = ?4 AND address = ?1)`, address, First(chain), Last(chain), chain)
}

// TouchIDs finds at most limit transactions of an EVM chain in which an address took any part, from one position up to another.
func (db *DB) TouchIDs(ctx context.Context, address []byte, low, high Position, limit int) ([]Position, error) {
	return db.ids(ctx, pageOfTouch+oldestFirst, address, high, low, limit)
}
