package store

import (
	"bytes"
	"context"
	"errors"
)

// Account is the state of an account from one block on, until a later row.
type Account struct {
	Chain    int    `db:"chain"`
	Address  []byte `db:"address"`
	Block    uint64 `db:"block"`
	Nonce    uint64 `db:"nonce"`
	Balance  []byte `db:"balance"`   // wei, 32 bytes
	CodeHash []byte `db:"code_hash"` // nil without code
	Root     []byte `db:"root"`      // storage root, nil without storage
	Gone     bool   `db:"gone"`      // the account ceased to exist
}

// Slot is the value of a storage slot from one block on, until a later row.
type Slot struct {
	Chain   int    `db:"chain"`
	Address []byte `db:"address"`
	Key     []byte `db:"key"`
	Block   uint64 `db:"block"`
	Value   []byte `db:"value"` // without leading zeros, empty when cleared
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

// Account reads an account as it was after a block.
func (db *DB) Account(ctx context.Context, chain int, address []byte, block uint64) (*Account, error) {
	return get[Account](ctx, db, `SELECT `+accountColumns+` FROM account
		WHERE chain = ? AND address = ? AND block <= ? ORDER BY block DESC LIMIT 1`, chain, address, block)
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
	return get[Slot](ctx, db, `SELECT `+slotColumns+` FROM slot
		WHERE chain = ? AND address = ? AND key = ? AND block <= ? ORDER BY block DESC LIMIT 1`, chain, address, key, block)
}

// AccountsAt reads every account of a chain as it was after a block, by address.
func (db *DB) AccountsAt(ctx context.Context, chain int, block uint64) ([]Account, error) {
	return latest(ctx, db, `SELECT `+accountColumns+` FROM account
		WHERE chain = ? ORDER BY chain, address, block`, block,
		func(a *Account) ([]byte, uint64) { return a.Address, a.Block }, chain)
}

// EachAccount visits the rows of every account of a chain up to a block, by address, each account's oldest first.
func (db *DB) EachAccount(ctx context.Context, chain int, block uint64, visit func(*Account)) error {
	return each(ctx, db, func(row *Account) {
		if row.Block <= block {
			visit(row)
		}
	}, `SELECT `+accountColumns+` FROM account WHERE chain = ? ORDER BY chain, address, block`, chain)
}

// SlotsAt reads every slot of a contract as it was after a block, by key.
func (db *DB) SlotsAt(ctx context.Context, chain int, address []byte, block uint64) ([]Slot, error) {
	return latest(ctx, db, `SELECT `+slotColumns+` FROM slot
		WHERE chain = ? AND address = ? ORDER BY chain, address, key, block`, block,
		func(s *Slot) ([]byte, uint64) { return s.Key, s.Block }, chain, address)
}

// latest keeps the last row at or before a block of each key, from rows that come in the order of key and block.
func latest[T any](ctx context.Context, db *DB, text string, block uint64, at func(*T) (key []byte, block uint64), args ...any) ([]T, error) {
	var kept []T
	var last []byte
	err := each(ctx, db, func(row *T) {
		key, number := at(row)
		if number > block {
			return
		}
		if len(kept) > 0 && bytes.Equal(key, last) {
			kept = kept[:len(kept)-1]
		}
		kept, last = append(kept, *row), key
	}, text, args...)
	return kept, err
}

// Code reads code by its hash.
func (db *DB) Code(ctx context.Context, hash []byte) ([]byte, error) {
	return value[[]byte](ctx, db, `SELECT code FROM code WHERE hash = ?`, hash)
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

// Codes reads all code, by hash. It reads the whole table: only an inspection calls it.
func (db *DB) Codes(ctx context.Context) ([]Code, error) {
	return list[Code](ctx, db, `SELECT hash, code FROM code ORDER BY hash`)
}
