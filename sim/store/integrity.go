package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"
)

// DamageError locates data in a world's file that this program cannot have written.
type DamageError struct{ Where error }

func (e *DamageError) Error() string {
	return fmt.Sprintf("the file is damaged: %v; restore a copy of it, or delete it to generate the world again; snowglobe verify finds out whether more is wrong", e.Where)
}

func (e *DamageError) Unwrap() error { return e.Where }

// Damaged wraps an error as a DamageError, once. It leaves nil and a cancelled request unchanged.
func Damaged(err error) error {
	var damage *DamageError
	if err == nil || errors.As(err, &damage) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &DamageError{err}
}

// schemaObject is a table, an index, a trigger or a view, and the statement that created it.
type schemaObject struct {
	Type string `db:"type"`
	Name string `db:"name"`
	SQL  string `db:"sql"`
}

func (o schemaObject) String() string { return o.Type + " " + o.Name }

// ownSchema lists every schema object of a finished world. The engine keeps a statement as written, comments included.
var ownSchema = sync.OnceValue(func() (all []schemaObject) {
	statements := strings.Split("\n"+schema+primarySchema+indexes+primaryIndexes, "\nCREATE ")
	for _, s := range statements[1:] {
		text, _, _ := strings.Cut(s+"\n", ";\n")
		words := strings.Fields(text[:strings.IndexByte(text, '(')])
		all = append(all, schemaObject{strings.ToLower(words[0]), words[1], "CREATE " + text})
	}
	return all
})

// CheckSchema compares the file's tables, indexes, triggers and views with this program's. A missing index makes answers slow, a missing
// constraint lets anything in, and a trigger changes written rows.
func (db *DB) CheckSchema(ctx context.Context) error {
	var have []schemaObject
	err := db.read.SelectContext(ctx, &have, `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name`)
	if err != nil {
		return Damaged(fmt.Errorf("its schema: %w", db.say(err)))
	}
	var wrong []string
	made := map[string]string{}
	for _, o := range ownSchema() {
		made[o.String()] = o.SQL
	}
	for _, o := range have {
		switch sql, own := made[o.String()]; {
		case !own:
			wrong = append(wrong, o.String()+" does not belong to it")
		case sql != o.SQL:
			wrong = append(wrong, o.String()+" is not as it was made")
		}
		delete(made, o.String())
	}
	for _, o := range ownSchema() {
		if _, missing := made[o.String()]; missing {
			wrong = append(wrong, o.String()+" is missing")
		}
	}
	if wrong == nil {
		return nil
	}
	return Damaged(errors.New(strings.Join(wrong, ", ")))
}

// smallTables lists the tables that are read whole before a world is open.
var smallTables = []string{"meta", "chain", "primary_network", "node"}

// CheckSmallTables checks the tables that are read whole before a world is open. It uses the writing connection, if there is one, because
// it is idle by then.
func (db *DB) CheckSmallTables(ctx context.Context) error {
	by := db.read
	if db.write != nil {
		by = db.write
	}
	for _, table := range smallTables {
		if err := db.check(ctx, by, "quick_check", table); err != nil {
			return err
		}
	}
	return nil
}

// Tables returns the names of all tables.
func Tables() (names []string) {
	for _, o := range ownSchema() {
		if o.Type == "table" {
			names = append(names, o.Name)
		}
	}
	return names
}

// CheckTable makes the engine check a table and its indexes: pages, the order of rows, types and constraints, and that each index matches
// its table.
func (db *DB) CheckTable(ctx context.Context, table string) error {
	return db.check(ctx, db.read, "integrity_check", table)
}

// Integrity makes the database engine check the whole file.
func (db *DB) Integrity(ctx context.Context) error {
	return db.check(ctx, db.read, "integrity_check", "1")
}

// check runs a PRAGMA of the engine that finds faults, in a table or up to a number in the file. It returns the first.
func (db *DB) check(ctx context.Context, by *sqlx.DB, pragma, argument string) error {
	var faults []string
	if err := by.SelectContext(ctx, &faults, "PRAGMA "+pragma+"("+argument+")"); err != nil {
		return Damaged(fmt.Errorf("%s: %w", pragma, db.say(err)))
	}
	if len(faults) == 1 && faults[0] == "ok" {
		return nil
	}
	fault := strings.Join(strings.Fields(strings.Join(faults[:min(len(faults), 1)], "")), " ")
	if table, found := strings.CutPrefix(fault, "CHECK constraint failed in "); found {
		return Damaged(db.violation(ctx, table))
	}
	return Damaged(errors.New(fault))
}

