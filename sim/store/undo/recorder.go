package undo

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// maxNoted bounds the set of rows already recorded. Beyond it the set starts anew, and rows are recorded again.
const maxNoted = 1 << 16

// table describes a table of the database.
type table struct {
	name    string
	columns []string
	key     []int // the columns of the primary key
	width   int   // number of leading columns that contain the key; 0 if the key is the rowid
}

// Tables holds the recorded tables by name.
type Tables map[string]*table

// Recorder records the transactions of one connection. Only the connection's writer may use it.
type Recorder struct {
	tables Tables
	hooks  hooks
	hooked bool
	on     bool
	err    error
	row    []any // scratch
	writer

	noted map[string]struct{} // rows recorded since the last boundary
	exact map[string]bool     // tables whose rows are recorded at every change
	fresh []string            // rows recorded in the open transaction
}

// Attach hooks a recorder into the only connection of a pool. It records the given tables without the excepted ones. Rows of exact tables
// are recorded at every change, not just at the first after a boundary.
func Attach(conn *sql.Conn, tables []string, except, exact map[string]bool) (*Recorder, error) {
	described, err := Describe(conn, tables, except)
	if err != nil {
		return nil, err
	}
	r := &Recorder{tables: described, noted: map[string]struct{}{}, exact: exact}
	return r, conn.Raw(func(c any) (err error) {
		r.hooks, err = hooksOf(c)
		return err
	})
}

// Detach removes the hook. Call it before closing the connection.
func Detach(conn *sql.Conn) error {
	return conn.Raw(func(c any) error {
		hooks, err := hooksOf(c)
		if err == nil {
			hooks.RegisterPreUpdateHook(nil)
		}
		return err
	})
}

// hooks is a connection of the driver.
type hooks interface {
	RegisterPreUpdateHook(sqlite.PreUpdateHookFn)
}

func hooksOf(conn any) (hooks, error) {
	h, ok := conn.(hooks)
	if !ok {
		return nil, fmt.Errorf("%T has no pre-update hook", conn)
	}
	return h, nil
}

// Begin starts recording a transaction.
func (r *Recorder) Begin() {
	if !r.hooked {
		r.hooks.RegisterPreUpdateHook(r.note)
		r.hooked = true
	}
	r.on, r.err, r.writer, r.fresh = true, nil, writer{}, r.fresh[:0]
}

// End stops recording and returns the transaction's steps.
func (r *Recorder) End() ([]byte, error) {
	r.on = false
	return r.steps, r.err
}

// Committed marks the transaction's rows as recorded.
func (r *Recorder) Committed() {
	if len(r.noted)+len(r.fresh) > maxNoted {
		clear(r.noted)
	}
	for _, key := range r.fresh {
		r.noted[key] = struct{}{}
	}
	r.fresh = r.fresh[:0]
}

// Boundary marks the present state as one to which the world may revert, or only some tables of it.
func (r *Recorder) Boundary(tables ...string) {
	maps.DeleteFunc(r.noted, func(key string, _ struct{}) bool {
		return len(tables) == 0 || slices.ContainsFunc(tables, func(table string) bool { return strings.HasPrefix(key, table+"\x00") })
	})
}

// note is the hook: SQLite calls it before a row changes.
func (r *Recorder) note(d sqlite.SQLitePreUpdateData) {
	if !r.on || r.err != nil {
		return
	}
	t, known := r.tables[d.TableName]
	if !known {
		return
	}
	switch d.Op {
	case sqlite3.SQLITE_INSERT:
		r.added(t, &d)
	case sqlite3.SQLITE_DELETE:
		r.changed(t, &d)
	default:
		r.changed(t, &d)
		if r.err == nil && r.moved(t, &d) {
			r.added(t, &d)
		}
	}
}

