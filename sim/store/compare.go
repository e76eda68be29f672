package store

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/jmoiron/sqlx"
)

// primaryTables are the tables whose rows all follow from the genesis and the blocks of the primary chains.
var primaryTables = []string{"primary_block", "primary_tx", "utxo", "utxo_owner", "primary_activity", "asset", "staker", "staker_owner",
	"l1_validator", "l1_state", "subnet", "subnet_state", "blockchain", "stake", "fee", "fee_meter"}

// SameRollUps compares the roll-ups with those of another file, value by value. The error names the first difference.
func (db *DB) SameRollUps(ctx context.Context, want *DB) error {
	return db.sameTables(ctx, want, MetricTables)
}

// SamePrimary compares all rows that follow from the blocks of the primary chains.
func (db *DB) SamePrimary(ctx context.Context, want *DB) error {
	return db.sameTables(ctx, want, primaryTables)
}

func (db *DB) sameTables(ctx context.Context, want *DB, tables []string) error {
	for _, table := range tables {
		if err := db.sameTable(ctx, want, table); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// sameTable walks through a table of both files in the order of its key.
func (db *DB) sameTable(ctx context.Context, want *DB, table string) error {
	have, err := db.walk(ctx, table)
	if err != nil {
		return err
	}
	defer have.Close()
	expected, err := want.walk(ctx, table)
	if err != nil {
		return err
	}
	defer expected.Close()
	for n := 1; ; n++ {
		switch more, less := have.Next(), expected.Next(); {
		case more != less:
			return fmt.Errorf("it has %d rows or more: %t, it should: %t", n, more, less)
		case !more:
			return errors.Join(have.Err(), expected.Err())
		}
		if err := sameRow(have, expected); err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
	}
}

// walk reads a whole table: only verify calls it.
func (db *DB) walk(ctx context.Context, table string) (*sqlx.Rows, error) {
	key, err := db.key(ctx, table)
	if err != nil {
		return nil, err
	}
	return db.read.QueryxContext(ctx, `SELECT * FROM `+table+` ORDER BY `+strings.Join(key, ", "))
}

// key lists the columns of a table's primary key.
func (db *DB) key(ctx context.Context, table string) (columns []string, err error) {
	err = db.read.SelectContext(ctx, &columns, `SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk`, table)
	return columns, err
}

func sameRow(have, want *sqlx.Rows) error {
	names, err := have.Columns()
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
	for i, name := range names {
		if !reflect.DeepEqual(a[i], b[i]) {
			return fmt.Errorf("%s is %T %[2]v, it should be %T %[3]v", name, a[i], b[i])
		}
	}
	return nil
}

// CountedTables are the tables whose rows verify counts.
var CountedTables = []string{"chain", "block", "block_override", "state_change", "tx", "impersonated_tx", "log", "call", "account", "slot", "code", "persona", "contract",
	"token", "deployment", "transfer", "holding", "nft", "touch", "market", "pooled_tx", "operation", "chunk", "message", "message_event"}

// Count says how many rows a table has. It reads the whole table: only verify calls it.
func (db *DB) Count(ctx context.Context, table string) (int64, error) {
	var n int64
	if err := db.read.GetContext(ctx, &n, "SELECT COUNT(*) FROM "+table); err != nil {
		return 0, fmt.Errorf("count %s: %w", table, err)
	}
	return n, nil
}
