package undo

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

var background = context.Background() // what is undone is undone whole

// The kinds of steps.
const (
	stepTable  = 't' // the name of the table of those that follow
	stepDelete = 'd' // the key of a row that is to go
	stepPut    = 'p' // a row that is to be there
)

// The kinds of values.
const (
	valueNull    = 'n'
	valueInteger = 'i'
	valueBlob    = 'b'
	valueText    = 's'
)

var errSteps = errors.New("a step that undoes a change is not whole")

// appendValue writes a value. No table has numbers that are not whole.
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

// cutValue reads what appendValue wrote.
func cutValue(b []byte) (value any, rest []byte, err error) {
	if len(b) == 0 {
		return nil, nil, errSteps
	}
	kind, b := b[0], b[1:]
	switch kind {
	case valueNull:
		return nil, b, nil
	case valueInteger:
		v, n := binary.Varint(b)
		if n <= 0 {
			return nil, nil, errSteps
		}
		return v, b[n:], nil
	case valueBlob, valueText:
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, nil, errSteps
		}
		v, rest := b[n:n+int(size)], b[n+int(size):]
		if kind == valueText {
			return string(v), rest, nil
		}
		return v[:len(v):len(v)], rest, nil
	}
	return nil, nil, errSteps
}

// step is one change to be made.
type step struct {
	table  *table
	kind   byte
	values []any
}

// parse reads the steps of a transaction.
func (tables Tables) parse(b []byte) (all []step, err error) {
	var t *table
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
				return nil, fmt.Errorf("%w: there is no table %.40q", errSteps, text)
			}
			continue
		}
		if t == nil || kind != stepDelete && kind != stepPut {
			return nil, errSteps
		}
		s := step{t, kind, make([]any, len(t.key))}
		if kind == stepPut {
			s.values = make([]any, len(t.columns))
		}
		for i := range s.values {
			if s.values[i], b, err = cutValue(b); err != nil {
				return nil, err
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// Check reads the steps of a transaction and says what is wrong with them.
func (tables Tables) Check(steps []byte) error {
	_, err := tables.parse(steps)
	return err
}

// Undo takes the changes of transactions back within one.
type Undo struct {
	*Recorder
	tx         *sql.Tx
	statements map[string]*sql.Stmt
}

// Undo begins to undo within a transaction, of which nothing is recorded.
func (r *Recorder) Undo(tx *sql.Tx) *Undo {
	r.on = false
	return r.Selective(tx)
}

// Selective begins to undo some of the changes, which is recorded as any other change is.
func (r *Recorder) Selective(tx *sql.Tx) *Undo { return &Undo{r, tx, map[string]*sql.Stmt{}} }

// Change is what a transaction did to one row.
type Change struct{ step }

// Table is the row's.
func (c Change) Table() string { return c.table.name }

// Added says that the row was added, and not changed or deleted.
func (c Change) Added() bool { return c.kind == stepDelete }

// Value is what the row had in a column: in one of its key when it was added, which is all that is noted then.
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

// Changes reads the changes of a transaction from its steps, the last one first.
func (r *Recorder) Changes(steps []byte) ([]Change, error) {
	parsed, err := r.tables.parse(steps)
	all := make([]Change, 0, len(parsed))
	for i := len(parsed) - 1; i >= 0; i-- {
		all = append(all, Change{parsed[i]})
	}
	return all, err
}

// Take takes one change back.
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
	statement := u.statements[text]
	if statement == nil {
		var err error
		if statement, err = u.tx.Prepare(text); err != nil {
			return err
		}
		u.statements[text] = statement
	}
	_, err := statement.Exec(values...)
	return err
}
