package undo

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const schema = `
	CREATE TABLE numbered (id INTEGER PRIMARY KEY, text TEXT, raw BLOB, count INTEGER);
	CREATE TABLE keyed (a BLOB NOT NULL, other TEXT, b INTEGER NOT NULL, PRIMARY KEY (b, a)) WITHOUT ROWID;
	CREATE TABLE apart (id INTEGER PRIMARY KEY, text TEXT);
	INSERT INTO numbered VALUES (1, 'one', x'01', -1), (2, '', x'', NULL), (3, NULL, NULL, 9223372036854775807);
	INSERT INTO keyed VALUES (x'00', 'zero', 5), (x'0001', NULL, 5), (x'', '', -5);
	INSERT INTO apart VALUES (1, 'stays');`

// recorded is a database with a recorder.
type recorded struct {
	*testing.T
	conn     *sql.Conn
	recorder *Recorder
}

func newRecorded(t *testing.T, exact map[string]bool) *recorded {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(Detach(conn), conn.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	r := &recorded{T: t, conn: conn}
	r.exec(schema)
	if r.recorder, err = Attach(conn, []string{"numbered", "keyed", "apart"}, map[string]bool{"apart": true}, exact); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *recorded) exec(statement string) {
	r.Helper()
	if _, err := r.conn.ExecContext(r.Context(), statement); err != nil {
		r.Fatalf("%s: %v", statement, err)
	}
}

// commit runs statements as one transaction, and returns its steps.
func (r *recorded) commit(statements ...string) []byte {
	r.Helper()
	r.recorder.Begin()
	for _, s := range statements {
		r.exec(s)
	}
	steps, err := r.recorder.End()
	if err != nil {
		r.Fatal(err)
	}
	r.recorder.Committed()
	return steps
}

// back undoes transactions, last one first.
func (r *recorded) back(transactions ...[]byte) {
	r.Helper()
	tx, err := r.conn.BeginTx(r.Context(), nil)
	if err != nil {
		r.Fatal(err)
	}
	u := r.recorder.Undo(tx)
	for i := len(transactions) - 1; i >= 0; i-- {
		changes, err := u.Changes(transactions[i])
		for n := 0; n < len(changes) && err == nil; n++ {
			err = u.Take(changes[n])
		}
		if err != nil {
			r.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		r.Fatal(err)
	}
}

// rows lists all rows, with the types of their values.
func (r *recorded) rows() string {
	r.Helper()
	var all strings.Builder
	for _, query := range []string{`SELECT id, text, raw, count FROM numbered ORDER BY id`, `SELECT a, other, b, 0 FROM keyed ORDER BY b, a`} {
		rows, err := r.conn.QueryContext(r.Context(), query)
		if err != nil {
			r.Fatal(err)
		}
		for rows.Next() {
			var a, b, c, d any
			if err := rows.Scan(&a, &b, &c, &d); err != nil {
				r.Fatal(err)
			}
			fmt.Fprintf(&all, "%#v %#v %#v %#v\n", a, b, c, d)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			r.Fatal(err)
		}
	}
	return all.String()
}

// everyKind lists statements that add, change, delete, replace and move rows.
var everyKind = []string{
	`INSERT INTO numbered VALUES (7, 'new', x'ff', 0)`,
	`UPDATE numbered SET text = 'other', count = count + 1 WHERE id < 3`,
	`UPDATE numbered SET id = 30 WHERE id = 3`,
	`DELETE FROM numbered WHERE id = 2`,
	`INSERT OR REPLACE INTO numbered VALUES (1, NULL, x'', 4)`,
	`INSERT INTO keyed VALUES (x'99', 'nine', 9)`,
	`INSERT INTO keyed VALUES (x'00', 'again', 5) ON CONFLICT DO UPDATE SET other = excluded.other`,
	`UPDATE keyed SET a = x'77' WHERE other IS NULL`,
	`DELETE FROM keyed WHERE b < 0`,
}

// TestEveryChangeIsUndone undoes each kind of change by itself, all in one transaction, and all in several.
func TestEveryChangeIsUndone(t *testing.T) {
	for _, statement := range everyKind {
		r := newRecorded(t, nil)
		before := r.rows()
		steps := r.commit(statement)
		if r.rows() == before {
			t.Errorf("%s changes nothing", statement)
		}
		if r.back(steps); r.rows() != before {
			t.Errorf("%s: the rows are\n%s\nthey were\n%s", statement, r.rows(), before)
		}
	}
	r := newRecorded(t, nil)
	before := r.rows()
	if r.back(r.commit(everyKind...)); r.rows() != before {
		t.Errorf("one transaction: the rows are\n%s\nthey were\n%s", r.rows(), before)
	}
	var all [][]byte
	r.recorder.Boundary()
	for _, statement := range everyKind {
		all = append(all, r.commit(statement))
	}
	if r.back(all...); r.rows() != before {
		t.Errorf("several transactions: the rows are\n%s\nthey were\n%s", r.rows(), before)
	}
}

// TestARowIsNotedOnce changes a row repeatedly: between two boundaries it is recorded once, but in an exact table at every change. Excepted
// tables are not recorded.
func TestARowIsNotedOnce(t *testing.T) {
	const change = `UPDATE numbered SET count = 1 WHERE id = 1`
	for exact, want := range map[bool]string{false: "101", true: "111"} {
		r := newRecorded(t, map[string]bool{"numbered": exact})
		noted := ""
		for i := range 3 {
			if i == 2 {
				r.recorder.Boundary()
			}
			steps := r.commit(change)
			changes, err := r.recorder.Changes(steps)
			if err != nil {
				t.Fatal(err)
			}
			noted += fmt.Sprint(len(changes))
			if len(changes) > 0 && (changes[0].Table() != "numbered" || changes[0].Added() || changes[0].Value("id") != int64(1) || changes[0].Value("text") != "one" || changes[0].Value("none") != nil) {
				t.Errorf("the change is %+v", changes[0])
			}
		}
		if noted != want {
			t.Errorf("exact: %t, noted %s, want %s", exact, noted, want)
		}
		if steps := r.commit(`UPDATE apart SET text = ''`); steps != nil {
			t.Errorf("a table apart was noted: %q", steps)
		}
	}
	r := newRecorded(t, nil)
	changes, err := r.recorder.Changes(r.commit(`INSERT INTO keyed VALUES (x'99', 'nine', 9)`))
	if err != nil || len(changes) != 1 || !changes[0].Added() || changes[0].Value("b") != int64(9) || string(changes[0].Value("a").([]byte)) != "\x99" || changes[0].Value("other") != nil {
		t.Errorf("an added row: %+v, %v", changes, err)
	}
}

// TestDamagedStepsAreRefused truncates steps everywhere and alters every byte: malformed steps give an error and nothing panics.
func TestDamagedStepsAreRefused(t *testing.T) {
	r := newRecorded(t, nil)
	steps := r.commit(everyKind...)
	whole, err := r.recorder.Changes(steps)
	if err != nil || len(whole) < len(everyKind) {
		t.Fatalf("%d changes, %v", len(whole), err)
	}
	for n := range steps {
		if some, err := r.recorder.Changes(steps[:n]); err == nil && len(some) >= len(whole) {
			t.Errorf("the first %d of %d bytes have %d changes", n, len(steps), len(some))
		} else if err != nil && !errors.Is(err, errSteps) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
		for _, with := range []byte{0, 1, 0x80, 0xff} {
			damaged := append([]byte{}, steps...)
			damaged[n] ^= with
			if err := r.recorder.tables.Check(damaged); err != nil && !errors.Is(err, errSteps) {
				t.Errorf("byte %d: %v", n, err)
			}
		}
	}
	for text, damaged := range map[string][]byte{
		"unknown table":       append([]byte{stepTable, valueText, 5}, "other"...),
		"malformed undo step": {stepDelete, valueInteger, 2}, // of no table
	} {
		if err := r.recorder.tables.Check(damaged); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, want %q", damaged, err, text)
		}
	}
}

// TestATableNeedsAKey refuses to record a table without a usable key.
func TestATableNeedsAKey(t *testing.T) {
	r := newRecorded(t, nil)
	r.exec(`CREATE TABLE keyless (text TEXT)`)
	for _, table := range []string{"keyless", "absent"} {
		if _, err := Describe(r.conn, []string{table}, nil); err == nil || !strings.Contains(err.Error(), table) {
			t.Errorf("%s: %v", table, err)
		}
	}
}
