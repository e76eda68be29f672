package store

import (
	"bytes"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

// engineWords matches words of the engine and its driver.
var engineWords = regexp.MustCompile(`(?i)sqlite|sql:|constraint|no such|database|converting|scan error|\(\d+\)`)

// TestTheEngineIsHeardInTheLogOnly: after an internal failure the client gets the program's words, and the log the engine's.
func TestTheEngineIsHeardInTheLogOnly(t *testing.T) {
	for _, c := range []struct {
		name, cause string
		fails       func(db *DB) error
	}{
		{"a row that violates a check", "CHECK constraint failed", func(db *DB) error {
			return batched(db, func(b *Batch) error { return b.AddMarket(Market{Chain: 1, Address: hash}) })
		}},
		{"a row that is there already", "UNIQUE constraint failed", func(db *DB) error {
			m := Market{Chain: 1, Address: address}
			return batched(db, func(b *Batch) error { return errors.Join(b.AddMarket(m), b.AddMarket(m)) })
		}},
		{"a table that is gone, read", "no such table", func(db *DB) error {
			db.write.MustExec("DROP TABLE market")
			_, err := db.Markets(t.Context(), 1)
			return err
		}},
		{"a table that is gone, written", "no such table", func(db *DB) error {
			db.write.MustExec("DROP TABLE market")
			return batched(db, func(b *Batch) error { return b.AddMarket(Market{Chain: 1, Address: address}) })
		}},
		{"a value of another kind", "a number is expected", func(db *DB) error {
			_, err := List[int64](t.Context(), db, "SELECT profile FROM meta")
			return err
		}},
		{"a closed file, read", "closed", func(db *DB) error {
			_, err := db.Markets(t.Context(), 1)
			if err != nil {
				return err
			}
			db.read.Close()
			_, err = db.Markets(t.Context(), 1)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := made(t, Memory, writeMeta)
			var log bytes.Buffer
			db.LogFailures(slog.New(slog.NewTextHandler(&log, nil)))
			err := c.fails(db)
			if err == nil {
				t.Fatal("nothing failed")
			}
			if found := engineWords.FindString(err.Error()); found != "" {
				t.Errorf("%q holds %q", err, found)
			}
			if !strings.Contains(log.String(), c.cause) {
				t.Errorf("the log has no %q: %s", c.cause, &log)
			}
		})
	}
}

func batched(db *DB, write func(*Batch) error) error {
	b, err := db.Begin()
	if err != nil {
		return err
	}
	return b.End(write(b))
}
