package store

import "context"

// Verified is a contract whose source was compiled to code that a chain has.
type Verified struct {
	CodeHash []byte `db:"code_hash"` // Keccak-256 of the deployed code
	Source   string `db:"source"`    // name of the contract's source
	Name     string `db:"name"`
	Compiler string `db:"compiler"` // long version
	Input    Packed `db:"input"`    // the compiler's standard JSON
	Output   Packed `db:"output"`
	Time     int64  `db:"time"` // when it was verified, Unix seconds
}

const verifiedColumns = `code_hash, source, name, compiler, input, output, time`

// AllVerified reads at most limit verified contracts.
func (db *DB) AllVerified(ctx context.Context, limit int) ([]Verified, error) {
	return List[Verified](ctx, db, `SELECT `+verifiedColumns+` FROM verified WHERE code_hash > x'' ORDER BY code_hash LIMIT 0 + ?`, limit)
}

// VerifiedTime returns when code was verified, Unix seconds, or ErrNotFound.
func (db *DB) VerifiedTime(ctx context.Context, codeHash []byte) (int64, error) {
	return value[int64](ctx, db, `SELECT time FROM verified WHERE code_hash = ?`, codeHash)
}

// CountVerified counts the verified contracts.
func (db *DB) CountVerified(ctx context.Context) (int, error) {
	return value[int](ctx, db, `SELECT count(*) FROM verified WHERE code_hash > x''`)
}

// AddVerified writes a verified contract.
func (b *Batch) AddVerified(v *Verified) error {
	return b.exec(`INSERT OR REPLACE INTO verified (`+verifiedColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		v.CodeHash, v.Source, v.Name, v.Compiler, v.Input, v.Output, v.Time)
}
