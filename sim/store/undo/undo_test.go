package undo

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const schema = `
	CREATE TABLE numbered (id INTEGER PRIMARY KEY, text TEXT, raw BLOB, count INTEGER);
	CREATE TABLE keyed (a BLOB NOT NULL, other TEXT, b INTEGER NOT NULL, PRIMARY KEY (b, a)) WITHOUT ROWID;
	CREATE TABLE counted (value BLOB, owner BLOB NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (owner, n)) WITHOUT ROWID;
	CREATE TABLE apart (id INTEGER PRIMARY KEY, text TEXT);
	INSERT INTO numbered VALUES (1, 'one', x'01', -1), (2, '', x'', NULL), (3, NULL, NULL, 9223372036854775807);
	INSERT INTO keyed VALUES (x'00', 'zero', 5), (x'0001', NULL, 5), (x'', '', -5);
	INSERT INTO counted VALUES (x'01', x'aa', 1), (x'02', x'ab', 6);
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
	if r.recorder, err = Attach(conn, []string{"numbered", "keyed", "counted", "apart"}, map[string]bool{"apart": true}, exact); err != nil {
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
	for _, query := range []string{`SELECT id, text, raw, count FROM numbered ORDER BY id`, `SELECT a, other, b, 0 FROM keyed ORDER BY b, a`,
		`SELECT owner, n, value, 0 FROM counted ORDER BY owner, n`} {
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

// backTogether undoes transactions, and returns how many runs it deleted at once.
func (r *recorded) backTogether(transactions ...[]byte) (runs int) {
	r.Helper()
	tx, err := r.conn.BeginTx(r.Context(), nil)
	if err != nil {
		r.Fatal(err)
	}
	u := r.recorder.Undo(tx)
	for _, steps := range transactions {
		err = errors.Join(err, u.Plan(steps))
	}
	err = errors.Join(err, u.TakeRuns())
	for _, steps := range slices.Backward(transactions) {
		err = errors.Join(err, u.TakeRest(steps))
	}
	if err := errors.Join(err, tx.Commit()); err != nil {
		r.Fatal(err)
	}
	return len(u.runs)
}

// TestRunsAreUndoneTogether undoes consecutive additions, with and without other rows among them, and random histories.
func TestRunsAreUndoneTogether(t *testing.T) {
	for text, c := range map[string]struct {
		runs       int
		statements []string
	}{
		"two runs":             {2, []string{`INSERT INTO numbered (id) VALUES (11), (12), (14), (17)`, `INSERT INTO counted (owner, n) VALUES (x'aa', 3), (x'ab', 2), (x'aa', 4), (x'ab', 9), (x'aa', 9), (x'ab', 1), (x'aa', 5), (x'ab', 4)`}},
		"another row is among": {0, []string{`INSERT INTO numbered (id) VALUES (0), (4), (5), (6)`, `INSERT INTO counted (owner, n) VALUES (x'aa', 0), (x'aa', 2), (x'aa', 3), (x'aa', 4)`}},
		"too short":            {0, []string{`INSERT INTO numbered (id) VALUES (4), (5), (6)`, `INSERT INTO counted (owner, n) VALUES (x'ab', 4), (x'ab', 5), (x'aa', 4)`}},
		"one is gone again":    {0, []string{`INSERT INTO numbered (id) VALUES (4), (5), (6), (7)`, `DELETE FROM numbered WHERE id = 5`}},
		"one came back":        {0, []string{`DELETE FROM numbered WHERE id = 3`, `INSERT INTO numbered (id) VALUES (3), (4), (5), (6), (7)`}},
		"the first changed":    {0, []string{`INSERT INTO numbered (id) VALUES (4), (5), (6)`, `UPDATE numbered SET count = 8 WHERE id = 3`}},
		"one changed":          {0, []string{`INSERT INTO counted (owner, n) VALUES (x'aa', 2), (x'aa', 3), (x'aa', 4), (x'aa', 5)`, `UPDATE counted SET value = x'01' WHERE n = 3`}},
	} {
		r := newRecorded(t, nil)
		before := r.rows()
		var all [][]byte
		for _, statement := range c.statements {
			all = append(all, r.commit(statement))
		}
		if runs := r.backTogether(all...); runs != c.runs || r.rows() != before {
			t.Errorf("%s: %d runs, want %d; the rows are\n%s\nthey were\n%s", text, runs, c.runs, r.rows(), before)
		}
	}
	runs := 0
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 43))
		r := newRecorded(t, nil)
		r.commit(fmt.Sprintf(`INSERT OR REPLACE INTO counted VALUES (x'05', x'aa', %d)`, random.IntN(12)))
		before := r.rows()
		r.recorder.Boundary()
		var all [][]byte
		for range 1 + random.IntN(12) {
			all = append(all, r.change(random))
			if random.IntN(4) == 0 {
				r.recorder.Boundary()
			}
		}
		if runs += r.backTogether(all...); r.rows() != before {
			t.Errorf("seed %d: the rows are\n%s\nthey were\n%s", seed, r.rows(), before)
		}
	}
	if runs == 0 {
		t.Error("no random history has a run")
	}
}

// change makes a transaction at random.
func (r *recorded) change(random *rand.Rand) []byte {
	r.Helper()
	var statements []string
	for range 1 + random.IntN(3) {
		n := random.IntN(12)
		statements = append(statements, []string{
			fmt.Sprintf(`INSERT OR IGNORE INTO counted VALUES (x'%02x', x'aa', %d)`, n, n),
			fmt.Sprintf(`INSERT OR REPLACE INTO counted VALUES (x'%02x', x'ab', %d)`, n, random.IntN(30)),
			fmt.Sprintf(`INSERT OR IGNORE INTO numbered (id, count) VALUES (%d, %d)`, random.IntN(30), n),
			fmt.Sprintf(`INSERT OR IGNORE INTO numbered (count) VALUES (%d), (%d), (%d)`, n, n, n),
			fmt.Sprintf(`DELETE FROM counted WHERE n = %d AND owner = x'ab'`, n),
			fmt.Sprintf(`UPDATE OR IGNORE counted SET n = n + 1 WHERE n = %d`, n),
			fmt.Sprintf(`INSERT OR REPLACE INTO keyed VALUES (x'%02x', 'new', 5)`, n),
		}[random.IntN(3+random.IntN(5))])
	}
	return r.commit(statements...)
}

// merge merges transactions.
func (r *recorded) merge(transactions ...[]byte) []byte {
	r.Helper()
	steps, err := r.recorder.Merge(transactions)
	if err != nil || !Merged(steps) {
		r.Fatalf("%x, %v", steps, err)
	}
	return steps
}

// TestMergedStepsUndoTheSame merges random histories in groups, and groups again, and undoes them in both ways.
func TestMergedStepsUndoTheSame(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 44))
		r := newRecorded(t, nil)
		before := r.rows()
		var groups [][]byte
		for range 1 + random.IntN(4) {
			var all [][]byte
			for range 1 + random.IntN(8) {
				all = append(all, r.change(random))
			}
			if random.IntN(2) == 0 {
				r.recorder.Boundary()
			}
			if half := random.IntN(len(all)); random.IntN(2) == 0 {
				all = append([][]byte{r.merge(all[:half]...), {}}, all[half:]...)
			}
			groups = append(groups, r.merge(all...))
		}
		if seed%2 == 0 {
			r.backTogether(groups...)
		} else {
			r.back(groups...)
		}
		if r.rows() != before {
			t.Errorf("seed %d: the rows are\n%s\nthey were\n%s", seed, r.rows(), before)
		}
	}
	r := newRecorded(t, nil)
	var all [][]byte
	for n := range 1000 {
		all = append(all, r.commit(fmt.Sprintf(`INSERT INTO numbered (id, count) VALUES (%d, 1)`, 1<<40+n<<20), fmt.Sprintf(`UPDATE numbered SET count = %d WHERE id = 1`, n)))
	}
	if steps := r.merge(all...); len(steps) > 60 {
		t.Errorf("a thousand blocks take %d bytes: %x", len(steps), steps)
	}
	for _, damaged := range []string{"mt", "mts\x08numberedrb\x01\x02", "mts\x08numberedrb\x02\x02\x00", "mts\x08numberedrb\x06\x02\xff\xff\xff\xff\x7f"} {
		if err := r.recorder.tables.Check([]byte(damaged)); !errors.Is(err, errSteps) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

// TestARowIsNotedOnce changes a row repeatedly: between two boundaries it is recorded once, but in an exact table at every change. Excepted tables
// are not recorded.
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
		"malformed undo step": {stepDelete, valueInteger, 2}, // without a table
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
