package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Account is the state of an account from one block on, until a later row.
type Account struct {
	Chain    int
	Address  []byte
	Block    uint64
	Nonce    uint64
	Balance  []byte // wei, 32 bytes
	CodeHash []byte // nil without code
	Root     []byte // storage root, nil without storage
	Gone     bool   // the account ceased to exist
}

// Slot is the value of a storage slot from one block on, until a later row.
type Slot struct {
	Chain   int
	Address []byte
	Key     []byte
	Block   uint64
	Value   []byte // without leading zeros, empty when cleared
}

// Code is the code of one or more contracts.
type Code struct {
	Hash []byte
	Code []byte
}

const (
	accountColumns = `chain, address, block, nonce, balance, code_hash, root, gone`
	slotColumns    = `chain, address, key, block, value`
)

func (a *Account) fields() []any {
	return []any{&a.Chain, &a.Address, &a.Block, &a.Nonce, &a.Balance, &a.CodeHash, &a.Root, &a.Gone}
}

func scanAccount(r *sql.Rows, a *Account) error { return r.Scan(a.fields()...) }

func (s *Slot) fields() []any { return []any{&s.Chain, &s.Address, &s.Key, &s.Block, &s.Value} }

func scanSlot(r *sql.Rows, s *Slot) error { return r.Scan(s.fields()...) }

// Account reads an account as it was after a block.
func (db *DB) Account(ctx context.Context, chain int, address []byte, block uint64) (*Account, error) {
	var a Account
	err := db.one(ctx, `SELECT `+accountColumns+` FROM account
		WHERE chain = ? AND address = ? AND block <= ? ORDER BY block DESC LIMIT 1`,
		[]any{chain, address, block}, a.fields()...)
	return &a, err
}

// Slot reads the value of a storage slot as it was after a block; it is empty when the slot was never set.
func (db *DB) Slot(ctx context.Context, chain int, address, key []byte, block uint64) ([]byte, error) {
	row, err := db.SlotRow(ctx, chain, address, key, block)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return row.Value, err
}

// SlotRow reads the row of a storage slot as it was after a block.
func (db *DB) SlotRow(ctx context.Context, chain int, address, key []byte, block uint64) (*Slot, error) {
	var s Slot
	err := db.one(ctx, `SELECT `+slotColumns+` FROM slot
		WHERE chain = ? AND address = ? AND key = ? AND block <= ? ORDER BY block DESC LIMIT 1`,
		[]any{chain, address, key, block}, s.fields()...)
	return &s, err
}

// AccountsAt reads every account of a chain as it was after a block, by address.
func (db *DB) AccountsAt(ctx context.Context, chain int, block uint64) ([]Account, error) {
	return latest(ctx, db, `SELECT `+accountColumns+` FROM account
		WHERE chain = ? ORDER BY chain, address, block`, []any{chain}, scanAccount,
		func(a *Account) ([]byte, uint64) { return a.Address, a.Block }, block)
}

// SlotsAt reads every slot of a contract as it was after a block, by key.
func (db *DB) SlotsAt(ctx context.Context, chain int, address []byte, block uint64) ([]Slot, error) {
	return latest(ctx, db, `SELECT `+slotColumns+` FROM slot
		WHERE chain = ? AND address = ? ORDER BY chain, address, key, block`, []any{chain, address}, scanSlot,
		func(s *Slot) ([]byte, uint64) { return s.Key, s.Block }, block)
}

// latest keeps the last row at or before a block of each key, from rows that come in the order of key and block.
func latest[T any](ctx context.Context, db *DB, text string, args []any, scan func(*sql.Rows, *T) error, at func(*T) (key []byte, block uint64), block uint64) ([]T, error) {
	statement, err := db.prepared(text)
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", text, err)
	}
	defer rows.Close()
	var kept []T
	var last []byte
	for rows.Next() {
		var row T
		if err := scan(rows, &row); err != nil {
			return nil, fmt.Errorf("scan %q: %w", text, err)
		}
		key, number := at(&row)
		if number > block {
			continue
		}
		if len(kept) > 0 && bytes.Equal(key, last) {
			kept = kept[:len(kept)-1]
		}
		kept, last = append(kept, row), key
	}
	return kept, rows.Err()
}

// Code reads code by its hash.
func (db *DB) Code(ctx context.Context, hash []byte) ([]byte, error) {
	var code []byte
	err := db.one(ctx, `SELECT code FROM code WHERE hash = ?`, []any{hash}, &code)
	return code, err
}

func (b *Batch) addAccount(a *Account) error {
	return b.exec(`INSERT INTO account (`+accountColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		a.Chain, a.Address, a.Block, a.Nonce, a.Balance, a.CodeHash, a.Root, a.Gone)
}

func (b *Batch) addSlot(s *Slot) error {
	return b.exec(`INSERT INTO slot (`+slotColumns+`) VALUES (?, ?, ?, ?, ?)`, s.Chain, s.Address, s.Key, s.Block, s.Value)
}

func (b *Batch) addCode(c *Code) error {
	return b.exec(`INSERT OR IGNORE INTO code (hash, code) VALUES (?, ?)`, c.Hash, c.Code)
}
