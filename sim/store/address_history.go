package store

import (
	"context"
	"fmt"
)

// TransactionView is a transaction with its block.
type TransactionView struct {
	Transaction
	BlockHash []byte `db:"block_hash"` // of the block
	BlockTime int64  `db:"time"`       // of the block, Unix seconds
	Header    Packed `db:"header"`     // of the block, RLP
}

const transactionView = `t.id, t.hash, t.sender, t.recipient, t.created, t.status, t.gas_used, t.gas_total, t.logs, t.raw, b.hash AS block_hash, b.time, b.header`

// transactionPage completes a list of transaction ids, named page.
const transactionPage = `SELECT ` + transactionView + `
	FROM (%s) CROSS JOIN tx t ON t.id = page CROSS JOIN block b ON b.id = page & ~65535`

// Pages of transaction ids. In those about an address, both directions are merged as they are read.
const (
	pageOfAll     = `SELECT id AS page FROM tx WHERE id BETWEEN ?2 AND ?1 ORDER BY page DESC LIMIT 0 + ?3`
	pageOfSuccess = `SELECT id AS page FROM tx WHERE id BETWEEN ?2 AND ?1 AND status = 1 ORDER BY page DESC LIMIT 0 + ?3`
	pageOfFailed  = `SELECT id AS page FROM tx WHERE id BETWEEN ?2 AND ?1 AND status = 0 ORDER BY page DESC LIMIT 0 + ?3`
	pageOfNative  = `SELECT id AS page FROM tx WHERE sender = ?1 AND id BETWEEN ?3 AND ?2
		UNION SELECT id FROM tx WHERE ifnull(recipient, created) = ?1 AND id BETWEEN ?3 AND ?2`
	pageOfTouch = pageOfNative + `
		UNION SELECT tx FROM touch WHERE address = ?1 AND tx BETWEEN ?3 AND ?2`
	pageOfCalls = `SELECT id AS page FROM call WHERE sender = ?1 AND type <> 'SELFDESTRUCT' AND id BETWEEN ?3 AND ?2
		UNION SELECT id FROM call WHERE recipient = ?1 AND type <> 'SELFDESTRUCT' AND id BETWEEN ?3 AND ?2
		ORDER BY page DESC LIMIT 0 + ?4`
	newestFirst = ` ORDER BY page DESC LIMIT 0 + ?4`
	oldestFirst = ` ORDER BY page LIMIT 0 + ?4`
)

// Status tells transactions apart by their outcome.
type Status int

// The outcomes that a list may be confined to.
const (
	AnyStatus Status = iota
	Succeeded
	Failed
)

// idsByStatus are the pages themselves, without the rows.
var idsByStatus = map[Status]string{AnyStatus: pageOfAll, Succeeded: pageOfSuccess, Failed: pageOfFailed}

// ids runs a statement whose rows are positions.
func (db *DB) ids(ctx context.Context, text string, args ...any) ([]Position, error) {
	return list[Position](ctx, db, text, args...)
}

// HistoryIDs finds what History reads.
func (db *DB) HistoryIDs(ctx context.Context, s Status, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, idsByStatus[s], high, low, limit)
}

// NativeHistoryIDs finds what NativeHistory reads.
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
	return list[TransactionView](ctx, db, byStatus[s], high, low, limit)
}

// NativeCount counts the transactions that an address sent or received, from one position down to another.
func (db *DB) NativeCount(ctx context.Context, address []byte, high, low Position) (int64, error) {
	n, err := get[int64](ctx, db, nativeCount, address, high, low)
	if err != nil {
		return 0, err
	}
	return *n, nil
}

// What nobody needs in order is put together in order all the same: so the engine merges two indexes and keeps nothing.
var nativeCount = `SELECT count(*) FROM (` + pageOfNative + ` ORDER BY page DESC LIMIT -1)`

var nativeHistory = fmt.Sprintf(transactionPage, pageOfNative+newestFirst)

// NativeHistory reads at most limit transactions that an address sent or received, from one position down to another.
func (db *DB) NativeHistory(ctx context.Context, address []byte, high, low Position, limit int) ([]TransactionView, error) {
	return list[TransactionView](ctx, db, nativeHistory, address, high, low, limit)
}

// AddressHistory is a part of an address's history: at most Limit transactions of any kind between two positions, the newest
// first unless Ascending.
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

// WholeHistory reads the transactions of a part of a history.
func (db *DB) WholeHistory(ctx context.Context, i AddressHistory) ([]TransactionView, error) {
	return list[TransactionView](ctx, db, i.in(wholeHistory), i.args()...)
}

// HistoryTransfers reads the transfers from or to the address in the transactions of a part of a history; their
// inclusion stays empty.
func (db *DB) HistoryTransfers(ctx context.Context, i AddressHistory) ([]TransferView, error) {
	return list[TransferView](ctx, db, i.in(historyTransfers), i.args()...)
}

// HistoryCalls reads the internal transactions from or to the address in the transactions of a part of a history.
func (db *DB) HistoryCalls(ctx context.Context, i AddressHistory) ([]Call, error) {
	return list[Call](ctx, db, i.in(historyCalls), i.args()...)
}

// TransactionViewByHash reads the transaction of a chain with this hash.
func (db *DB) TransactionViewByHash(ctx context.Context, chain int, hash []byte) (*TransactionView, error) {
	return get[TransactionView](ctx, db, `SELECT `+transactionView+` FROM tx t CROSS JOIN block b ON b.id = t.id & ~65535
		WHERE substr(t.hash, 1, 6) = substr(?1, 1, 6) AND t.hash = ?1 AND t.id BETWEEN ?2 AND ?3`, hash, First(chain), Last(chain))
}

// TransactionViewAt reads the transaction at a position.
func (db *DB) TransactionViewAt(ctx context.Context, at Position) (*TransactionView, error) {
	return get[TransactionView](ctx, db, `SELECT `+transactionView+` FROM tx t CROSS JOIN block b ON b.id = t.id & ~65535 WHERE t.id = ?`,
		at)
}

// AddressSeen reports whether an address took part in any transaction of a chain, or has or had an account there: what came from
// another chain of the network came without a transaction of this one.
func (db *DB) AddressSeen(ctx context.Context, chain int, address []byte) (bool, error) {
	return value[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM tx WHERE sender = ?1 AND id BETWEEN ?2 AND ?3)
		OR EXISTS (SELECT 1 FROM tx WHERE ifnull(recipient, created) = ?1 AND id BETWEEN ?2 AND ?3)
		OR EXISTS (SELECT 1 FROM touch WHERE address = ?1 AND tx BETWEEN ?2 AND ?3)
		OR EXISTS (SELECT 1 FROM account WHERE chain = ?4 AND address = ?1)`, address, First(chain), Last(chain), chain)
}

// TouchIDs finds at most limit transactions of an EVM chain in which an address took any part, from one position up to
// another.
func (db *DB) TouchIDs(ctx context.Context, address []byte, low, high Position, limit int) ([]Position, error) {
	return db.ids(ctx, pageOfTouch+oldestFirst, address, high, low, limit)
}
