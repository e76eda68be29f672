package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrNotFound means that there is no such row.
var ErrNotFound = errors.New("not found")

// For a bare parameter as the limit, the engine would prepare the statement again for every value, since it plans by it. Statements write LIMIT
// 0 + ? instead.

// stmt is a prepared statement. sqlx maps columns to a struct's fields by the db tags; stmt does that once: repeating it for each query, as
// Get and Select do, takes 10 % longer for one block and 22 % for a hundred. Statements that write list their values: a NamedStmt takes 7
// to 20 % longer.
type stmt struct {
	*sqlx.Stmt
	columns atomic.Pointer[mapping]
}

// mapping maps a statement's columns to the fields of a row type.
type mapping struct {
	row    reflect.Type
	fields [][]int // by column, the field's path as in reflect.Value.FieldByIndex
	widths []width
}

// width is the number of bytes in a column. Readers of rows rely on it.
type width struct {
	column int
	name   string
	bytes  int
	absent bool // the value may be NULL
}

// scan reads a row into its fields. A value that does not fit them is damage.
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

// tableOf returns the first table that a statement reads or writes.
func tableOf(text string) string {
	if found := firstTable().FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return "of no name"
}

// failed explains why a statement could not be prepared or run. It does not show the statement, because clients see the text. It reports
// damaged pages as damage, and also a statement that does not match the tables.
func failed(text string, err error) error {
	where := fmt.Errorf("table %s: %w", tableOf(text), inWords(err))
	if damaged(err) || resultCode(err) == sqlite3.SQLITE_ERROR {
		return Damaged(where)
	}
	return where
}

// damaged reports whether the engine cannot make sense of the file.
func damaged(err error) bool {
	code := resultCode(err)
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// engineError is an error of the database engine, or of its Go package, in words for clients. The engine's own message goes to the log only
// (LogFailures): its names and terms mean nothing to a client.
type engineError struct{ error }

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

// Internal reports whether an error comes from the world's file and no client can do anything about it; the log has the cause. A full disk and a
// read-only file are not internal.
func Internal(err error) bool {
	if errors.Is(err, ErrDisk) || errors.Is(err, ErrReadOnly) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var inside insideError
	var engine engineError
	var damage *DamageError
	return errors.As(err, &inside) || errors.As(err, &engine) || errors.As(err, &damage)
}

// insideError is an internal error that passed through a package which kept only its words.
type insideError struct{ error }

func (e insideError) Unwrap() error { return e.error }

// Inside marks an error as internal. It leaves nil, a full disk and a cancelled request alone.
func Inside(err error) error {
	if err == nil || Internal(err) || errors.Is(err, ErrDisk) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return insideError{err}
}

// refusals selects statements that fail, with the error.
type refusals struct {
	of   func(text string) bool
	with error
}

// FailStatements makes the statements that a function selects fail as the engine would, BEGIN and COMMIT included; nil ends that. Only tests use it.
func (db *DB) FailStatements(of func(text string) bool) {
	if of == nil {
		db.refuses.Store(nil)
		return
	}
	_, err := db.read.Exec("SELECT this_statement_fails()")
	db.refuses.Store(&refusals{of, err})
}

// refused returns the engine's error for a statement that is to fail.
func (db *DB) refused(text string) error {
	if r := db.refuses.Load(); r != nil && r.of(text) {
		return r.with
	}
	return nil
}

// Cause returns the engine's own error, for the log, or nil.
func Cause(err error) error {
	var engine engineError
	if errors.As(err, &engine) {
		return engine.error
	}
	return nil
}

// say logs an error of the engine and returns it in the program's words.
func (db *DB) say(err error) error {
	if err == nil {
		return nil
	}
	return db.noted(inWords(err))
}

// LogFailures sets the log for the engine's own messages.
func (db *DB) LogFailures(log *slog.Logger) { db.log.Store(log) }

// noted logs the engine's message and returns the error unchanged.
func (db *DB) noted(err error) error {
	var engine engineError
	if errors.As(err, &engine) && damaged(engine.error) {
		db.dropPages()
	}
	if log := db.log.Load(); log != nil && errors.As(err, &engine) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		log.Error("the world's file failed", "what", err, "cause", engine.error)
	}
	return err
}

// dropTime is the time for which connections are not reused after one found damage. Statements that are already running end sooner.
const dropTime = time.Second

// dropPages makes the connections drop their cached pages. The engine reads the missing part of a truncated file as zeros, and would go on
// using them after the file is whole again.
func (db *DB) dropPages() {
	if db.read == nil || db.write == nil || db.path == Memory || !db.dropping.CompareAndSwap(false, true) {
		return
	}
	db.read.SetMaxIdleConns(-1)
	time.AfterFunc(dropTime, func() {
		db.read.SetMaxIdleConns(db.read.Stats().MaxOpenConnections)
		db.dropping.Store(false)
		_, _ = db.write.Exec(`PRAGMA shrink_memory`) // fails once the file is closed
	})
}

func (b *Batch) noted(err error) error { return b.db.noted(err) }

// Preparer prepares statements: the reading pool, or a batch, which sees its own writes.
type Preparer interface {
	prepared(text string) (*stmt, error)
	noted(err error) error
}

// destinations holds the targets of a row's columns: the fields of a struct by their db tags, or the value itself if it is not a struct.
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

// mapped finds the field of each column. If the row is not a struct, that is the row itself.
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

// integer scans a whole number into a field of any size, or into a pointer to one: for most sizes [sql.Rows.Scan] would format and parse it
// as text.
type integer struct{ field reflect.Value }

// isInteger reports whether fields of a type are whole numbers, or pointers to optional ones.
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

// each runs a statement and calls a function with each row. It reuses one variable for all rows; copy it to keep it.
func each[T any](ctx context.Context, p Preparer, visit func(*T), text string, args ...any) error {
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

// shortList is a list that grows as rows come. A long one grows by parts, each twice as large as the last: copying it would take several
// times its memory.
const shortList = 64

// List reads every row of a statement's result. It reads the whole result before it returns, so that no connection waits for a slow client.
func List[T any](ctx context.Context, p Preparer, text string, args ...any) ([]T, error) {
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

// Get reads the one row of a statement's result, or returns ErrNotFound. Even then the row is not nil.
func Get[T any](ctx context.Context, p Preparer, text string, args ...any) (*T, error) {
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

// Exec runs a statement that writes.
func Exec(b *Batch, text string, args ...any) error { return b.exec(text, args...) }

// value reads the single value that a statement returns.
func value[T any](ctx context.Context, p Preparer, text string, args ...any) (T, error) {
	v, err := Get[T](ctx, p, text, args...)
	return *v, err
}

// orNone returns the zero value instead of ErrNotFound.
func orNone[T any](v T, err error) (T, error) {
	if errors.Is(err, ErrNotFound) {
		var none T
		return none, nil
	}
	return v, err
}

// Explain returns the database engine's plan for a statement, step by step.
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

// Statements returns the texts of all reading statements prepared so far, for the test that none scans a table.
func (db *DB) Statements() []string {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return slices.Collect(maps.Keys(db.statements))
}

// MostAmong is the most keys that a statement takes at once.
const MostAmong = 512

// listSizes lists the lengths of IN lists: few, so that few statements are prepared.
var listSizes = []int{1, 8, 64, MostAmong}

// inList returns a list of parameters for IN with room for n values, and its length; spare parameters repeat a value.
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

// listArgs returns the values for such a list.
func listArgs[T any](values []T, size int) []any {
	args := make([]any, size)
	for i := range args {
		args[i] = values[min(i, len(values)-1)]
	}
	return args
}
