package store

import (
	"context"
	"database/sql"
)

// PrimaryAsset is something that X-chain outputs hold.
type PrimaryAsset struct {
	ID           Position // of the transaction that made it; AVAX has height 0
	Hash         []byte   // the asset's id
	Name         string
	Symbol       string
	Denomination byte
	Fxs          []byte // indices of the feature extensions, one byte each
}

const assetColumns = `id, hash, name, symbol, denomination, fxs`

func (a *PrimaryAsset) fields() []any {
	return []any{&a.ID, &a.Hash, &a.Name, &a.Symbol, &a.Denomination, &a.Fxs}
}

// AssetByHash reads the asset of an X-chain with this id.
func (db *DB) AssetByHash(ctx context.Context, chain int, hash []byte) (*PrimaryAsset, error) {
	var a PrimaryAsset
	err := db.one(ctx, `SELECT `+assetColumns+` FROM asset WHERE hash = ? AND id BETWEEN ? AND ?`,
		[]any{hash, First(chain), Last(chain)}, a.fields()...)
	return &a, err
}

// Assets lists the assets of an X-chain, oldest first.
func (db *DB) Assets(ctx context.Context, chain int) ([]PrimaryAsset, error) {
	return many(ctx, db, `SELECT `+assetColumns+` FROM asset WHERE id BETWEEN ? AND ? ORDER BY id`, []any{First(chain), Last(chain)},
		func(r *sql.Rows, a *PrimaryAsset) error { return r.Scan(a.fields()...) })
}

func (b *Batch) addAsset(a *PrimaryAsset) error {
	return b.exec(`INSERT INTO asset (`+assetColumns+`) VALUES (?, ?, ?, ?, ?, ?)`, a.ID, a.Hash, a.Name, a.Symbol, a.Denomination, a.Fxs)
}
