package store

import "context"

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
