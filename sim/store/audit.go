package store

import (
	"context"
	"fmt"
	"strings"
)

// Audited are the tables whose rows verify counts.
var Audited = []string{"chain", "block", "tx", "log", "call", "account", "slot", "code", "persona", "contract",
	"token", "deployment", "transfer", "holding", "nft", "touch", "market", "operation", "chunk", "message", "message_event"}

// Count says how many rows a table has. It reads the whole table: only verify asks.
func (db *DB) Count(ctx context.Context, table string) (int64, error) {
	var n int64
	if err := db.read.GetContext(ctx, &n, "SELECT COUNT(*) FROM "+table); err != nil {
		return 0, fmt.Errorf("count %s: %w", table, err)
	}
	return n, nil
}

// Integrity lets the database engine check the file: pages, order of rows, indexes against their tables.
func (db *DB) Integrity(ctx context.Context) error {
	var findings []string
	if err := db.read.SelectContext(ctx, &findings, "PRAGMA integrity_check(1)"); err != nil {
		return fmt.Errorf("integrity check: %w", err)
	}
	if len(findings) != 1 || findings[0] != "ok" {
		return fmt.Errorf("integrity check: %v", findings)
	}
	return nil
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
