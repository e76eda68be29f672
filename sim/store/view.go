package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
)

// View opens the file for reading as it is at this moment, on so many connections: nothing that is committed later is
// seen. It is closed before the file is. One in memory has no other reader, and is read as it is.
func (db *DB) View(ctx context.Context, connections int) (*DB, error) {
	s := &DB{path: db.path, name: db.name, readOnly: true, statements: map[string]*stmt{}}
	options := []string{cacheSize(readCacheKiB), "_pragma=query_only(1)"}
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

// Copy makes a database of its own out of this one as it is now: in memory when this one is, else a file in a folder. The caller
// sees to it that nothing is committed meanwhile.
func (db *DB) Copy(ctx context.Context, folder string) (_ *DB, err error) {
	c := &DB{path: Memory, statements: map[string]*stmt{}, kept: map[string]*sqlx.Stmt{}}
	if db.path != Memory {
		c.path = filepath.Join(folder, "index.db")
		if err = db.WriteCopy(ctx, c.path); err == nil {
			err = c.connect(c.path, "WAL")
		}
	} else { // what is in memory lasts as long as somebody has it open
		name := fmt.Sprintf("/snowglobe-%d", memoryFiles.Add(1))
		if err = c.connect(name, "OFF"); err == nil {
			err = db.backup(ctx, dsn(name, "vfs=memdb"))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("copy the world: %w", errors.Join(err, c.disconnect()))
	}
	return c, nil
}

// WriteCopy writes this database as it is now into a new file. The caller sees to it that nothing is committed meanwhile: then the pages
// of a file may still come out of its log, which is copied with it, but the log does not change. Under its name the file is always whole.
func (db *DB) WriteCopy(ctx context.Context, path string) error {
	if exists(path) {
		return ErrExists
	}
	if err := RemoveUnfinished(path); err != nil {
		return err
	}
	if err := db.writeCopy(ctx, path); err != nil {
		return errors.Join(err, RemoveUnfinished(path))
	}
	return os.Rename(unfinished(path), path)
}

func (db *DB) writeCopy(ctx context.Context, path string) error {
	if db.path == Memory {
		if err := db.backup(ctx, dsn(unfinished(path), "_pragma=journal_mode(OFF)", "_pragma=synchronous(OFF)")); err != nil {
			return err
		}
		return prepareLog(unfinished(path))
	}
	if err := copyFile(db.path, unfinished(path)); err != nil {
		return err
	}
	if err := copyFile(db.path+"-wal", path+"-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// prepareLog writes into the header that the file has a write-ahead log: otherwise the first opening would write it, with a rollback
// journal beside the file, which another process that opens the file just then would take for a foreign one.
func prepareLog(path string) error {
	file, err := pool(dsn(path, "_pragma=journal_mode(WAL)"), 1)
	if err != nil {
		return err
	}
	return file.Close()
}

// copyFile copies a file by the means of the system, which has no need to read it where the file system shares what is the same.
func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, source)
	return errors.Join(err, file.Close())
}

// backup copies the database by the engine's own means.
func (db *DB) backup(ctx context.Context, to string) error {
	source, err := db.write.DB.Conn(ctx)
	if err != nil {
		return err
	}
	err = source.Raw(func(driver any) error {
		b, err := driver.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		}).NewBackup(to)
		if err != nil {
			return err
		}
		_, err = b.Step(-1)
		return errors.Join(err, b.Finish())
	})
	return errors.Join(err, source.Close())
}
