package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrNotFound says that there is no such row.
var ErrNotFound = errors.New("not found")

// A limit that is a bare parameter would make the engine prepare the statement anew for every value (it plans by it):
// statements write LIMIT 0 + ? instead.

// stmt is a prepared statement. sqlx finds the field of a row's struct for each column by the db tags; that is done
// once for a statement: done anew for each query, as Get and Select do it, it takes 10 % longer for one block and 22 % for
// a hundred. Rows are written with their values listed: a NamedStmt takes 7 to 20 % longer.
type stmt struct {
	*sqlx.Stmt
	columns atomic.Pointer[mapping]
}

// mapping says which field of a row type each column of a statement goes to.
type mapping struct {
	row    reflect.Type
	fields [][]int // by column, the field's path as in reflect.Value.FieldByIndex
	widths []width
}

// width says how many bytes a column of a statement has. Readers of rows rely on it.
type width struct {
	column int
	name   string
	bytes  int
	absent bool // it may be absent
}

// scan reads a row of a statement into its fields. What cannot be in them is damage.
func (s *stmt) scan(rows *sql.Rows, fields []any, text string) error {
	if err := rows.Scan(fields...); err != nil {
		return Damaged(fmt.Errorf("table %s: %w", tableOf(text), inWords(err)))
	}
	m := s.columns.Load()
	if m == nil {
		return nil
	}
	for _, w := range m.widths {
		if b, ok := fields[w.column].(*blob); ok && len(*b) != w.bytes && !(w.absent && *b == nil) {
			return Damaged(fmt.Errorf("table %s: %s has %d bytes, it must have %d", tableOf(text), w.name, len(*b), w.bytes))
		}
	}
	return nil
}

