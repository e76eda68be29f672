// Package store is the SQLite file that holds a world, and the only place with SQL.
//
// A world is made with Create, which writes into a temporary file next to the final one and renames it when it is
// whole, or opened with Open. One connection writes; many read-only connections read and never wait for it.
//
// What is added to an open world is in FILE-wal first, and in the file once that is closed. The log of another file is
// recognised and never applied.
//
// There is a file for each noun, with the struct of its rows, the statements that read them and the one that writes them.
// Rows are plain structs whose db tags name the columns; a type named View is a row joined with what lists show beside it.
// A [Batch] writes everything that one or more blocks add, in one transaction, together with the roll-ups of the metrics.
//
// The tables are described in schema.sql (EVM chains) and primary.sql (P-, X- and the atomic part of C-Chains). A
// [Position] is the key of blocks, transactions and logs, and the cursor of pages.
package store

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // the database engine, pure Go
	sqlite3 "modernc.org/sqlite/lib"

	"snowglobe/sim/cache"
	"snowglobe/sim/store/dbfile"
	"snowglobe/sim/store/undo"
)

const (
	// Memory is the file name of a world that lives only as long as the process.
	Memory = ":memory:"

	applicationID = 0x534e4f57 // "SNOW"
	schemaVersion = 9

	busyTimeout = 10_000 // milliseconds for which one process waits for another's lock

	// Page cache of the connection that makes a world, of the one that writes while it is served, and of each that reads: the operating
	// system caches the file, too. Reading is as fast with 128 KiB as with 4 MiB. A page takes twice its size in memory, and the engine
	// lets connections have what others do not use.
	makeCacheKiB  = 16 << 10
	indexCacheKiB = 128 << 10 // in which an index is sorted: what does not fit goes through temporary files
	writeCacheKiB = 4 << 10
	readCacheKiB  = 128

	pageSize = 4096 // the engine's own choice

	largestCompacted = 256 << 20 // bytes of a file that is written anew once it is made

	// How many pages are in the log before the engine brings them into the file, four times its own choice: blocks write the same pages
	// again and again, and each comes into the file once.
	checkpointEvery = "_pragma=wal_autocheckpoint(4000)"
)

// Limits are what an open file may take. The zero value is for the one that a process serves alone.
type Limits struct {
	Readers  int           // connections that read
	CacheKiB int           // page cache of the connection that writes
	Idle     time.Duration // after which a connection that reads is closed, with its cache and statements; 0 for never
	Bytes    int64         // how large the file may become; 0 for any size
}

//go:embed schema.sql
var schema string

//go:embed indexes.sql
var indexes string

//go:embed primary.sql
var primarySchema string

//go:embed primary_indexes.sql
var primaryIndexes string

var (
	// ErrExists says that there is a file where one is to be made.
	ErrExists = errors.New("exists already")
	// ErrDisk says that something could not be written, mostly for want of room. It can be tried again.
	ErrDisk = errors.New("the world cannot change now: its disk is full or fails")
	// ErrReadOnly says that nothing can be added to a world, because its file or its folder cannot be written, or is not to be.
	ErrReadOnly = errors.New("the world cannot change: its file or its folder is not writable, or it is served with --read-only")
	// ErrInUse says that a file cannot be read on its own: what was added last is in a log beside it.
	ErrInUse = errors.New("cannot be opened with --read-only while another process adds to it, or after one that was killed; stop it, or open the file once without the flag, which brings the log beside it into the file")
)

var memoryFiles atomic.Int64 // numbers the in-memory databases of this process

// DB is one world's file: one connection that writes and a pool that only reads.
type DB struct {
	write *sqlx.DB
	read  *sqlx.DB

	path     string   // the file, or Memory
	name     string   // by which the engine knows it
	lock     *os.File // held by Lock, or with others by OpenReadOnly
	making   *dbfile.MakingLock
	readOnly bool // neither the file nor anything beside it can be written
	begun    bool // whether beginSession is done
	closed   bool
	final    string // where path is renamed to when it is whole; empty once done
	replaces bool   // a file that is there then, which is set aside
	limits   Limits

	log            atomic.Pointer[slog.Logger] // of what the engine says; nil for none
	opened         opened
	caches         cache.Group // of what was read
	avaxIDs        sync.Map    // by the X-Chains, which begin with them
	commits        atomic.Int64
	tokenCommits   atomic.Int64
	primaryCommits atomic.Int64

	mu         sync.RWMutex
	statements map[string]*stmt // prepared on the reading pool, by text

	gathers  bool           // batches gather rows: the world is new, and has no secondary indexes yet
	indexed  bool           // a world under generation has its secondary indexes
	recorder *undo.Recorder // of what undoes commits; nil while a world is generated or only read
	moment   atomic.Pointer[Moment]

	kept   map[string]*sqlx.Stmt // prepared on the connection that writes, by text; used within a batch only, as is the next
	rollup *rollup               // nil before the first block, and after a batch that failed
}