// violation names a row and the table constraint it violates, which the engine's check does not.
func (db *DB) violation(ctx context.Context, table string) error {
	at := slices.IndexFunc(ownSchema(), func(o schemaObject) bool { return o.Name == table })
	if at < 0 {
		return fmt.Errorf("a constraint of table %s is violated", table)
	}
	for _, constraint := range constraints(ownSchema()[at].SQL) {
		key, err := db.key(ctx, table)
		if err != nil {
			return err
		}
		var rows []string
		err = db.read.SelectContext(ctx, &rows, `SELECT concat_ws(', ', `+quoted(key)+`) FROM `+table+` WHERE NOT (`+constraint+`) LIMIT 1`)
		if err != nil {
			return db.say(err)
		}
		for _, row := range rows {
			return fmt.Errorf("table %s, row with %s %s: it must be that %s", table, strings.Join(key, ", "), row, constraint)
		}
	}
	return fmt.Errorf("a constraint of table %s is violated", table)
}

// quoted formats column values as SQL: blobs in hex.
func quoted(columns []string) string {
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = "quote(" + column + ")"
	}
	return strings.Join(values, ", ")
}

// constraints returns the expressions after CHECK in a CREATE TABLE statement.
func constraints(sql string) (all []string) {
	for _, rest := range strings.Split(sql, "CHECK (")[1:] {
		open := 1
		end := strings.IndexFunc(rest, func(r rune) bool {
			switch r {
			case '(':
				open++
			case ')':
				open--
			}
			return open == 0
		})
		all = append(all, rest[:max(end, 0)])
	}
	return all
}

// fixedWidths maps the columns that have the same length in every table to that length, as the schema declares it.
var fixedWidths = sync.OnceValue(func() map[string]width {
	all, different := map[string]width{}, map[string]bool{}
	for line := range strings.Lines(schema + primarySchema) { // each column has a line of its own: name, type, constraints
		name, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest, blob := strings.CutPrefix(strings.TrimLeft(kind, " "), "BLOB")
		if !blob {
			continue
		}
		w := width{name: name, absent: !strings.Contains(rest, "NOT NULL")}
		_, length, fixed := strings.Cut(rest, "CHECK (length("+name+") = ")
		if fixed {
			length, _, _ = strings.Cut(length, ")")
			w.bytes, _ = strconv.Atoi(length) // 0 if there is none, which is not a valid length
		}
		before, known := all[name]
		different[name] = different[name] || w.bytes == 0 || known && before.bytes != w.bytes
		w.absent = w.absent || before.absent
		all[name] = w
	}
	maps.DeleteFunc(all, func(name string, _ width) bool { return different[name] })
	return all
})

// primaryTables lists the tables whose rows all follow from the genesis and the blocks of the primary chains.
var primaryTables = []string{"primary_block", "primary_tx", "utxo", "utxo_owner", "primary_activity", "asset", "staker",
	"stake_owner", "l1_validator", "l1_state", "subnet", "subnet_state", "blockchain", "stake", "fee", "fee_meter"}

// SameRollUps compares the roll-ups with another file's, value by value. The error names the first difference.
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

// sameTable walks through a table of both files in key order.
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
			return db.say(errors.Join(have.Err(), expected.Err()))
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
	rows, err := db.read.QueryxContext(ctx, `SELECT * FROM `+table+` ORDER BY `+strings.Join(key, ", "))
	return rows, db.say(err)
}

func (db *DB) key(ctx context.Context, table string) (columns []string, err error) {
	err = db.read.SelectContext(ctx, &columns, `SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk`, table)
	return columns, db.say(err)
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

// CountedTables lists the tables whose rows verify counts.
var CountedTables = []string{"chain", "block", "block_override", "state_change", "tx", "impersonated_tx", "log", "call", "account", "slot", "code", "persona", "contract",
	"token", "deployment", "transfer", "holding", "nft", "touch", "market", "pooled_tx", "operation", "message", "message_event"}

// Count returns the number of rows in a table. It reads the whole table: only verify calls it.
func (db *DB) Count(ctx context.Context, table string) (int64, error) {
	var n int64
	if err := db.read.GetContext(ctx, &n, "SELECT COUNT(*) FROM "+table); err != nil {
		return 0, fmt.Errorf("count %s: %w", table, db.say(err))
	}
	return n, nil
}
