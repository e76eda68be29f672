package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// ErrNotFound says that there is no such row.
var ErrNotFound = errors.New("not found")

// A limit that is a bare parameter would make the engine prepare the statement anew for every value (it plans by it):
// statements write LIMIT 0 + ? instead.

// one runs a statement that answers at most one row and scans it into the fields.
func (db *DB) one(ctx context.Context, text string, args []any, fields ...any) error {
	statement, err := db.prepared(text)
	if err != nil {
		return err
	}
	switch err := statement.QueryRowContext(ctx, args...).Scan(fields...); {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case err != nil:
		return fmt.Errorf("query %q: %w", text, err)
	}
	return nil
}

// many runs a statement and scans each row with the given function. A full answer is read before it returns, so that no
// connection waits for a slow client.
func many[T any](ctx context.Context, db *DB, text string, args []any, scan func(*sql.Rows, *T) error) ([]T, error) {
	statement, err := db.prepared(text)
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", text, err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var none T
		all = append(all, none)
		if err := scan(rows, &all[len(all)-1]); err != nil {
			return nil, fmt.Errorf("scan %q: %w", text, err)
		}
	}
	return all, rows.Err()
}

// Explain says how the database engine would run a statement, step by step.
func (db *DB) Explain(ctx context.Context, text string) ([]string, error) {
	rows, err := db.read.QueryxContext(ctx, "EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...)
	if err != nil {
		return nil, fmt.Errorf("explain %q: %w", text, err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return nil, err
		}
		steps = append(steps, detail)
	}
	return steps, rows.Err()
}

// Statements are the texts of every reading statement that was prepared so far, for the test that no one scans a table.
func (db *DB) Statements() []string {
	db.mu.RLock()
	defer db.mu.RUnlock()
	texts := make([]string, 0, len(db.statements))
	for text := range db.statements {
		texts = append(texts, text)
	}
	return texts
}
