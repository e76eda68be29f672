package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
)

// Snapshot opens the file for reading as it is at this moment, on so many connections: nothing that is committed later is
// seen. It is closed before the file is. One in memory has no other reader, and is read as it is.
func (db *DB) Snapshot(ctx context.Context, connections int) (*DB, error) {
	s := &DB{path: db.path, name: db.name, readOnly: true, statements: map[string]*stmt{}}
	options := []string{cache(readCacheKiB), "_pragma=query_only(1)"}
	switch {
	case db.path == Memory:
		options = append(options, "vfs=memdb")
	case db.readOnly:
		options = append(options, "mode=ro", "immutable=1")
	}
	var err error
	if s.read, err = pool(dsn(db.name, options...), connections); err != nil {
		return nil, err
	}
	if db.path == Memory || db.readOnly {
		return s, nil
	}
	// Who holds the write lock sees to it that all connections begin at the same commit.
	hold, err := db.write.BeginTxx(ctx, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin to read: %w", err), s.Close())
	}
	if err := errors.Join(s.beginReading(ctx, connections), hold.Rollback()); err != nil {
		return nil, errors.Join(fmt.Errorf("begin to read: %w", err), s.Close())
	}
	return s, nil
}

// InMemory says that the world has no file.
func (db *DB) InMemory() bool { return db.path == Memory }

// Connections is how many connections read a file at the same time.
func Connections() int { return 4 + 2*runtime.GOMAXPROCS(0) }

// beginReading begins a transaction on every connection of the pool. It lasts as long as the connection: nothing ends it.
func (db *DB) beginReading(ctx context.Context, connections int) (err error) {
	begun := make([]*sql.Conn, 0, connections)
	for range connections {
		conn, failed := db.read.DB.Conn(ctx)
		if failed != nil {
			err = failed
			break
		}
		begun = append(begun, conn)
		if _, err = conn.ExecContext(ctx, "BEGIN"); err != nil {
			break
		}
		var id int
		if err = conn.QueryRowContext(ctx, "SELECT count(*) FROM meta").Scan(&id); err != nil { // the first read takes the moment
			break
		}
	}
	for _, conn := range begun {
		err = errors.Join(err, conn.Close()) // back to the pool
	}
	return err
}
