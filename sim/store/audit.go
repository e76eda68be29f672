package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"

	"github.com/jmoiron/sqlx"
)

// Audited are the tables whose rows verify counts.
var Audited = []string{"chain", "block", "tx", "log", "call", "account", "slot", "code", "persona", "contract"}

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

// PrimaryTables are the tables whose rows all follow from the genesis and the blocks of the primary chains.
var PrimaryTables = []string{"primary_block", "primary_tx", "utxo", "utxo_owner", "primary_activity", "asset", "staker", "staker_owner",
	"l1_validator", "l1_state", "subnet", "subnet_state", "blockchain"}

// Differ compares the rows of a table with those of another world, in the order of the table's key. The error names the
// first difference.
func (db *DB) Differ(ctx context.Context, other *DB, table string) error {
	have, err := db.all(ctx, table)
	if err != nil {
		return err
	}
	defer have.Close()
	want, err := other.all(ctx, table)
	if err != nil {
		return err
	}
	defer want.Close()
	for n := 0; ; n++ {
		more, due := have.Next(), want.Next()
		if err := errors.Join(have.Err(), want.Err()); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
		switch {
		case !more && !due:
			return nil
		case more != due:
			return fmt.Errorf("%s: one row too many or too few after %d", table, n)
		}
		if err := sameRow(have, want); err != nil {
			return fmt.Errorf("%s, row %d: %w", table, n, err)
		}
	}
}

func (db *DB) all(ctx context.Context, table string) (*sqlx.Rows, error) {
	rows, err := db.read.QueryxContext(ctx, "SELECT * FROM "+table+" ORDER BY 1, 2")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	return rows, nil
}

func sameRow(have, want *sqlx.Rows) error {
	columns, err := want.Columns()
	if err != nil {
		return err
	}
	a, err := have.SliceScan()
	if err != nil {
		return err
	}
	b, err := want.SliceScan()
	if err != nil {
		return err
	}
	for i := range columns {
		if !reflect.DeepEqual(a[i], b[i]) {
			return fmt.Errorf("%s is %v, it should be %v", columns[i], readable(a[i]), readable(b[i]))
		}
	}
	return nil
}

func readable(value any) any {
	if blob, ok := value.([]byte); ok {
		return hex.EncodeToString(blob)
	}
	return value
}
