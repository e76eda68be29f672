package store

import (
	"bytes"
	"cmp"
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
	sqlite3 "modernc.org/sqlite/lib"

	"snowglobe/sim/store/dbfile"
	"snowglobe/sim/store/filelock"
)

// Open opens a finished world. It returns ErrNotWorld for another kind of file, ErrVersion for another schema, and ErrForeignLog if the log
// beside the file belongs to another one.
func Open(path string) (*DB, error) { return OpenWithin(path, Limits{}) }

// OpenWithin is Open with limits, for one file of many.
func OpenWithin(path string, limits Limits) (*DB, error) {
	if err := dbfile.CheckHeader(path, applicationID, schemaVersion); err != nil {
		return nil, err
	}
	if err := dbfile.CheckLogs(path); err != nil {
		return nil, err
	}
	db := newDB(path)
	db.limits = limits
	if err := db.open(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db.checked()
}

// OpenReadOnly opens a finished world that many processes can read at the same time and none can write: until Close, Lock fails elsewhere. It
// writes neither to the file nor beside it. It refuses a file that another process writes to with ErrInUse.
func OpenReadOnly(path string) (*DB, error) {
	if err := dbfile.CheckHeader(path, applicationID, schemaVersion); err != nil {
		return nil, err
	}
	db := newDB(path)
	err := db.share()
	if err == nil {
		err = db.openReadOnly()
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db.checked()
}

func newDB(path string) *DB {
	return &DB{path: path, statements: map[string]*stmt{}, kept: map[string]*sqlx.Stmt{}}
}

// checked returns an open file after checking that it can be served.
func (db *DB) checked() (*DB, error) {
	recording := make(chan error, 1)
	go func() { // takes as long as the rest, on the other connection
		if db.readOnly {
			recording <- nil
			return
		}
		recording <- db.recordUndo()
	}()
	err := db.CheckSchema(context.Background())
	if err == nil {
		err = db.checkLineage(context.Background())
	}
	if err == nil {
		err = db.readLastCommit()
	}
	if recorded := <-recording; err == nil {
		err = recorded
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// open connects to the file, read-only if it is not writable.
func (db *DB) open() error {
	writable, err := dbfile.Writable(db.path)
	switch {
	case err != nil:
		return err
	case !writable && !dbfile.Exists(db.path+"-wal"):
		return db.openReadOnly()
	}
	db.readOnly = !writable
	err = db.connect(db.path, "WAL")
	if unwritable(err) && !dbfile.Exists(db.path+"-wal") {
		err = errors.Join(db.disconnect(), db.openReadOnly())
	}
	return err
}

// ReadOnly reports whether the world accepts no additions.
func (db *DB) ReadOnly() bool { return db.readOnly }

// Lock locks the file until Close: only this process may add to the world. Data derived from rows stays in memory, so a second writer would
// miss the first one's additions.
func (db *DB) Lock() error {
	if db.path == Memory || db.readOnly {
		return nil
	}
	file, err := os.Open(db.path)
	if err != nil {
		return err
	}
	taken, err := filelock.Lock(file)
	if err != nil || !taken {
		return fmt.Errorf("%s: %w", db.path, errors.Join(cmp.Or(err, dbfile.ErrLocked), file.Close()))
	}
	db.lock = file
	return nil
}

// unwritable reports whether the engine failed for lack of write permission, for the file or, because of its log, for the folder.
func unwritable(err error) bool {
	code := resultCode(err)
	return code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN
}

// resultCode returns the engine's error code without details; 0 if the engine did not fail.
func resultCode(err error) int {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return 0
	}
	return failure.Code() & 0xff
}

// unwritten explains to clients, where possible, why a write failed.
func unwritten(err error) error {
	switch resultCode(err) {
	case sqlite3.SQLITE_READONLY:
		return ErrReadOnly
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return FailedDisk(err)
	}
	return err
}

// FailedDisk returns ErrDisk with its cause. Clients see ErrDisk's words only.
func FailedDisk(cause error) error { return diskError{engineError{cause}} }

// diskError is ErrDisk with the message of the engine or the system.
type diskError struct{ engine engineError }

func (e diskError) Error() string   { return ErrDisk.Error() }
func (e diskError) Unwrap() []error { return []error{ErrDisk, e.engine} }

// share prevents other processes from writing to the file. On a file system without locks no process writes to files.
func (db *DB) share() error {
	file, err := os.Open(db.path)
	if err != nil {
		return err
	}
	db.lock = file // Close closes it
	taken, err := filelock.Share(file)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if log, missing := os.Stat(db.path + "-wal"); err == nil && !taken || missing == nil && log.Size() > 0 {
		return ErrInUse
	}
	return nil
}

// openReadOnly opens a file that has no writer and nothing beside it, for reading only.
func (db *DB) openReadOnly() (err error) {
	db.readOnly, db.name = true, db.path
	db.read, err = pool(dsn(db.path, cacheSize(readCacheKiB), "mode=ro", "immutable=1"), readers())
	return err
}

type lineage struct {
	Parent []byte `db:"parent"`
	State  []byte `db:"state"`
	Digest []byte `db:"digest"` // of the world, from meta
}

const selectLineage = `SELECT parent, state, digest FROM lineage JOIN meta USING (id) WHERE id = 1`

// checkLineage compares the file's state with the data that determines it.
func (db *DB) checkLineage(ctx context.Context) error {
	row, err := Get[lineage](ctx, db, selectLineage)
	if errors.Is(err, ErrNotFound) {
		return nil // Meta reports that too
	}
	if err != nil {
		return err
	}
	if next := dbfile.State(row.Parent).Next(row.Digest); !bytes.Equal(next[:], row.State) {
		return Damaged(fmt.Errorf("lineage: state is %x, but should be %x", row.State, next))
	}
	return nil
}

// proceed gives the file its next state. Nothing that the world serves depends on a file's first state.
func (b *Batch) proceed(digest []byte) error {
	row := lineage{}
	err := b.scan(`SELECT state FROM lineage WHERE id = 1`, nil, &row.State)
	if errors.Is(err, ErrNotFound) {
		err = b.scan(`SELECT randomblob(32)`, nil, &row.State)
	}
	if err != nil {
		return err
	}
	next := dbfile.State(row.State).Next(digest)
	return b.exec(`INSERT OR REPLACE INTO lineage (id, parent, state) VALUES (1, ?, ?)`, row.State, next[:])
}

// beginSession gives the file itself a new state before the first commit to its log: an earlier copy then cannot take the log for its own.
func (db *DB) beginSession() error {
	if db.begun || db.path == Memory || db.final != "" {
		return nil
	}
	var digest []byte
	switch err := db.write.Get(&digest, `SELECT digest FROM meta WHERE id = 1`); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	tx, err := db.write.Beginx()
	if err != nil {
		return err
	}
	b := &Batch{db: db, tx: tx, statements: map[string]*stmt{}}
	if err := b.proceed(digest); err != nil {
		return errors.Join(err, b.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	// A reader may block the engine just now; then the state reaches the file later.
	checkpoint := fmt.Sprintf(`PRAGMA busy_timeout = 200; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = %d`, busyTimeout)
	if _, err := db.write.Exec(checkpoint); err != nil {
		return err
	}
	db.begun = true
	return nil
}

// checkpoint moves the log into the file, as far as reading processes allow. The last of them moves the rest.
func (db *DB) checkpoint() error {
	if db.write == nil || db.path == Memory || db.final != "" || db.readOnly {
		return nil
	}
	if _, err := db.write.Exec(`PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
		return fmt.Errorf("the latest changes are still in %[1]s-wal, because they could not be written to %[1]s; keep both files together and start again: %w",
			db.path, db.refusal(err))
	}
	return nil
}

// View opens the file for reading as of now, on a number of connections: it never shows later commits. Close it before the file. A file in
// memory has no other reader, and View reads it directly.
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
	default: // the holder of the write lock makes all connections begin at the same commit
		var hold *sqlx.Tx
		if hold, err = db.write.BeginTxx(ctx, nil); err == nil {
			err = errors.Join(s.beginReading(ctx, connections), hold.Rollback())
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin to read: %w", db.say(err)), s.Close())
	}
	return s, nil
}

// InMemory reports whether the world has no file.
func (db *DB) InMemory() bool { return db.path == Memory }

// Connections returns the number of connections that verify a file concurrently: a comparison of two tables holds one while it reads from
// another.
func Connections() int { return 4 + 2*runtime.GOMAXPROCS(0) }

var errMoved = errors.New("the world changes all the time; try again")

// beginReading begins a transaction on every connection of the pool, which lasts as long as the connection.
func (db *DB) beginReading(ctx context.Context, connections int) (err error) {
	var begun []*sql.Conn
	var first, digest []byte
	for len(begun) < connections && err == nil {
		var conn *sql.Conn
		if conn, err = db.read.DB.Conn(ctx); err != nil {
			break
		}
		begun = append(begun, conn)
		if _, err = conn.ExecContext(ctx, "BEGIN"); err == nil { // the first read fixes the snapshot
			err = conn.QueryRowContext(ctx, "SELECT digest FROM meta").Scan(&digest)
		}
		switch {
		case errors.Is(err, sql.ErrNoRows):
			err = nil // the read of the world reports its own failure
		case err == nil && first == nil:
			first = digest
		case err == nil && !bytes.Equal(first, digest):
			err = errMoved
		}
	}
	for _, conn := range begun {
		err = errors.Join(err, conn.Close()) // return it to the pool
	}
	return err
}

// Copy makes an independent copy of this database: in memory if this one is, else as a file in a folder. The caller prevents commits
// meanwhile.
func (db *DB) Copy(ctx context.Context, folder string) (_ *DB, err error) {
	c := &DB{path: Memory, statements: map[string]*stmt{}, kept: map[string]*sqlx.Stmt{}}
	if db.path != Memory {
		c.path = filepath.Join(folder, "index.db")
		if err = db.WriteCopy(ctx, c.path); err == nil {
			err = c.connect(c.path, "WAL")
		}
	} else { // an in-memory database exists while a connection has it open
		name := fmt.Sprintf("/snowglobe-%d", memoryFiles.Add(1))
		if err = c.connect(name, "OFF"); err == nil {
			err = db.backup(ctx, dsn(name, "vfs=memdb"))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("copy the world: %w", errors.Join(db.say(err), c.disconnect()))
	}
	return c, nil
}

// WriteCopy writes a copy of this database to a new file. The caller prevents commits meanwhile: then pages may still move from the log to
// the file, but the log, which is copied too, does not change. Under its final name the file is always complete.
func (db *DB) WriteCopy(ctx context.Context, path string) error {
	if dbfile.Exists(path) {
		return ErrExists
	}
	if err := dbfile.RemoveUnfinished(path); err != nil {
		return err
	}
	if err := db.writeCopy(ctx, path); err != nil {
		return errors.Join(err, dbfile.RemoveUnfinished(path))
	}
	return os.Rename(dbfile.Unfinished(path), path)
}

func (db *DB) writeCopy(ctx context.Context, path string) error {
	if db.path == Memory {
		if err := db.backup(ctx, dsn(dbfile.Unfinished(path), "_pragma=journal_mode(OFF)", "_pragma=synchronous(OFF)")); err != nil {
			return err
		}
		return prepareLog(dbfile.Unfinished(path))
	}
	if err := copyFile(db.path, dbfile.Unfinished(path)); err != nil {
		return err
	}
	if err := copyFile(db.path+"-wal", path+"-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// prepareLog marks the header as having a write-ahead log: otherwise the first opening would, with a rollback journal beside the file, which
// another process that opens the file just then would refuse as foreign.
func prepareLog(path string) error {
	file, err := pool(dsn(path, "_pragma=journal_mode(WAL)"), 1)
	if err != nil {
		return err
	}
	return file.Close()
}

// copyFile copies a file by the system's own means, which share identical blocks where the file system can.
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
	if err = errors.Join(err, file.Close()); err != nil {
		err = FailedDisk(err)
	}
	return err
}

// backup copies the database with the engine's backup API.
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
	return db.say(errors.Join(err, source.Close()))
}
