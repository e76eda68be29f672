package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"snowglobe/sim/store/filelock"
)

// Open opens a finished world. A file that is not one is refused with ErrNotWorld, one of another schema with ErrVersion, and
// one with the log of another file beside it with ErrForeignLog.
func Open(path string) (*DB, error) { return OpenWithin(path, Limits{}) }

// OpenWithin is Open for a file that is one of many.
func OpenWithin(path string, limits Limits) (*DB, error) {
	if err := checkHeader(path); err != nil {
		return nil, err
	}
	if err := checkLogs(path); err != nil {
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
	if err := checkHeader(path); err != nil {
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
	err := db.CheckSchema(context.Background())
	if err == nil {
		err = db.checkLineage(context.Background())
	}
	if err == nil && !db.readOnly {
		err = db.recordUndo()
	}
	if err == nil {
		err = db.readMoment()
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// open connects to the file, or only reads it when it cannot be written.
func (db *DB) open() error {
	writable, err := canWrite(db.path)
	switch {
	case err != nil:
		return err
	case !writable && !exists(db.path+"-wal"):
		return db.openReadOnly()
	}
	db.readOnly = !writable
	err = db.connect(db.path, "WAL")
	if unwritable(err) && !exists(db.path+"-wal") {
		err = errors.Join(db.disconnect(), db.openReadOnly())
	}
	return err
}

// ReadOnly tells whether nothing can be added to the world.
func (db *DB) ReadOnly() bool { return db.readOnly }

// canWrite tells whether the file itself can be written.
func canWrite(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, file.Close()
}

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
		return fmt.Errorf("%s: %w", db.path, errors.Join(cmp.Or(err, ErrLocked), file.Close()))
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
		return fmt.Errorf("%w (%w)", ErrDisk, err)
	}
	return err
}

// occupied says whether there is something at a path that a new world must not replace: anything but an empty file.
func occupied(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !(info.Mode().IsRegular() && info.Size() == 0)
}

// SetAside renames a file and its log to the first name that is free of FILE.old, FILE.old.1, FILE.old.2 and so on. What a process
// serves stays where it is.
func SetAside(path string) error {
	if err := checkKind(path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	taken, err := filelock.Lock(file)
	if err = errors.Join(err, file.Close()); err != nil || !taken {
		return fmt.Errorf("%s: %w", path, cmp.Or(err, ErrLocked))
	}
	as := path + ".old"
	for n := 1; exists(as) || exists(as+"-wal"); n++ {
		as = fmt.Sprintf("%s.old.%d", path, n)
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Rename(path+suffix, as+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

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

// Offsets in the header of a database file, by the file format of SQLite.
const (
	headerLength      = 100
	headerMagic       = "SQLite format 3\x00"
	headerPageSize    = 16
	headerVersion     = 60
	headerApplication = 68
)

// checkHeader reads the header of the file itself, so that a foreign file is not touched. Errors of the file system, such
// as a missing permission, are passed on as they are.
func checkHeader(path string) error {
	if err := checkKind(path); err != nil { // to open a named pipe is to wait for who writes into it
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, headerLength)
	if _, err := io.ReadFull(file, header); err != nil || !strings.HasPrefix(string(header), headerMagic) ||
		binary.BigEndian.Uint32(header[headerApplication:]) != applicationID {
		return ErrNotWorld
	}
	if version := binary.BigEndian.Uint32(header[headerVersion:]); version != schemaVersion {
		return fmt.Errorf("%w (schema %d, this one reads %d)", ErrVersion, version, schemaVersion)
	}
	return nil
}

// checkKind fails with ErrNotWorld for what is no file.
func checkKind(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: it is %s", ErrNotWorld, kindOf(info.Mode()))
	}
	return err
}

func kindOf(mode os.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&os.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&os.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// makingLock is held by the process that makes a file.
type makingLock struct {
	path string
	file *os.File
}

// lockMaking takes the lock at a path, or fails with ErrMaking when another process has it.
func lockMaking(path string) (*makingLock, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		taken, err := filelock.Lock(file)
		if err != nil || !taken {
			return nil, errors.Join(cmp.Or(err, ErrMaking), file.Close())
		}
		mine, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if now, err := os.Stat(path); err == nil && os.SameFile(mine, now) {
			return &makingLock{path, file}, nil
		}
		if err := file.Close(); err != nil { // who had it before has removed it meanwhile
			return nil, err
		}
	}
}

// release gives the lock back. Where a file that is open cannot be removed, as on Windows, it is removed once it is closed, and
// stays when another process has it by then.
func (l *makingLock) release() error {
	kept := os.Remove(l.path)
	err := l.file.Close()
	if kept != nil {
		_ = os.Remove(l.path)
	}
	return err
}
