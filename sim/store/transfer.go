package store

import (
	"context"
	"fmt"
)

// Transfer is a movement of a token that a log reports; a batch reports several.
type Transfer struct {
	ID        Position `db:"id"` // index counts the block's transfers
	Tx        int      `db:"tx"`
	Log       int      `db:"log"`
	Standard  Standard `db:"standard"`
	Asset     AssetKey `db:"asset"`
	Sender    []byte   `db:"sender"`    // zero address when minted
	Recipient []byte   `db:"recipient"` // zero address when burned
	Amount    []byte   `db:"amount"`    // without leading zeros; 1 of an ERC-721
}

// Transaction is the position of the transaction.
func (t *Transfer) Transaction() Position { return t.ID.Block() + Position(t.Tx) }

const transferColumns = `id, tx, log, standard, asset, sender, recipient, amount`

// Transfers reads the transfers between two positions in order.
func (db *DB) Transfers(ctx context.Context, first, last Position) ([]Transfer, error) {
	return list[Transfer](ctx, db, `SELECT `+transferColumns+` FROM transfer WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

// TransferView is a transfer with what else a list shows of it.
type TransferView struct {
	Transfer
	Inclusion
	NFT
}

// transferView completes a list of transfer ids, named page.
const transferView = `
	SELECT x.id, x.tx, x.log, x.standard, x.asset, x.sender, x.recipient, x.amount, ` + inclusionColumns + `, ` + nftColumns + `
	FROM (%s) CROSS JOIN transfer x ON x.id = page
	CROSS JOIN block b ON b.id = page & ~65535
	CROSS JOIN tx t ON t.id = (page & ~65535) + x.tx
	LEFT JOIN nft n ON x.standard > 0 AND n.asset = x.asset
		AND n.block = (SELECT block FROM nft WHERE asset = x.asset ORDER BY block DESC LIMIT 1)`

const pageOfTransfers = `SELECT id AS page FROM transfer WHERE sender = ?1 AND standard = ?2 AND id BETWEEN ?4 AND ?3
	UNION SELECT id FROM transfer WHERE recipient = ?1 AND standard = ?2 AND id BETWEEN ?4 AND ?3
	ORDER BY page DESC LIMIT 0 + ?5`

var (
	transfersOfAddress = fmt.Sprintf(transferView, pageOfTransfers)
	transfersOfToken   = fmt.Sprintf(transferView, `
		SELECT id AS page FROM transfer WHERE substr(asset, 1, 6) = ?1 AND id BETWEEN ?3 AND ?2
		ORDER BY page DESC LIMIT 0 + ?4`)
	transfersInRange = fmt.Sprintf(transferView, `SELECT id AS page FROM transfer WHERE id BETWEEN ?1 AND ?2 AND tx = ?3 ORDER BY page`)
)

// TransfersOfAddress reads at most limit transfers of a standard from or to an address, from one position down to
// another.
func (db *DB) TransfersOfAddress(ctx context.Context, address []byte, s Standard, high, low Position, limit int) ([]TransferView, error) {
	return list[TransferView](ctx, db, transfersOfAddress, address, s, high, low, limit)
}

// TransferIDs finds what TransfersOfAddress reads.
func (db *DB) TransferIDs(ctx context.Context, address []byte, s Standard, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, pageOfTransfers, address, s, high, low, limit)
}

// TransfersOfToken reads at most limit transfers of a token, from one position down to another.
func (db *DB) TransfersOfToken(ctx context.Context, token TokenID, high, low Position, limit int) ([]TransferView, error) {
	return list[TransferView](ctx, db, transfersOfToken, []byte(token.Asset(nil)[:assetToken]), high, low, limit)
}

// EachTransferOfToken visits the transfers of a token up to a position, ascending.
func (db *DB) EachTransferOfToken(ctx context.Context, token TokenID, last Position, visit func(*Transfer)) error {
	return each(ctx, db, visit, `SELECT `+transferColumns+` FROM transfer WHERE substr(asset, 1, 6) = ? AND id <= ? ORDER BY id`,
		[]byte(token.Asset(nil)[:assetToken]), last)
}

// TransfersOfTransaction reads the transfers of a transaction in order.
func (db *DB) TransfersOfTransaction(ctx context.Context, tx Position) ([]TransferView, error) {
	return list[TransferView](ctx, db, transfersInRange, tx.Block(), tx.End(), tx.Index())
}

var intoTransfer = newInsertion("transfer", transferColumns, 1)

func (b *Batch) addTransfer(t *Transfer) error {
	return b.insert(intoTransfer, t.ID, t.Tx, t.Log, t.Standard, []byte(t.Asset), t.Sender, t.Recipient, t.Amount)
}
