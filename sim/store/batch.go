package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"snowglobe/sim/metric"
)

// Batch is one writing transaction. It is the only way in: what a block adds is written by one Batch or not at all.
type Batch struct {
	db         *DB
	tx         *sqlx.Tx
	statements map[string]*sqlx.Stmt
	rollup     *metric.Rollup // nil before the first block
	named      bool           // whether it wrote a token, a contract or a market
	platform   bool           // whether it wrote a block of a P-, X- or C-chain of UTXOs
}

// Begin starts a Batch. Only one is open at a time; a second waits.
func (db *DB) Begin() (*Batch, error) {
	if db.frozen {
		return nil, ErrReadOnly
	}
	tx, err := db.write.Beginx()
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return &Batch{db: db, tx: tx, statements: map[string]*sqlx.Stmt{}}, nil
}

// Commit makes everything that the batch wrote visible at once, the roll-ups of its blocks included.
func (b *Batch) Commit() error {
	if b.rollup != nil {
		if err := b.rollup.Flush(); err != nil {
			return errors.Join(err, b.Rollback())
		}
	}
	err := b.tx.Commit()
	if b.named {
		b.db.names.Add(1)
	}
	if b.platform {
		b.db.primaries.Add(1)
	}
	b.db.commits.Add(1) // the last: who sees it moved finds the other counts moved too
	return err
}

// Rollback drops everything that the batch wrote.
func (b *Batch) Rollback() error { return b.tx.Rollback() }

// End commits when err is nil and otherwise rolls back; it returns the first thing that went wrong.
func (b *Batch) End(err error) error {
	if err != nil {
		return errors.Join(err, b.Rollback())
	}
	return b.Commit()
}

// prepared is the statement with this text, prepared once for the batch.
func (b *Batch) prepared(text string) (*sqlx.Stmt, error) {
	if statement := b.statements[text]; statement != nil {
		return statement, nil
	}
	statement, err := b.tx.Preparex(text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	b.statements[text] = statement
	return statement, nil
}

func (b *Batch) exec(text string, args ...any) error {
	statement, err := b.prepared(text)
	if err != nil {
		return err
	}
	if _, err := statement.Exec(args...); err != nil {
		return fmt.Errorf("write %q: %w", text, err)
	}
	return nil
}

// one reads a row as the batch sees it, its own writes included.
func (b *Batch) one(text string, args []any, fields ...any) error {
	statement, err := b.prepared(text)
	if err != nil {
		return err
	}
	switch err := statement.QueryRow(args...).Scan(fields...); {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case err != nil:
		return fmt.Errorf("query %q: %w", text, err)
	}
	return nil
}
