package store

import (
	"context"
)

// PrimaryTx is a transaction of a P- or X-Chain, or an atomic one of a C-Chain.
type PrimaryTx struct {
	ID     Position `db:"id"`
	Hash   []byte   `db:"hash"`
	Type   string   `db:"type"`   // the network's name of the type, such as ExportTx
	Burned Amount   `db:"burned"` // nAVAX
	Bytes  []byte   `db:"bytes"`  // signed, with the codec's version
}

const primaryTxColumns = `id, hash, type, burned, bytes`

// PrimaryTx reads the transaction at a position.
func (db *DB) PrimaryTx(ctx context.Context, at Position) (*PrimaryTx, error) {
	return get[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE id = ?`, at)
}

// PrimaryTxByHash reads the transaction of a primary chain with this id.
func (db *DB) PrimaryTxByHash(ctx context.Context, chain int, hash []byte) (*PrimaryTx, error) {
	return get[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE hash = ? AND id BETWEEN ? AND ?`,
		hash, First(chain), Last(chain))
}

// PrimaryTxs reads the transactions of a block in order; at height 0 those of the genesis.
func (db *DB) PrimaryTxs(ctx context.Context, block Position) ([]PrimaryTx, error) {
	return db.PrimaryTxsBetween(ctx, block.Block(), block.End())
}

// PrimaryTxsBetween reads the transactions from one position to another, both included, ascending.
func (db *DB) PrimaryTxsBetween(ctx context.Context, first, last Position) ([]PrimaryTx, error) {
	return list[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

// FirstPrimaryTx reads the oldest transaction of a type on a primary chain from a height on.
func (db *DB) FirstPrimaryTx(ctx context.Context, chain int, height uint64, kind string) (*PrimaryTx, error) {
	return get[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE type = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT 1`,
		kind, At(chain, height, 0), Last(chain))
}

// PrimaryTxsOfType lists the transactions of a type on a primary chain, oldest first.
func (db *DB) PrimaryTxsOfType(ctx context.Context, chain int, kind string) ([]PrimaryTx, error) {
	return list[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE type = ? AND id BETWEEN ? AND ? ORDER BY id`,
		kind, First(chain), Last(chain))
}

func (b *Batch) addPrimaryTx(t *PrimaryTx) error {
	return b.exec(`INSERT INTO primary_tx (`+primaryTxColumns+`) VALUES (?, ?, ?, ?, ?)`, t.ID, t.Hash, t.Type, t.Burned, t.Bytes)
}

// Burned adds up what the transactions from one position to another burned, both included, in nAVAX.
func (db *DB) Burned(ctx context.Context, first, last Position) (n uint64, err error) {
	return value[uint64](ctx, db, `SELECT COALESCE(SUM(burned), 0) FROM primary_tx WHERE id BETWEEN ? AND ?`, first, last)
}

// PrimaryAsset is an asset of an X-Chain.
type PrimaryAsset struct {
	ID           Position `db:"id"`   // of the transaction that made it; AVAX has height 0
	Hash         []byte   `db:"hash"` // the asset's id
	Name         string   `db:"name"`
	Symbol       string   `db:"symbol"`
	Denomination byte     `db:"denomination"`
	Fxs          []byte   `db:"fxs"` // indices of the feature extensions, one byte each
}

const assetColumns = `id, hash, name, symbol, denomination, fxs`

// AssetByHash reads the asset of an X-Chain with this id.
func (db *DB) AssetByHash(ctx context.Context, chain int, hash []byte) (*PrimaryAsset, error) {
	return get[PrimaryAsset](ctx, db, `SELECT `+assetColumns+` FROM asset WHERE hash = ? AND id BETWEEN ? AND ?`,
		hash, First(chain), Last(chain))
}

// Assets lists the assets of an X-Chain, oldest first.
func (db *DB) Assets(ctx context.Context, chain int) ([]PrimaryAsset, error) {
	return list[PrimaryAsset](ctx, db, `SELECT `+assetColumns+` FROM asset WHERE id BETWEEN ? AND ? ORDER BY id`, First(chain), Last(chain))
}

func (b *Batch) addAsset(a *PrimaryAsset) error {
	return b.exec(`INSERT INTO asset (`+assetColumns+`) VALUES (?, ?, ?, ?, ?, ?)`, a.ID, a.Hash, a.Name, a.Symbol, a.Denomination, a.Fxs)
}
