package store

import (
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Batch is one writing transaction. It is the only way in: what a block adds is written by one Batch or not at all.
type Batch struct {
	db         *DB
	tx         *sqlx.Tx
	statements map[string]*sqlx.Stmt
}

// Begin starts a Batch. Only one is open at a time; a second waits.
func (db *DB) Begin() (*Batch, error) {
	tx, err := db.write.Beginx()
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return &Batch{db: db, tx: tx, statements: map[string]*sqlx.Stmt{}}, nil
}

// Commit makes everything that the batch wrote visible at once.
func (b *Batch) Commit() error {
	err := b.tx.Commit()
	b.db.commits.Add(1)
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

func (b *Batch) exec(text string, args ...any) error {
	statement := b.statements[text]
	if statement == nil {
		var err error
		if statement, err = b.tx.Preparex(text); err != nil {
			return fmt.Errorf("prepare %q: %w", text, err)
		}
		b.statements[text] = statement
	}
	if _, err := statement.Exec(args...); err != nil {
		return fmt.Errorf("write %q: %w", text, err)
	}
	return nil
}