// Create makes an empty world. Nothing appears at path before Finish: until then everything is in a temporary file
// beside it, which Close removes. Only one process at a time makes a file, the others fail with ErrMaking; a file that is
// there already is ErrExists.
func Create(path string) (*DB, error) { return create(path, false) }

// CreateAnew is Create in the place of a file that may be there already, which is set aside by Finish: as long as the new one is not whole,
// or will not be, it stays where it is.
func CreateAnew(path string) (*DB, error) { return create(path, true) }

func create(path string, replaces bool) (*DB, error) {
	db := newDB(path)
	db.gathers, db.replaces = true, replaces
	name := path
	if path == Memory {
		name = fmt.Sprintf("/snowglobe-%d", memoryFiles.Add(1))
	} else {
		db.final, db.path, name = path, dbfile.Unfinished(path), dbfile.Unfinished(path)
		if err := db.claimName(); err != nil {
			return nil, err
		}
	}
	if err := db.connect(name, "OFF"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	setup := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, schemaVersion)
	if _, err := db.write.Exec(setup + schema + primarySchema); err != nil {
		return nil, errors.Join(fmt.Errorf("create the schema: %w", err), db.Close())
	}
	return db, nil
}

// claimName makes this process the only one that makes the file, and removes what generations that were killed have left in its folder.
func (db *DB) claimName() (err error) {
	dbfile.RemoveAbandoned(filepath.Dir(db.final))
	if db.making, err = dbfile.Lock(dbfile.LockOf(db.final)); err != nil {
		return err
	}
	if !db.replaces && dbfile.Occupied(db.final) {
		return errors.Join(cmp.Or(dbfile.CheckKind(db.final), ErrExists), db.making.Release())
	}
	if err := dbfile.Remove(db.path); err != nil {
		return errors.Join(err, db.making.Release())
	}
	return nil
}

func dsn(name string, options ...string) string {
	query := fmt.Sprintf("_pragma=busy_timeout(%d)", busyTimeout)
	for _, option := range options {
		query += "&" + option
	}
	return "file:" + (&url.URL{Path: name}).EscapedPath() + "?" + query
}

func cacheSize(kibibytes int) string { return "_pragma=cache_size(-" + strconv.Itoa(kibibytes) + ")" }

// connect opens both pools. While a world is generated there is no journal: a file that is not finished is thrown away.
func (db *DB) connect(name, journal string) error {
	db.name = name
	var vfs []string
	if db.path == Memory {
		vfs = []string{"vfs=memdb"}
	}
	sync, cacheKiB := "NORMAL", cmp.Or(db.limits.CacheKiB, writeCacheKiB)
	if journal == "OFF" {
		sync, cacheKiB = "OFF", makeCacheKiB
	}
	write := append([]string{cacheSize(cacheKiB), "_pragma=journal_mode(" + journal + ")", "_pragma=synchronous(" + sync + ")", checkpointEvery, "_txlock=immediate"}, vfs...)
	read := append([]string{cacheSize(readCacheKiB), "_pragma=query_only(1)"}, vfs...)
	connected := make(chan error, 1)
	go func() (err error) { // each connection reads the schema, which takes a tenth of a start
		defer func() { connected <- err }()
		db.read, err = pool(dsn(name, read...), cmp.Or(db.limits.Readers, readers()))
		return err
	}()
	var err error
	db.write, err = pool(dsn(name, write...), 1)
	if read := <-connected; err == nil {
		err = read
	}
	if err != nil {
		return err
	}
	db.opened.set(name)
	db.read.SetConnMaxIdleTime(db.limits.Idle)
	if db.limits.Bytes == 0 {
		return nil
	}
	_, err = db.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", max(db.limits.Bytes/pageSize, 1)))
	return err
}

// readers is how many connections read: enough to keep all processors busy. Each takes some 2 MiB in the end: its prepared
// statements 0.7, the schema 0.2, the rest pages.
func readers() int { return min(1+runtime.GOMAXPROCS(0), 8) }

