package store

import (
	"context"
	"slices"
	"strings"
)

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

func (b *Batch) addActivity(a *PrimaryActivity) error {
	return b.exec(`INSERT INTO primary_activity (subject, tx) VALUES (?, ?)`, a.Subject, a.Tx)
}
