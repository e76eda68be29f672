package undo

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

var background = context.Background() // an undo is never cut short

// The kinds of steps.
const (
	stepTable  = 't' // the name of the following steps' table
	stepDelete = 'd' // the key of a row to delete
	stepPut    = 'p' // a row to restore
	stepRun    = 'r' // the keys of rows to delete that differ in the last column, all numbers (appendNumbers)
	stepMixed  = 'x' // a run of which some rows were changed or deleted later
	stepMerged = 'm' // stands before the steps of several transactions
)

// The kinds of values.
const (
	valueNull    = 'n'
	valueInteger = 'i'
	valueBlob    = 'b'
	valueText    = 's'
)

var errSteps = errors.New("malformed undo step")

// appendValue writes a value. No table has a floating-point column.
func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case int64:
		return binary.AppendVarint(append(b, valueInteger), v)
	case []byte:
		return append(binary.AppendUvarint(append(b, valueBlob), uint64(len(v))), v...)
	case string:
		return append(binary.AppendUvarint(append(b, valueText), uint64(len(v))), v...)
	}
	return append(b, valueNull)
}

// skipValue returns what follows a value.
func skipValue(b []byte) (rest []byte, err error) {
	if len(b) == 0 {
		return nil, errSteps
	}
	size, n := uint64(0), 0
	switch b[0] {
	case valueNull:
	case valueInteger:
		if _, n = binary.Varint(b[1:]); n <= 0 {
			return nil, errSteps
		}
	case valueBlob, valueText:
		if size, n = binary.Uvarint(b[1:]); n <= 0 || size > uint64(len(b)-1-n) {
			return nil, errSteps
		}
	default:
		return nil, errSteps
	}
	return b[1+n+int(size):], nil
}

// cutValue reads what appendValue wrote.
func cutValue(b []byte) (value any, rest []byte, err error) {
	if rest, err = skipValue(b); err != nil {
		return nil, nil, err
	}
	kind, b := b[0], b[1:len(b)-len(rest)]
	switch kind {
	case valueInteger:
		value, _ = binary.Varint(b)
	case valueBlob, valueText:
		_, n := binary.Uvarint(b)
		if value = b[n:len(b):len(b)]; kind == valueText {
			value = string(b[n:])
		}
	}
	return value, rest, nil
}

// writer writes steps.
type writer struct {
	steps   []byte
	current *table
}

// use makes a table that of the next steps.
func (w *writer) use(t *table) {
	if w.current != t {
		w.current = t
		w.steps = appendValue(append(w.steps, stepTable), t.name)
	}
}

// packed is a step whose values are still as they were written.
type packed struct {
	table  *table
	kind   byte
	values []byte
}

// key returns the table and the key of a step's row, and where the last column of the key begins. The last column of a run is all its numbers.
func (p packed) key(scratch []byte) (key []byte, last int) {
	key = append(append(scratch, p.table.name...), 0)
	starts := make([]int, 1, 32)
	for rest := p.values; len(rest) > 0; {
		rest, _ = skipValue(rest)
		starts = append(starts, len(p.values)-len(rest))
	}
	for i, at := range p.table.key {
		if p.kind != stepPut {
			at = i
		}
		last = len(key)
		key = append(key, p.values[starts[at]:starts[at+1]]...)
	}
	return key, last
}

// isRun reports whether a step stands for several deletions.
func (p packed) isRun() bool { return p.kind == stepRun || p.kind == stepMixed }

