package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Open opens a finished world. A file that is not one is refused with ErrNotWorld, one of another schema with ErrVersion.
func Open(path string) (*DB, error) {
	if err := checkHeader(path); err != nil {
		return nil, err
	}
	db := &DB{path: path, statements: map[string]*stmt{}}
	err := db.connect(path, "WAL")
	if unwritable(err) && !exists(path+"-wal") {
		err = errors.Join(db.disconnect(), db.openReadOnly(path))
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
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
	taken, err := lock(file)
	if err != nil || !taken {
		return fmt.Errorf("%s: %w", db.path, errors.Join(cmp.Or(err, ErrLocked), file.Close()))
	}
	db.lock = file
	return nil
}

// unwritable reports whether the engine failed because it may not write where it must: the file or, for its log, the
// folder.
func unwritable(err error) bool {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return false
	}
	code := failure.Code() & 0xff // without the details
	return code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// openReadOnly opens a file that nobody writes, with nothing beside it: it can only be read.
func (db *DB) openReadOnly(path string) (err error) {
	db.readOnly = true
	db.read, err = pool(dsn(path, cache(readCacheKiB), "mode=ro", "immutable=1"), 4+2*runtime.GOMAXPROCS(0))
	return err
}

// Offsets in the header of a database file, by the file format of SQLite.
const (
	headerLength      = 100
	headerMagic       = "SQLite format 3\x00"
	headerVersion     = 60
	headerApplication = 68
)

// checkHeader reads the header of the file itself, so that a foreign file is not touched. Errors of the file system, such
// as a missing permission, are passed on as they are.
func checkHeader(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, headerLength)
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return errors.Join(ErrNotWorld, err)
	}
	if _, err := io.ReadFull(file, header); err != nil || !strings.HasPrefix(string(header), headerMagic) ||
		binary.BigEndian.Uint32(header[headerApplication:]) != applicationID {
		return ErrNotWorld
	}
	if version := binary.BigEndian.Uint32(header[headerVersion:]); version != schemaVersion {
		return fmt.Errorf("%w (schema %d, this one reads %d)", ErrVersion, version, schemaVersion)
	}
	return nil
}
