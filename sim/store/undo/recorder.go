package undo

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// maxNoted is how many changed rows are remembered as noted. When there are more, some are noted again.
const maxNoted = 1 << 16

// table is what a table's changes are written with.
type table struct {
	name    string
	columns []string
	key     []int // the columns of the primary key
	width   int   // how many columns have to be read for the key; 0 for a table whose key is its rowid
}

// Tables are those whose changes are undone, by name.
type Tables map[string]*table

// Recorder notes what undoes the transaction that is under way on one connection. It belongs to whoever writes on that.
type Recorder struct {
	tables  Tables
	on      bool
	err     error
	steps   []byte
	current *table
	row     []any // scratch

	noted map[string]struct{} // changed rows that are in the log since the last boundary
	exact map[string]bool     // tables whose rows are noted each time that they change
	fresh []string            // those of the transaction under way
}

// Attach has a recorder listen to the connection of a pool of one. It records all tables save those that are named. Of the tables in exact
// it notes a row whenever it changes.
func Attach(conn *sql.Conn, tables []string, except, exact map[string]bool) (*Recorder, error) {
	described, err := Describe(conn, tables, except)
	if err != nil {
		return nil, err
	}
	r := &Recorder{tables: described, noted: map[string]struct{}{}, exact: exact}
	return r, listen(conn, r.note)
}

// Detach ends what Attach began, before the connection is closed.
func Detach(conn *sql.Conn) error { return listen(conn, nil) }

func listen(conn *sql.Conn, hook sqlite.PreUpdateHookFn) error {
	return conn.Raw(func(c any) error {
		hooks, ok := c.(interface {
			RegisterPreUpdateHook(sqlite.PreUpdateHookFn)
		})
		if !ok {
			return fmt.Errorf("%T does not tell of changes", c)
		}
		hooks.RegisterPreUpdateHook(hook)
		return nil
	})
}

// Begin begins a transaction.
func (r *Recorder) Begin() {
	r.on, r.err, r.steps, r.current, r.fresh = true, nil, nil, nil, r.fresh[:0]
}

// End ends the recording of a transaction and answers its steps.
func (r *Recorder) End() ([]byte, error) {
	r.on = false
	return r.steps, r.err
}

// Committed is told that the transaction stands.
func (r *Recorder) Committed() {
	if len(r.noted)+len(r.fresh) > maxNoted {
		clear(r.noted)
	}
	for _, key := range r.fresh {
		r.noted[key] = struct{}{}
	}
	r.fresh = r.fresh[:0]
}

// Boundary is told that somebody may want to come back to the present state.
func (r *Recorder) Boundary() { clear(r.noted) }

// note is called before a row changes.
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

// moved reports whether a change gives a row another key.
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

// added notes the key of a new row.
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

// changed notes a row as it was, unless it is noted already.
func (r *Recorder) changed(t *table, d *sqlite.SQLitePreUpdateData) {
	row := r.scratch(len(t.columns))
	if r.err = d.Old(row[:slices.Max(t.key)+1]...); r.err != nil {
		return
	}
	key := append(make([]byte, 0, 64), t.name...)
	for _, column := range t.key {
		key = appendValue(key, row[column])
	}
	if _, known := r.noted[string(key)]; known { // most are: the rest of the row is not needed
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

func (r *Recorder) use(t *table) {
	if r.current != t {
		r.current = t
		r.steps = appendValue(append(r.steps, stepTable), t.name)
	}
}

func (r *Recorder) scratch(n int) []any {
	if cap(r.row) < n {
		r.row = make([]any, n)
	}
	clear(r.row[:n])
	return r.row[:n]
}

// Describe reads what is to be known of all tables save those that are named.
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
			return nil, fmt.Errorf("table %s has no key by which a row could be undone", name)
		}
		all[name] = t
	}
	return all, nil
}

// findKey notes by which columns a row is found, given the place of each column of the primary key. The first column is the rowid of a
// table that has one.
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

// deletion and insertion are the statements of the steps of a table.
func (t *table) deletion() string {
	var terms []string
	for _, column := range t.key {
		terms = append(terms, t.columns[column]+" = ?")
	}
	return "DELETE FROM " + t.name + " WHERE " + strings.Join(terms, " AND ")
}

func (t *table) insertion() string {
	return "INSERT OR REPLACE INTO " + t.name + " (" + strings.Join(t.columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
}