// each visits a step, or the deletions that a run stands for.
func (p packed) each(visit func(packed) error) error {
	if !p.isRun() {
		return visit(p)
	}
	key, last := p.key(nil)
	prefix := key[len(p.table.name)+1 : last : last]
	numbers, _, err := cutValue(key[last:])
	if err != nil {
		return err
	}
	raw, _ := numbers.([]byte)
	return eachNumber(raw, func(after, distance, n int64) error {
		for range n {
			after += distance
			if err := visit(packed{p.table, stepDelete, appendValue(prefix, after)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// each visits the steps of transactions, first one first.
func (tables Tables) each(steps []byte, visit func(packed) error) error {
	found, err := tables.split(steps)
	for i := 0; i < len(found) && err == nil; i++ {
		err = found[i].each(visit)
	}
	return err
}

// split finds the steps of a transaction.
func (tables Tables) split(b []byte) (all []packed, err error) {
	var t *table
	if Merged(b) {
		b = b[1:]
	}
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		if kind == stepTable {
			var name any
			if name, b, err = cutValue(b); err != nil {
				return nil, err
			}
			text, _ := name.(string)
			if t = tables[text]; t == nil {
				return nil, fmt.Errorf("%w: unknown table %.40q", errSteps, text)
			}
			continue
		}
		if t == nil || kind != stepDelete && kind != stepPut && kind != stepRun && kind != stepMixed {
			return nil, errSteps
		}
		rest, columns := b, len(t.key)
		if kind == stepPut {
			columns = len(t.columns)
		}
		for range columns {
			if rest, err = skipValue(rest); err != nil {
				return nil, err
			}
		}
		all = append(all, packed{t, kind, b[:len(b)-len(rest)]})
		b = rest
	}
	return all, nil
}

type step struct {
	table  *table
	kind   byte
	values []any
}

func (p packed) unpack() (step, error) {
	s, b := step{p.table, p.kind, make([]any, 0, len(p.table.columns))}, p.values
	for len(b) > 0 {
		value, rest, err := cutValue(b)
		if err != nil {
			return s, err
		}
		s.values, b = append(s.values, value), rest
	}
	return s, nil
}

// parse reads the steps of a transaction.
func (tables Tables) parse(b []byte) (all []step, err error) {
	err = tables.each(b, func(p packed) error {
		s, err := p.unpack()
		all = append(all, s)
		return err
	})
	return all, err
}

// Check returns an error if a transaction's steps are malformed.
func (tables Tables) Check(steps []byte) error {
	_, err := tables.parse(steps)
	return err
}

// Undo undoes the changes of earlier transactions in a new one.
type Undo struct {
	*Recorder
	tx         *sql.Tx
	statements map[string]*sql.Stmt
	runs       map[string]*run
}

// Undo starts undoing in a transaction, which is not recorded: the hook, which costs as much as a deletion, is removed until the next one.
func (r *Recorder) Undo(tx *sql.Tx) *Undo {
	r.on, r.hooked = false, false
	r.hooks.RegisterPreUpdateHook(nil)
	return r.Selective(tx)
}

// Selective starts undoing some of the changes. The transaction is recorded like any other.
func (r *Recorder) Selective(tx *sql.Tx) *Undo {
	return &Undo{r, tx, map[string]*sql.Stmt{}, map[string]*run{}}
}

// Change is a change of one row by a transaction.
type Change struct{ step }

// Table returns the name of the row's table.
func (c Change) Table() string { return c.table.name }

// Added reports whether the row was added, as opposed to changed or deleted.
func (c Change) Added() bool { return c.kind == stepDelete }

// Value returns the row's old value in a column. For an added row only the columns of the key have one.
func (c Change) Value(column string) any {
	at := slices.Index(c.table.columns, column)
	if c.Added() {
		at = slices.Index(c.table.key, at)
	}
	if at < 0 {
		return nil
	}
	return c.values[at]
}

// Changes parses the changes of a transaction, last one first.
func (r *Recorder) Changes(steps []byte) ([]Change, error) {
	parsed, err := r.tables.parse(steps)
	all := make([]Change, 0, len(parsed))
	for i := len(parsed) - 1; i >= 0; i-- {
		all = append(all, Change{parsed[i]})
	}
	return all, err
}

// Additions parses the additions of a transaction to a table, first one first.
func (r *Recorder) Additions(steps []byte, table string) (all []Change, err error) {
	err = r.tables.each(steps, func(p packed) error {
		if p.kind != stepDelete || p.table.name != table {
			return nil
		}
		s, err := p.unpack()
		all = append(all, Change{s})
		return err
	})
	return all, err
}

// Take undoes one change.
func (u *Undo) Take(c Change) error {
	text := c.table.deletion
	if c.kind == stepPut {
		text = c.table.insertion
	}
	if err := u.exec(text(), c.values); err != nil {
		return fmt.Errorf("undo a change of %s: %w", c.table.name, err)
	}
	return nil
}

func (u *Undo) exec(text string, values []any) error {
	statement, err := u.prepared(text)
	if err == nil {
		_, err = statement.Exec(values...)
	}
	return err
}

func (u *Undo) prepared(text string) (*sql.Stmt, error) {
	statement := u.statements[text]
	if statement == nil {
		var err error
		if statement, err = u.tx.Prepare(text); err != nil {
			return nil, err
		}
		u.statements[text] = statement
	}
	return statement, nil
}
