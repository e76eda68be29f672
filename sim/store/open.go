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

// Open opens a finished world. A file that is not one is refused with ErrNotWorld, one of another schema with ErrVersion, and
// one with the log of another file beside it with ErrForeignLog.
func Open(path string) (*DB, error) { return OpenWithin(path, Limits{}) }

// OpenWithin is Open for a file that is one of many.
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

// OpenReadOnly opens a finished world that many processes read at the same time and nobody adds to: until Close, Lock fails elsewhere.
// Nothing is written, neither to the file nor beside it. A file that somebody adds to is refused with ErrInUse.
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

// checked is an open file, once it is known to be one that can be served.
func (db *DB) checked() (*DB, error) {
	recording := make(chan error, 1)
	go func() { // which takes as long as the rest, on the other connection
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
		err = db.readMoment()
	}
	if recorded := <-recording; err == nil {
		err = recorded
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// open connects to the file, or only reads it when it cannot be written.
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

// ReadOnly tells whether nothing can be added to the world.
func (db *DB) ReadOnly() bool { return db.readOnly }

// Lock locks the file: it makes this process the only one that may add to the world, until Close. What is derived from
// the rows is kept in memory, so a second writer would not see what the first one adds.
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

// unwritable reports whether the engine failed because it may not write where it must: the file or, for its log, the
// folder.
func unwritable(err error) bool {
	code := resultCode(err)
	return code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN
}

// resultCode is the engine's code for a failure, without the details; 0 when the engine did not fail.
func resultCode(err error) int {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return 0
	}
	return failure.Code() & 0xff
}

// unwritten says in words that clients can be told why something could not be written, where that is known.
func unwritten(err error) error {
	switch resultCode(err) {
	case sqlite3.SQLITE_READONLY:
		return ErrReadOnly
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return diskError{engineError{err}}
	}
	return err
}

// diskError is ErrDisk with what the engine says.
type diskError struct{ engine engineError }

func (e diskError) Error() string   { return ErrDisk.Error() }
func (e diskError) Unwrap() []error { return []error{ErrDisk, e.engine} }

// share keeps others from adding to the file. A file system that knows no locks has nobody who adds to a file on it.
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

// openReadOnly opens a file that nobody writes, with nothing beside it: it can only be read.
func (db *DB) openReadOnly() (err error) {
	db.readOnly, db.name = true, db.path
	db.read, err = pool(dsn(db.path, cacheSize(readCacheKiB), "mode=ro", "immutable=1"), readers())
	return err
}

// lineage is the row of the table.
type lineage struct {
	Parent []byte `db:"parent"`
	State  []byte `db:"state"`
	Digest []byte `db:"digest"` // of the world, from meta
}

const selectLineage = `SELECT parent, state, digest FROM lineage JOIN meta USING (id) WHERE id = 1`

// checkLineage compares the state of the file with what it follows from.
func (db *DB) checkLineage(ctx context.Context) error {
	row, err := get[lineage](ctx, db, selectLineage)
	if errors.Is(err, ErrNotFound) {
		return nil // Meta says so, too
	}
	if err != nil {
		return err
	}
	if next := dbfile.State(row.Parent).Next(row.Digest); !bytes.Equal(next[:], row.State) {
		return Damaged(fmt.Errorf("lineage: state is %x, it should be %x", row.State, next))
	}
	return nil
}

// proceed gives the file its next state. Nothing of what the world serves depends on the state with which a file begins.
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

// beginSession gives the file itself a state of its own before the first commit to its log: a copy that was made of it before
// cannot take the log for its own.
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
	// Who reads just now may keep the engine from it; then the state comes into the file later.
	checkpoint := fmt.Sprintf(`PRAGMA busy_timeout = 200; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = %d`, busyTimeout)
	if _, err := db.write.Exec(checkpoint); err != nil {
		return err
	}
	db.begun = true
	return nil
}

// checkpoint brings what is in the log into the file, as far as other processes that read let it. The last of them brings the
// rest.
func (db *DB) checkpoint() error {
	if db.write == nil || db.path == Memory || db.final != "" || db.readOnly {
		return nil
	}
	if _, err := db.write.Exec(`PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
		return fmt.Errorf("what was added last could not be brought into %s and is only in %[1]s-wal, keep them together and start again: %w",
			db.path, unwritten(err))
	}
	return nil
}

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
	if err = errors.Join(err, file.Close()); err != nil {
		err = fmt.Errorf("%w (%w)", ErrDisk, err)
	}
	return err
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
