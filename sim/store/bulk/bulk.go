// Package bulk inserts rows while a world is made. It gathers them in memory and writes them in key order, many with one statement, because
// the engine finds the pages of a large table far quicker that way. Nothing reads these tables before the world is complete.
package bulk

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const rowsTogether = 64 // per statement

// How many bytes of a table's rows wait: the more of it is already written, the longer waiting pays, as long as its keys come in no order.
const (
	leastGathered   = 128 << 10
	mostInOrder     = 1 << 20
	mostScattered   = 8 << 20
	gatheredPerByte = 16 // bytes already written
)

// Table describes how to insert or change a table's rows.
type Table struct {
	Statement string // for one row
	many      string // for rowsTogether; empty if there is none
	columns   int
	scattered bool
	after     *Table // rows that must be written first
}

// NewTable describes a table by its columns, the primary key's first. In a scattered table new rows have keys in any order.
func NewTable(name, columns string, scattered bool) *Table {
	n := strings.Count(columns, ",") + 1
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + ")"
	text := "INSERT INTO " + name + " (" + columns + ") VALUES "
	return &Table{Statement: text + row, many: text + strings.Repeat(row+", ", rowsTogether-1) + row, columns: n, scattered: scattered}
}

// NewUpsert describes a scattered table whose rows may exist already; conflict is the SQL for that case. Two rows with the same key must never
// wait together: the caller flushes an added row before reading it, and so before adding it again.
func NewUpsert(name, columns, conflict string) *Table {
	t := NewTable(name, columns, true)
	t.Statement += " " + conflict
	t.many += " " + conflict
	return t
}

// NewUpdate describes a statement with some parameters, the primary key's first, that changes rows inserted earlier.
func NewUpdate(of *Table, statement string, parameters int) *Table {
	return &Table{Statement: statement, columns: parameters, scattered: of.scattered, after: of}
}

// Writer holds the waiting rows of one transaction.
type Writer struct {
	conn   *sql.Conn
	tables map[*Table]*rows
}

// rows holds a table's waiting rows.
type rows struct {
	data      []byte // values of the rows, one after another
	starts    []int  // of the rows in data
	written   int    // bytes written before
	one, many driver.StmtExecContext
}

// NewWriter writes through a connection that is in a transaction.
func NewWriter(conn *sql.Conn) *Writer { return &Writer{conn, map[*Table]*rows{}} }

// Add gathers a row.
func (w *Writer) Add(t *Table, row []any) error {
	r := w.rows(t)
	r.starts = append(r.starts, len(r.data))
	for _, value := range row {
		var err error
		if r.data, err = appendValue(r.data, value); err != nil {
			return err
		}
	}
	most := mostInOrder
	if t.scattered {
		most = mostScattered
	}
	if len(r.data) < min(max(r.written/gatheredPerByte, leastGathered), most) {
		return nil
	}
	return w.write(t, r)
}

func (w *Writer) rows(t *Table) *rows {
	r := w.tables[t]
	if r == nil {
		r = &rows{}
		w.tables[t] = r
	}
	return r
}

// Write writes a table's waiting rows, so that it can be read.
func (w *Writer) Write(t *Table) error {
	if r := w.tables[t]; r != nil && len(r.starts) > 0 {
		return w.write(t, r)
	}
	return nil
}

// Flush writes all waiting rows, before the transaction ends.
func (w *Writer) Flush() error {
	var errs []error
	for t, r := range w.tables {
		errs = append(errs, w.write(t, r))
	}
	for _, r := range w.tables {
		r.data = nil
	}
	return errors.Join(errs...)
}

// Close drops all waiting rows.
func (w *Writer) Close() error {
	err := w.conn.Raw(func(any) (err error) {
		for _, r := range w.tables {
			for _, s := range []driver.StmtExecContext{r.one, r.many} {
				if s != nil {
					err = errors.Join(err, s.(driver.Stmt).Close())
				}
			}
		}
		return err
	})
	return errors.Join(err, w.conn.Close())
}

// write writes the rows of a table. It talks to the driver directly, because package sql would convert every value once more.
func (w *Writer) write(t *Table, r *rows) error {
	if t.after != nil {
		if err := w.write(t.after, w.rows(t.after)); err != nil {
			return err
		}
	}
	slices.SortFunc(r.starts, func(a, b int) int { return bytes.Compare(r.data[a:], r.data[b:]) })
	err := w.conn.Raw(func(conn any) error {
		if err := r.prepare(conn, t); err != nil {
			return err
		}
		args := make([]driver.NamedValue, t.columns*rowsTogether)
		for i := range args {
			args[i].Ordinal = i + 1
		}
		starts := r.starts
		for ; r.many != nil && len(starts) >= rowsTogether; starts = starts[rowsTogether:] {
			if err := r.exec(r.many, args, starts[:rowsTogether]); err != nil {
				return err
			}
		}
		for i := range starts {
			if err := r.exec(r.one, args[:t.columns], starts[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	})
	r.written += len(r.data)
	r.data, r.starts = r.data[:0], r.starts[:0]
	return err
}

var errDriver = errors.New("the driver prepares no statements")

func (r *rows) prepare(conn any, t *Table) error {
	preparer, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return errDriver
	}
	for _, s := range []struct {
		text string
		to   *driver.StmtExecContext
	}{{t.Statement, &r.one}, {t.many, &r.many}} {
		if *s.to != nil || s.text == "" {
			continue
		}
		prepared, err := preparer.PrepareContext(context.Background(), s.text)
		if err != nil {
			return err
		}
		if *s.to, ok = prepared.(driver.StmtExecContext); !ok {
			return errDriver
		}
	}
	return nil
}

func (r *rows) exec(statement driver.StmtExecContext, args []driver.NamedValue, starts []int) error {
	columns := len(args) / len(starts)
	for i, start := range starts {
		rest := r.data[start:]
		for n := range columns {
			args[i*columns+n].Value, rest = nextValue(rest)
		}
	}
	_, err := statement.ExecContext(context.Background(), args)
	return err
}

// Prefixes of values in rows.data. Eight bytes follow for a number; other values follow after their length in four, so that bytes sort like
// the values if the lengths are equal.
const (
	null byte = iota
	number
	blob
	text
)

const lengthBytes = 4

// appendValue appends a value as the driver takes it.
func appendValue(to []byte, value any) ([]byte, error) {
	value, err := driver.DefaultParameterConverter.ConvertValue(value)
	if err != nil {
		return to, err
	}
	switch v := value.(type) {
	case nil:
		return append(to, null), nil
	case int64:
		return appendNumber(to, v), nil
	case bool:
		if v {
			return appendNumber(to, 1), nil
		}
		return appendNumber(to, 0), nil
	case []byte:
		if v == nil {
			return append(to, null), nil
		}
		return append(binary.BigEndian.AppendUint32(append(to, blob), uint32(len(v))), v...), nil
	case string:
		return append(binary.BigEndian.AppendUint32(append(to, text), uint32(len(v))), v...), nil
	}
	return to, fmt.Errorf("a column cannot be %T", value)
}

func appendNumber(to []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(append(to, number), uint64(n))
}

// nextValue cuts off the first value.
func nextValue(from []byte) (value driver.Value, rest []byte) {
	kind, from := from[0], from[1:]
	switch kind {
	case null:
		return nil, from
	case number:
		return int64(binary.BigEndian.Uint64(from)), from[8:]
	}
	size := binary.BigEndian.Uint32(from)
	content, rest := from[lengthBytes:][:size], from[lengthBytes:][size:]
	if kind == text {
		return string(content), rest
	}
	return content, rest
}
