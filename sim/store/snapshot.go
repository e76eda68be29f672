package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"

	"github.com/jmoiron/sqlx"
)

// Snapshot opens the file for reading as it is at this moment, on so many connections: nothing that is committed later is
// seen. It is closed before the file is. One in memory has no other reader, and is read as it is.
func (db *DB) Snapshot(ctx context.Context, connections int) (*DB, error) {
	s := &DB{path: db.path, name: db.name, readOnly: true, statements: map[string]*stmt{}}
	options := []string{cache(readCacheKiB), "_pragma=query_only(1)"}
	switch {
	case db.path == Memory:
		options = append(options, "vfs=memdb")
	case db.write == nil:
		options = append(options, "mode=ro", "immutable=1")
	}
	var err error
	if s.read, err = pool(dsn(db.name, options...), connections); err != nil {
		return nil, err
	}
	switch {
	case db.path == Memory || db.write == nil:
	case db.readOnly:
		err = s.beginReading(ctx, connections)
	default: // who holds the write lock sees to it that all connections begin at the same commit
		var hold *sqlx.Tx
		if hold, err = db.write.BeginTxx(ctx, nil); err == nil {
			err = errors.Join(s.beginReading(ctx, connections), hold.Rollback())
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin to read: %w", err), s.Close())
	}
	return s, nil
}

// InMemory says that the world has no file.
func (db *DB) InMemory() bool { return db.path == Memory }

// Connections is how many connections verify a file at the same time: what compares two tables holds one while it reads on by
// another.
func Connections() int { return 4 + 2*runtime.GOMAXPROCS(0) }

var errMoved = errors.New("the world changes all the time; try again")

// beginReading begins a transaction on every connection of the pool. It lasts as long as the connection: nothing ends it.
func (db *DB) beginReading(ctx context.Context, connections int) (err error) {
	var begun []*sql.Conn
	var first, digest []byte
	for len(begun) < connections && err == nil {
		var conn *sql.Conn
		if conn, err = db.read.DB.Conn(ctx); err != nil {
			break
		}
		begun = append(begun, conn)
		if _, err = conn.ExecContext(ctx, "BEGIN"); err == nil { // the first read takes the moment
			err = conn.QueryRowContext(ctx, "SELECT digest FROM meta").Scan(&digest)
		}
		switch {
		case errors.Is(err, sql.ErrNoRows):
			err = nil // who reads the world says that it does not tell what it is
		case err == nil && first == nil:
			first = digest
		case err == nil && !bytes.Equal(first, digest):
			err = errMoved
		}
	}
	for _, conn := range begun {
		err = errors.Join(err, conn.Close()) // back to the pool
	}
	return err
}