var firstTable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:FROM|INTO|UPDATE)\s+(\w+)`) })

// tableOf is the first table that a statement reads or writes.
func tableOf(text string) string {
	if found := firstTable().FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return "of no name"
}

// failed says why a statement could not be prepared or run, and not which, as it is for clients, too. The engine's word for damaged pages is
// damage, and so is its word for a statement that does not fit the tables.
func failed(text string, err error) error {
	where := fmt.Errorf("table %s: %w", tableOf(text), inWords(err))
	if damaged(err) || resultCode(err) == sqlite3.SQLITE_ERROR {
		return Damaged(where)
	}
	return where
}

// damaged says whether the engine cannot make sense of the file.
func damaged(err error) bool {
	code := resultCode(err)
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// engineError is an error of the database engine, or of the package that speaks with it, in words for clients. What it says itself goes to the
// log only (LogFailures): neither its names nor its language are a client's business.
type engineError struct{ error }

// inWords is an error with the engine's put into words.
func inWords(err error) error {
	text := err.Error()
	if resultCode(err) != 0 || strings.HasPrefix(text, "sql: ") || strings.HasPrefix(text, "driver: ") {
		return engineError{err}
	}
	return err
}

func (e engineError) Error() string {
	switch resultCode(e.error) {
	case sqlite3.SQLITE_CONSTRAINT:
		return "a row does not fit"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "another process keeps the file to itself"
	case sqlite3.SQLITE_NOMEM:
		return "there is no memory left"
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return "it is not as this program writes it"
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(e.error, ended) {
			return ended.Error()
		}
	}
	return "the file cannot be used"
}

func (e engineError) Unwrap() error { return e.error }

// LogFailures is where the engine's own words for what fails go.
func (db *DB) LogFailures(log *slog.Logger) { db.log.Store(log) }

// noted is an error as it is, once the log has what the engine said.
func (db *DB) noted(err error) error {
	var engine engineError
	if log := db.log.Load(); log != nil && errors.As(err, &engine) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		log.Error("the world's file failed", "what", err, "cause", engine.error)
	}
	return err
}

func (b *Batch) noted(err error) error { return b.db.noted(err) }

// Preparer is the file or a batch: what List and Get read.
type Preparer = preparer

// preparer is what has prepared statements: the pool that reads, or a batch, which sees its own writes.
type preparer interface {
	prepared(text string) (*stmt, error)
	noted(err error) error
}

// destinations are where the columns of a statement's rows are scanned to: the fields of a struct by their db tags, or
// the value itself where it is none.
func (s *stmt) destinations(rows *sql.Rows, row reflect.Value) ([]any, error) {
	m := s.columns.Load()
	if m == nil || m.row != row.Type() {
		names, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		if m, err = s.mapped(row.Type(), names); err != nil {
			return nil, err
		}
		s.columns.Store(m)
	}
	fields := make([]any, len(m.fields))
	for i, path := range m.fields {
		field := row
		if len(path) > 0 {
			field = row.FieldByIndex(path)
		}
		switch at := field.Addr().Interface().(type) {
		case *[]byte:
			fields[i] = (*blob)(at)
		case sql.Scanner:
			fields[i] = at
		default:
			if fields[i] = at; isInteger(field.Type()) {
				fields[i] = integer{field}
			}
		}
	}
	return fields, nil
}

// mapped finds the field of each column, which is the row itself where that is no struct.
func (s *stmt) mapped(row reflect.Type, names []string) (*mapping, error) {
	m := &mapping{row: row, fields: make([][]int, len(names))}
	if row.Kind() == reflect.Struct {
		m.fields = s.Mapper.TraversalsByName(row, names)
	}
	for i, name := range names {
		if row.Kind() == reflect.Struct && len(m.fields[i]) == 0 {
			return nil, fmt.Errorf("%s has no field for column %q", row, name)
		}
		if w, fixed := fixedWidths()[name]; fixed {
			m.widths = append(m.widths, width{i, name, w.bytes, w.absent})
		}
	}
	return m, nil
}

// blob takes a column as the engine's driver made it, for this row alone: [sql.Rows.Scan] would copy it once more.
type blob []byte

func (b *blob) Scan(column any) error {
	switch column := column.(type) {
	case nil:
		*b = nil
	case []byte:
		*b = column
	case string:
		*b = blob(column)
	default:
		return fmt.Errorf("bytes are expected, not %T", column)
	}
	return nil
}

// integer takes a column that is a whole number into a field of any size, or into a pointer to one: [sql.Rows.Scan] would make it a text and read
// that, for most sizes.
type integer struct{ field reflect.Value }

// isInteger says whether fields of a type are whole numbers, or pointers to some that may be absent.
func isInteger(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

func (i integer) Scan(column any) error {
	field := i.field
	n, ok := column.(int64)
	if field.Kind() == reflect.Pointer {
		if column == nil {
			field.SetZero()
			return nil
		}
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	switch {
	case !ok:
		return fmt.Errorf("a number is expected, not %T", column)
	case field.CanInt() && !field.OverflowInt(n):
		field.SetInt(n)
	case field.CanUint() && n >= 0 && !field.OverflowUint(uint64(n)):
		field.SetUint(uint64(n))
	default:
		return fmt.Errorf("%d is no %s", n, field.Kind())
	}
	return nil
}

// each runs a statement and calls a function with each of its rows. All rows are scanned into the same variable:
// who keeps one copies it.
func each[T any](ctx context.Context, p preparer, visit func(*T), text string, args ...any) error {
	statement, err := p.prepared(text)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return p.noted(failed(text, err))
	}
	defer rows.Close()
	var row T
	var fields []any
	for rows.Next() {
		if fields == nil {
			if fields, err = statement.destinations(rows, reflect.ValueOf(&row).Elem()); err != nil {
				return p.noted(failed(text, err))
			}
		}
		if err := statement.scan(rows, fields, text); err != nil {
			return p.noted(err)
		}
		visit(&row)
	}
	if err := rows.Err(); err != nil {
		return p.noted(failed(text, err))
	}
	return nil
}

// shortList is a list that is made longer as rows come. Of a longer one each part is full before the next, which is twice as large: to make it
// longer would take several times its memory.
const shortList = 64

// list reads every row that a statement answers. A full answer is read before it returns, so that no connection waits for
// a slow client.
func list[T any](ctx context.Context, p preparer, text string, args ...any) ([]T, error) {
	var full [][]T
	var part []T
	err := each(ctx, p, func(row *T) {
		if len(part) == cap(part) && len(part) >= shortList {
			full, part = append(full, part), make([]T, 0, 2*len(part))
		}
		part = append(part, *row)
	}, text, args...)
	switch {
	case err != nil:
		return nil, err
	case full == nil:
		return part, nil
	}
	return slices.Concat(append(full, part)...), nil
}

// get reads the one row that a statement answers, or fails with ErrNotFound. The row is not nil then either.
func get[T any](ctx context.Context, p preparer, text string, args ...any) (*T, error) {
	row := new(T)
	statement, err := p.prepared(text)
	if err != nil {
		return row, err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return row, p.noted(failed(text, err))
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return row, p.noted(failed(text, err))
		}
		return row, ErrNotFound
	}
	fields, err := statement.destinations(rows, reflect.ValueOf(row).Elem())
	if err != nil {
		return row, p.noted(failed(text, err))
	}
	return row, errors.Join(p.noted(statement.scan(rows, fields, text)), rows.Close())
}

// List, Get and Exec run the statements of the packages below this one, each of which has those of a noun.

// List reads every row that a statement answers: of the file, or as a batch sees it.
func List[T any](ctx context.Context, p preparer, text string, args ...any) ([]T, error) {
	return list[T](ctx, p, text, args...)
}

// Get reads the one row that a statement answers, or fails with ErrNotFound.
func Get[T any](ctx context.Context, p preparer, text string, args ...any) (*T, error) {
	return get[T](ctx, p, text, args...)
}

// Exec runs a statement that writes.
func Exec(b *Batch, text string, args ...any) error { return b.exec(text, args...) }

// value reads the only column of the one row that a statement answers.
func value[T any](ctx context.Context, p preparer, text string, args ...any) (T, error) {
	v, err := get[T](ctx, p, text, args...)
	return *v, err
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

// MostAmong is how many keys a statement is given at once.
const MostAmong = 512

// listSizes are the lengths of IN lists: few, so that few statements are prepared.
var listSizes = []int{1, 8, 64, MostAmong}

// inList is a list of parameters for IN with room for n values, and how many it has; what is left over repeats a value.
func inList(n int) (text string, size int) {
	size = n
	for _, s := range listSizes {
		if n <= s {
			size = s
			break
		}
	}
	return "(?" + strings.Repeat(", ?", size-1) + ")", size
}

// listArgs are the values of such a list.
func listArgs[T any](values []T, size int) []any {
	args := make([]any, size)
	for i := range args {
		args[i] = values[min(i, len(values)-1)]
	}
	return args
}
