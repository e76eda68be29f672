package store

import "context"

// Touch says that an address took part in a transaction without being its sender or recipient.
type Touch struct {
	Address []byte
	Tx      Position
}

// Touched reports whether the index says that an address took part in a transaction.
func (db *DB) Touched(ctx context.Context, address []byte, tx Position) (bool, error) {
	var n int
	err := db.one(ctx, `SELECT EXISTS (SELECT 1 FROM touch WHERE address = ? AND tx = ?)`, []any{address, tx}, &n)
	return n == 1, err
}

func (b *Batch) addTouch(t *Touch) error {
	return b.exec(`INSERT INTO touch (address, tx) VALUES (?, ?)`, t.Address, t.Tx)
}
