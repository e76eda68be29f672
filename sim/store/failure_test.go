package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// TestWhoCanMendAnError: an error of the file is internal and has its cause, whatever wraps it. A full disk, a read-only file and a cancelled request
// are not internal.
func TestWhoCanMendAnError(t *testing.T) {
	db := made(t, Memory, writeMeta)
	_, engine := List[int64](t.Context(), db, "SELECT nothing FROM meta")
	plain := errors.New("plain")
	for _, c := range []struct {
		err              error
		internal, caused bool
	}{
		{nil, false, false}, {plain, false, false}, {engine, true, true}, {fmt.Errorf("block 7: %w", engine), true, true}, {Damaged(plain), true, false},
		{FailedDisk(plain), false, true}, {ErrReadOnly, false, false}, {context.Canceled, false, false}, {context.DeadlineExceeded, false, false},
		{errors.Join(engine, context.Canceled), false, true}, {errors.Join(engine, context.DeadlineExceeded), false, true},
	} {
		if Internal(c.err) != c.internal || (Cause(c.err) != nil) != c.caused {
			t.Errorf("%v: internal %t, caused by %v", c.err, Internal(c.err), Cause(c.err))
		}
		if inside := Inside(c.err); Internal(inside) != (c.internal || c.err == plain) || !errors.Is(inside, c.err) {
			t.Errorf("%v comes from inside as %v, internal: %t", c.err, inside, Internal(inside))
		}
	}
	if err := FailedDisk(plain); !errors.Is(err, ErrDisk) || err.Error() != ErrDisk.Error() || Cause(err) != plain {
		t.Errorf("%v, because of %v", err, Cause(err))
	}
}
