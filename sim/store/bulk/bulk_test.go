package bulk_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the database engine

	"snowglobe/sim/store/bulk"
)

// begun returns a table with an open transaction, on its own connection.
func begun(t *testing.T) (*sql.Conn, *sql.Tx) {
	db, err := sql.Open("sqlite", "file:"+t.TempDir()+"/w.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = tx.Exec(`CREATE TABLE thing (key BLOB NOT NULL, n INTEGER NOT NULL, name TEXT, data BLOB, yes INTEGER, spent INTEGER, PRIMARY KEY (key, n)) STRICT, WITHOUT ROWID`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn, tx
}

var (
	things = bulk.NewTable("thing", `key, n, name, data, yes, spent`, true)
	spend  = bulk.NewUpdate(things, `UPDATE thing SET spent = ?3 WHERE key = ?1 AND n = ?2`, 3)
)

// TestRowsComeBack writes rows with every kind of value in any order, and changes some while they wait and some after they were written.
func TestRowsComeBack(t *testing.T) {
	for _, rows := range []int{1, 63, 64, 65, 5_000} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			conn, tx := begun(t)
			w := bulk.NewWriter(conn)
			r := rand.New(rand.NewPCG(uint64(rows), 1))
			var want []string
			for _, n := range r.Perm(rows) {
				key := binary.BigEndian.AppendUint32(nil, uint32(n/3))
				var data any
				switch n % 4 {
				case 0:
					data = []byte(nil)
				case 1:
					data = []byte{}
				case 2:
					data = bytes.Repeat([]byte{byte(n)}, n%200)
				}
				var name any
				if n%5 > 0 {
					name = strings.Repeat("é", n%7)
				}
				if err := w.Add(things, []any{key, uint16(n % 3), name, data, n%2 == 0, nil}); err != nil {
					t.Fatal(err)
				}
				if n%3 == 1 {
					if err := w.Add(spend, []any{key, n % 3, int64(n)}); err != nil {
						t.Fatal(err)
					}
				}
				want = append(want, fmt.Sprintf("%x %d %v %v %v", key, n%3, name, data, n%3 == 1))
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			for _, row := range want {
				var key []byte
				var n int
				if _, err := fmt.Sscanf(row, "%x %d", &key, &n); err != nil {
					t.Fatal(err)
				}
				var name sql.NullString
				var data []byte
				var null bool
				var yes, spent sql.NullInt64
				if err := tx.QueryRow(`SELECT name, data, data IS NULL, yes, spent FROM thing WHERE key = ? AND n = ?`, key, n).Scan(&name, &data, &null, &yes, &spent); err != nil {
					t.Fatalf("%s: %v", row, err)
				}
				number := int64(3*binary.BigEndian.Uint32(key)) + int64(n)
				if name.Valid != (number%5 > 0) || name.String != strings.Repeat("é", int(number%7)) && name.Valid {
					t.Fatalf("%s: name is %v", row, name)
				}
				if null != (number%4 == 0 || number%4 == 3) || number%4 == 2 && !bytes.Equal(data, bytes.Repeat([]byte{byte(number)}, int(number%200))) {
					t.Fatalf("%s: data is %x, absent %t", row, data, null)
				}
				if yes.Int64 != 1-number%2 || spent.Valid != (number%3 == 1) || spent.Valid && spent.Int64 != number {
					t.Fatalf("%s: yes %v, spent %v", row, yes, spent)
				}
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestWhatCannotBeWritten: a duplicate row and a value that no column can hold give an error.
func TestWhatCannotBeWritten(t *testing.T) {
	conn, tx := begun(t)
	w := bulk.NewWriter(conn)
	for range 2 {
		if err := w.Add(things, []any{[]byte{1}, 1, "", nil, true, nil}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err == nil || !strings.Contains(err.Error(), "UNIQUE") {
		t.Errorf("a row that is there twice: %v", err)
	}
	if err := w.Add(things, []any{context.Background()}); err == nil {
		t.Error("a context was taken for a value")
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