// pool opens connections that stay open, and keeps their prepared statements with them.
func pool(dsn string, size int) (*sqlx.DB, error) {
	db, err := sqlx.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	if err := db.Ping(); err != nil {
		code, err := resultCode(err), fmt.Errorf("open the database: %w", errors.Join(err, db.Close()))
		if code == sqlite3.SQLITE_CORRUPT {
			err = Damaged(err)
		}
		return nil, err
	}
	return db, nil
}

// Index makes the secondary indexes, if they are not there yet.
func (db *DB) Index() error {
	if db.indexed {
		return nil
	}
	text := fmt.Sprintf("PRAGMA cache_size = -%d;", indexCacheKiB) + indexes + primaryIndexes + fmt.Sprintf("PRAGMA cache_size = -%d;", makeCacheKiB)
	if _, err := db.write.Exec(text); err != nil {
		return fmt.Errorf("create the indexes: %w", err)
	}
	db.gathers, db.indexed = false, true
	return nil
}

// compact writes the tables anew, each in the order of its key. Rows that came in another order have left a tenth of their pages empty,
// which is less than the time and the second file are worth that a large world would need for it.
func (db *DB) compact() error {
	size, err := db.Size(context.Background())
	if db.path == Memory || size > largestCompacted || err != nil {
		return err
	}
	if _, err := db.write.Exec(`VACUUM INTO ?`, dbfile.Compacted(db.path)); err != nil {
		return fmt.Errorf("write the tables anew: %w", err)
	}
	if err := errors.Join(db.disconnect(), os.Rename(dbfile.Compacted(db.path), db.path)); err != nil {
		return err
	}
	return db.connect(db.path, "OFF")
}

// Finish makes the secondary indexes, brings the file to disk whole, gives it its final name and opens it for serving.
// It gathers no statistics: with them the engine prepares a statement anew for every range that it is given, and a
// small world would be read in another way than a large one.
func (db *DB) Finish() error {
	if err := errors.Join(db.compact(), db.Index()); err != nil {
		return err
	}
	if db.path == Memory {
		return db.RecordUndo()
	}
	// The header says already that there is a write-ahead log: otherwise the first opening would say so, with a rollback
	// journal beside the file.
	if _, err := db.write.Exec("PRAGMA journal_mode = WAL"); err != nil {
		return fmt.Errorf("prepare the file for serving: %w", err)
	}
	if err := db.disconnect(); err != nil {
		return err
	}
	if err := syncFile(db.path); err != nil {
		return err
	}
	if err := db.publish(); err != nil {
		return err // Close removes what has no final name
	}
	if err := db.connect(db.path, "WAL"); err != nil {
		return err
	}
	return db.RecordUndo()
}

// publish gives the file its final name. What a file of that name, which is gone, left beside it would be taken for the log
// of this one.
func (db *DB) publish() error {
	if dbfile.Occupied(db.final) {
		if !db.replaces {
			return fmt.Errorf("%s %w", db.final, ErrExists)
		}
		if err := dbfile.SetAside(db.final); err != nil {
			return err
		}
	}
	if err := dbfile.RemoveFiles(db.final+"-wal", db.final+"-shm", db.final+"-journal"); err != nil {
		return err
	}
	if err := os.Rename(db.path, db.final); err != nil {
		return err
	}
	db.path, db.final = db.final, ""
	making := db.making
	db.making = nil
	return making.Release()
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Close brings everything into the file and closes it, so that exactly one is left. What cannot be brought there stays in the
// log, and the error says so. An unfinished world is removed.
func (db *DB) Close() error {
	if db.closed {
		return nil
	}
	db.closed = true
	err := errors.Join(db.checkpoint(), db.disconnect())
	if db.lock != nil { // closed last: the system drops the engine's locks with any handle of the file
		err = errors.Join(err, db.lock.Close())
	}
	if db.final != "" {
		err = errors.Join(err, dbfile.Remove(db.path))
	}
	if db.making != nil {
		err = errors.Join(err, db.making.Release())
	}
	return err
}

// Path is the file, or Memory.
func (db *DB) Path() string { return db.path }

// Size is how many bytes the database has, in memory as in a file.
func (db *DB) Size(ctx context.Context) (pages int64, err error) {
	err = db.read.GetContext(ctx, &pages, `PRAGMA page_count`)
	return pages * pageSize, err
}

// Caches are those of what is read of the file. They are cleared when the world goes back.
func (db *DB) Caches() *cache.Group { return &db.caches }

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
	clear(db.kept) // closed with their connection
	db.rollup = nil
	if db.recorder != nil {
		errs = append(errs, db.stopRecording())
	}
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
		return nil, db.noted(failed(text, err))
	}
	statement = &stmt{Stmt: prepared}
	db.statements[text] = statement
	return statement, nil
}
