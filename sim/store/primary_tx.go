package store

import (
	"context"
	"slices"
	"strings"
)

// PrimaryTx is a transaction of a P- or X-Chain, or an atomic one of a C-Chain.
type PrimaryTx struct {
	ID     Position `db:"id"`
	Hash   []byte   `db:"hash"`
	Type   string   `db:"type"`   // the network's name of the type, such as ExportTx
	Burned Amount   `db:"burned"` // nAVAX
	Bytes  Packed   `db:"bytes"`  // signed, with the codec's version
}

const primaryTxColumns = `id, hash, type, burned, bytes`

// PrimaryTx reads the transaction at a position.
func (db *DB) PrimaryTx(ctx context.Context, at Position) (*PrimaryTx, error) {
	return get[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE id = ?`, at)
}

// PrimaryTxByHash reads the transaction of a primary chain with this id.
func (db *DB) PrimaryTxByHash(ctx context.Context, chain int, hash []byte) (*PrimaryTx, error) {
	return get[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND id BETWEEN ?2 AND ?3`,
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

var intoPrimaryTx = newInsertion("primary_tx", primaryTxColumns, 1)

func (b *Batch) addPrimaryTx(t *PrimaryTx) error {
	return b.insert(intoPrimaryTx, t.ID, t.Hash, t.Type, t.Burned, t.Bytes)
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

// PrimaryActivity says that a transaction touched a subject: an address, an account of the C-Chain, an asset of the X-Chain, or an
// L1 validation.
type PrimaryActivity struct {
	Subject []byte
	Tx      Position
}

// TxRange chooses transactions of a primary chain: from one position to another, both included.
type TxRange struct {
	High, Low Position
	Types     []string // any of them; every type when there are none
	Ascending bool
	Limit     int
}

// order is the end of a statement that reads positions in the range's direction.
func (f *TxRange) order() string {
	if f.Ascending {
		return ` LIMIT 0 + ?`
	}
	return ` DESC LIMIT 0 + ?`
}

// merge puts positions of several lists into one: each once, in the range's direction.
func (f *TxRange) merge(lists ...[]Position) []Position {
	all := slices.Concat(lists...)
	slices.Sort(all)
	all = slices.Compact(all)
	if !f.Ascending {
		slices.Reverse(all)
	}
	return all[:min(len(all), f.Limit)]
}

// PrimaryTxIDs finds transactions of a primary chain.
func (db *DB) PrimaryTxIDs(ctx context.Context, f TxRange) ([]Position, error) {
	if len(f.Types) == 0 {
		return db.ids(ctx, `SELECT id FROM primary_tx WHERE id BETWEEN ? AND ? ORDER BY id`+f.order(), f.Low, f.High, f.Limit)
	}
	var lists [][]Position
	for _, kind := range f.Types {
		found, err := db.ids(ctx, `SELECT id FROM primary_tx WHERE type = ? AND id BETWEEN ? AND ? ORDER BY id`+f.order(), kind, f.Low, f.High, f.Limit)
		if err != nil {
			return nil, err
		}
		lists = append(lists, found)
	}
	return f.merge(lists...), nil
}

// ActivityIDs finds transactions that touched any of some subjects.
func (db *DB) ActivityIDs(ctx context.Context, subjects [][]byte, f TxRange) ([]Position, error) {
	var lists [][]Position
	for _, subject := range subjects {
		found, err := db.activityIDs(ctx, subject, &f)
		if err != nil {
			return nil, err
		}
		lists = append(lists, found)
	}
	return f.merge(lists...), nil
}

func (db *DB) activityIDs(ctx context.Context, subject []byte, f *TxRange) ([]Position, error) {
	if len(f.Types) == 0 {
		return db.ids(ctx, `SELECT tx FROM primary_activity WHERE subject = ? AND tx BETWEEN ? AND ? ORDER BY tx`+f.order(),
			subject, f.Low, f.High, f.Limit)
	}
	return db.ids(ctx, `SELECT a.tx FROM primary_activity a CROSS JOIN primary_tx t ON t.id = a.tx
		WHERE a.subject = ? AND a.tx BETWEEN ? AND ? AND instr(?, ',' || t.type || ',') > 0 ORDER BY a.tx`+f.order(),
		subject, f.Low, f.High, ","+strings.Join(f.Types, ",")+",", f.Limit)
}

// ActivityOf reads at most limit positions of the transactions of a primary chain that touched a subject, newest first,
// all before a position.
func (db *DB) ActivityOf(ctx context.Context, chain int, subject []byte, before Position, limit int) ([]Position, error) {
	return list[Position](ctx, db, `SELECT tx FROM primary_activity WHERE subject = ? AND tx >= ? AND tx < ? ORDER BY tx DESC LIMIT 0 + ?`,
		subject, First(chain), min(before, Last(chain)), limit)
}

// PrimaryTouched tells whether a transaction touched a subject.
func (db *DB) PrimaryTouched(ctx context.Context, subject []byte, tx Position) (bool, error) {
	return value[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM primary_activity WHERE subject = ? AND tx = ?)`, subject, tx)
}

var intoPrimaryActivity = newInsertion("primary_activity", `subject, tx`, 2)

func (b *Batch) addActivity(a *PrimaryActivity) error {
	return b.insert(intoPrimaryActivity, a.Subject, a.Tx)
}