// moved reports whether an update changes a row's key.
func (r *Recorder) moved(t *table, d *sqlite.SQLitePreUpdateData) bool {
	if t.width == 0 {
		return d.OldRowID != d.NewRowID
	}
	before, after := make([]any, t.width), r.scratch(t.width)
	if r.err = errors.Join(d.Old(before...), d.New(after...)); r.err != nil {
		return false
	}
	for _, column := range t.key {
		if !bytes.Equal(appendValue(nil, before[column]), appendValue(nil, after[column])) {
			return true
		}
	}
	return false
}

// added records the key of a new row.
func (r *Recorder) added(t *table, d *sqlite.SQLitePreUpdateData) {
	r.use(t)
	r.steps = append(r.steps, stepDelete)
	if t.width == 0 {
		r.steps = appendValue(r.steps, d.NewRowID)
		return
	}
	row := r.scratch(t.width)
	if r.err = d.New(row...); r.err != nil {
		return
	}
	for _, column := range t.key {
		r.steps = appendValue(r.steps, row[column])
	}
}

// changed records the old values of a row, unless they are recorded already.
func (r *Recorder) changed(t *table, d *sqlite.SQLitePreUpdateData) {
	row := r.scratch(len(t.columns))
	if r.err = d.Old(row[:slices.Max(t.key)+1]...); r.err != nil {
		return
	}
	key := append(append(make([]byte, 0, 64), t.name...), 0)
	for _, column := range t.key {
		key = appendValue(key, row[column])
	}
	if _, known := r.noted[string(key)]; known { // the common case, which never reads the rest of the row
		return
	}
	if r.err = d.Old(row...); r.err != nil {
		return
	}
	if !r.exact[t.name] {
		r.fresh = append(r.fresh, string(key))
	}
	r.use(t)
	r.steps = append(r.steps, stepPut)
	for _, value := range row {
		r.steps = appendValue(r.steps, value)
	}
}

func (r *Recorder) scratch(n int) []any {
	if cap(r.row) < n {
		r.row = make([]any, n)
	}
	clear(r.row[:n])
	return r.row[:n]
}

// Describe reads the columns and keys of tables, without the excepted ones.
func Describe(conn *sql.Conn, tables []string, except map[string]bool) (Tables, error) {
	rows, err := conn.QueryContext(background, `SELECT l.name, l.wr, i.name, i.pk FROM pragma_table_list AS l JOIN pragma_table_info(l.name) AS i
		WHERE l.schema = 'main' ORDER BY l.name, i.cid`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found, places, withoutRowid := Tables{}, map[string]map[int]int{}, map[string]bool{}
	for rows.Next() {
		var name, column string
		var wr bool
		var pk int
		if err := rows.Scan(&name, &wr, &column, &pk); err != nil {
			return nil, err
		}
		t := found[name]
		if t == nil {
			t = &table{name: name}
			found[name], places[name], withoutRowid[name] = t, map[int]int{}, wr
		}
		if pk > 0 {
			places[name][pk] = len(t.columns)
		}
		t.columns = append(t.columns, column)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	all := Tables{}
	for _, name := range tables {
		if except[name] {
			continue
		}
		t := found[name]
		if t == nil || !t.findKey(places[name], withoutRowid[name]) {
			return nil, fmt.Errorf("table %s has no key to find a changed row by", name)
		}
		all[name] = t
	}
	return all, nil
}

// findKey sets the key columns, given the place of each column of the primary key, and reports whether the table has a usable key. In a table
// with a rowid only a key of one column will do, which is the rowid.
func (t *table) findKey(places map[int]int, withoutRowid bool) bool {
	for pk := 1; pk <= len(places); pk++ {
		t.key = append(t.key, places[pk])
		t.width = max(t.width, places[pk]+1)
	}
	if !withoutRowid {
		t.width = 0
	}
	return len(t.key) == 1 || withoutRowid && len(t.key) > 0
}

// deletion returns the statement that undoes an insertion.
func (t *table) deletion() string { return "DELETE" + t.where(" = ?") }

// insertion returns the statement that restores a row.
func (t *table) insertion() string {
	return "INSERT OR REPLACE INTO " + t.name + " (" + strings.Join(t.columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
}
