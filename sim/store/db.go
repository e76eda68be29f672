package store

import (
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // the database engine, pure Go
)

const (
	// Memory is the file name of a world that lives only as long as the process.
	Memory = ":memory:"

	applicationID = 0x534e4f57 // "SNOW"
	schemaVersion = 2

	writeCacheKiB = 16 << 10 // page cache of the connection that writes,
	readCacheKiB  = 4 << 10  // and of each that reads: the operating system caches the file, too
)

//go:embed schema.sql
var schema string

//go:embed indexes.sql
var indexes string

//go:embed primary.sql
var primarySchema string

//go:embed primary_indexes.sql
var primaryIndexes string

var (
	// ErrNotWorld says that a file is not a world at all.
	ErrNotWorld = errors.New("the file is not a Snowglobe world")
	// ErrVersion says that another generator version made the file.
	ErrVersion = errors.New("the file was made by another version of Snowglobe")
	// ErrLocked says that another process serves a world.
	ErrLocked = errors.New("another process serves this world; stop it, copy the file, or name another one with --db")
	// ErrReadOnly says that nothing can be added to a world, because its file or its folder cannot be written.
	ErrReadOnly = errors.New("the world cannot change: its file or its folder is not writable")
)

var memoryFiles atomic.Int64 // numbers the in-memory databases of this process

// DB is one world's file: one connection that writes and a pool that only reads.
type DB struct {
	write *sqlx.DB
	read  *sqlx.DB

	path     string   // the file, or Memory
	lock     *os.File // held by Lock
	readOnly bool     // neither the file nor anything beside it can be written
	final    string   // where path is renamed to when it is whole; empty once done

	commits        atomic.Int64
	tokenCommits   atomic.Int64
	primaryCommits atomic.Int64

	mu         sync.RWMutex
	statements map[string]*stmt // prepared on the reading pool, by text
}

// Create makes an empty world. Nothing appears at path before Finish: until then everything is in a temporary file
// beside it, which Close removes.
func Create(path string) (*DB, error) {
	db := &DB{path: path, statements: map[string]*stmt{}}
	name := path
	if path == Memory {
		name = fmt.Sprintf("/snowglobe-%d", memoryFiles.Add(1))
	} else {
		db.final, db.path, name = path, path+".tmp", path+".tmp"
		if err := clearLeftover(name); err != nil {
			return nil, err
		}
	}
	if err := db.connect(name, "OFF"); err != nil {
		return nil, err
	}
	setup := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, schemaVersion)
	if _, err := db.write.Exec(setup + schema + primarySchema); err != nil {
		return nil, errors.Join(fmt.Errorf("create the schema: %w", err), db.Close())
	}
	return db, nil
}

// clearLeftover removes the temporary file of a generation that was killed, unless another process is writing it right now.
func clearLeftover(path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	probe, err := sqlx.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_txlock=immediate")
	if err != nil {
		return err
	}
	defer probe.Close()
	if tx, err := probe.Begin(); err == nil {
		_ = tx.Rollback() // nothing was written
	} else if strings.Contains(err.Error(), "SQLITE_BUSY") {
		return fmt.Errorf("another process is making %s right now", strings.TrimSuffix(path, ".tmp"))
	}
	return os.Remove(path)
}

func dsn(name string, options ...string) string {
	query := "_pragma=busy_timeout(10000)"
	for _, option := range options {
		query += "&" + option
	}
	return "file:" + (&url.URL{Path: name}).EscapedPath() + "?" + query
}

func cache(kibibytes int) string { return "_pragma=cache_size(-" + strconv.Itoa(kibibytes) + ")" }

// connect opens both pools. While a world is generated there is no journal: a file that is not finished is thrown away.
func (db *DB) connect(name, journal string) error {
	var vfs []string
	if db.path == Memory {
		vfs = []string{"vfs=memdb"}
	}
	sync := "NORMAL"
	if journal == "OFF" {
		sync = "OFF"
	}
	write := append([]string{cache(writeCacheKiB), "_pragma=journal_mode(" + journal + ")", "_pragma=synchronous(" + sync + ")", "_txlock=immediate"}, vfs...)
	read := append([]string{cache(readCacheKiB), "_pragma=query_only(1)"}, vfs...)
	var err error
	if db.write, err = pool(dsn(name, write...), 1); err != nil {
		return err
	}
	db.read, err = pool(dsn(name, read...), 4+2*runtime.GOMAXPROCS(0))
	return err
}

// pool opens connections that stay open, and keeps their prepared statements with them.
func pool(dsn string, size int) (*sqlx.DB, error) {
	db, err := sqlx.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	if err := db.Ping(); err != nil {
		return nil, fmt.Errorf("open the database: %w", errors.Join(err, db.Close()))
	}
	return db, nil
}

// Finish makes the secondary indexes, brings the file to disk whole, gives it its final name and opens it for serving.
// It gathers no statistics: with them the engine prepares a statement anew for every range that it is given, and a
// small world would be read in another way than a large one.
func (db *DB) Finish() error {
	if _, err := db.write.Exec(indexes + primaryIndexes); err != nil {
		return fmt.Errorf("create the indexes: %w", err)
	}
	if db.path == Memory {
		return nil
	}
	if err := db.disconnect(); err != nil {
		return err
	}
	if err := syncFile(db.path); err != nil {
		return err
	}
	if err := os.Rename(db.path, db.final); err != nil {
		return err // Close removes what could not be renamed
	}
	db.path, db.final = db.final, ""
	return db.connect(db.path, "WAL")
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Close checkpoints and closes the file, so that exactly one is left. An unfinished world is removed.
func (db *DB) Close() error {
	err := db.disconnect()
	if db.lock != nil { // closed last: the system drops the engine's locks with any handle of the file
		err = errors.Join(err, db.lock.Close())
	}
	if db.final != "" {
		err = errors.Join(err, os.Remove(db.path))
	}
	return err
}

// Commits counts the commits since the file was opened: while it stays the same, so does the world.
func (db *DB) Commits() int64 { return db.commits.Load() }

// TokenCommits counts the commits that brought a token, a contract or a market since the file was opened: while it stays
// the same, no token has a new name or price series.
func (db *DB) TokenCommits() int64 { return db.tokenCommits.Load() }

// PrimaryCommits counts the commits that brought a block to a P-, X- or C-Chain of UTXOs since the file was opened: while it
// stays the same, so do their stakers and outputs.
func (db *DB) PrimaryCommits() int64 { return db.primaryCommits.Load() }

// disconnect closes the readers first: the last connection to close, the writer, then clears the write-ahead log.
func (db *DB) disconnect() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	var errs []error
	for _, statement := range db.statements {
		errs = append(errs, statement.Close())
	}
	clear(db.statements)
	for _, pool := range []*sqlx.DB{db.read, db.write} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// prepared is the reading statement with this text, prepared once.
func (db *DB) prepared(text string) (*stmt, error) {
	db.mu.RLock()
	statement := db.statements[text]
	db.mu.RUnlock()
	if statement != nil {
		return statement, nil
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if statement = db.statements[text]; statement != nil {
		return statement, nil
	}
	prepared, err := db.read.Preparex(text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	statement = &stmt{Stmt: prepared}
	db.statements[text] = statement
	return statement, nil
}
