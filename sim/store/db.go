// Package store is the SQLite file that holds a world, and the only place with SQL.
//
// Create makes a world in a temporary file beside the final one and renames it when it is complete; Open opens a finished one. One
// connection writes; many read-only connections read and never wait for it.
//
// Additions to an open world go to FILE-wal first, and into the file on Close. The package recognises another file's log and never applies
// it.
//
// There is a Go file for each noun, with the struct of its rows, the statements that read them and the one that writes them. Rows are plain
// structs whose db tags name the columns; a type named View is a row joined with what lists show beside it. A [Batch] writes everything
// that one or more blocks add, in one transaction, together with the roll-ups of the metrics.
//
// schema.sql (EVM chains) and primary.sql (P-, X- and the atomic part of C-Chains) describe the tables. A [Position] is the key of blocks,
// transactions and logs, and the cursor of pages.
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
	// Memory is the file name of a world that lives only in this process.
	Memory = ":memory:"

	applicationID = 0x534e4f57 // "SNOW"
	schemaVersion = 12

	busyTimeout = 10_000 // milliseconds to wait for another process's lock

	// Page cache of the connection that makes a world, of the one that writes to an open world, and of each reader: the operating system
	// caches the file, too. Reading is as fast with 128 KiB as with 4 MiB. A page takes twice its size in memory, and connections share
	// unused cache.
	makeCacheKiB  = 16 << 10
	indexCacheKiB = 128 << 10 // for sorting an index: the rest goes through temporary files
	writeCacheKiB = 4 << 10
	readCacheKiB  = 128

	pageSize = 4096 // the engine's default

	largestCompacted = 256 << 20 // bytes; larger new files are not rewritten

	// Pages in the log before the engine checkpoints it, four times its default: blocks write the same pages again and again, and each
	// reaches the file once.
	checkpointEvery = "_pragma=wal_autocheckpoint(4000)"
)

// Limits bounds the resources of an open file. The zero value suits a process that serves only one.
type Limits struct {
	Readers  int           // reading connections
	CacheKiB int           // page cache of the writing connection
	Idle     time.Duration // close a reading connection, with its cache and statements, after this; 0 for never
	Bytes    int64         // largest size of the file; 0 for any
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
	// ErrExists means that Create found an existing file.
	ErrExists = errors.New("exists already")
	// ErrDisk means that a write failed, usually because the disk is full. It can be retried.
	ErrDisk = errors.New("the world cannot change now: its disk is full or fails")
	// ErrReadOnly means that nothing can be added to a world, because its file or its folder is not writable, or it was opened read-only.
	ErrReadOnly = errors.New("the world cannot change: its file or its folder is not writable, or it is served with --read-only")
	// ErrInUse means that a file cannot be read alone, because the newest changes are in a log beside it.
	ErrInUse = errors.New("cannot be opened with --read-only while another process writes to it, or after a process was killed; stop that process, or open the file once without the flag to merge the log beside it")
)

var memoryFiles atomic.Int64 // numbers the in-memory databases of this process

// DB is one world's file: one writing connection and a read-only pool.
type DB struct {
	write *sqlx.DB
	read  *sqlx.DB

	path     string   // the file, or Memory
	name     string   // its name for the engine
	lock     *os.File // from Lock, or shared from OpenReadOnly
	making   *dbfile.MakingLock
	dropping atomic.Bool // connections forget their pages
	readOnly bool        // neither the file nor anything beside it is writable
	begun    bool        // beginSession has run
	closed   bool
	final    string // path after Finish; empty once done
	replaces bool   // Finish sets an existing file aside
	limits   Limits

	log            atomic.Pointer[slog.Logger] // for the engine's messages; nil for none
	refuses        atomic.Pointer[refusals]    // for tests
	opened         opened
	caches         cache.Group // of rows read
	avaxIDs        sync.Map    // by X-Chain, which it starts with
	commits        atomic.Int64
	tokenCommits   atomic.Int64
	primaryCommits atomic.Int64

	mu         sync.RWMutex
	statements map[string]*stmt // prepared on the reading pool, by text

	gathers    bool           // batches gather rows: the world is new and has no secondary indexes yet
	indexed    bool           // a new world has its secondary indexes
	undoBlocks int64          // commits that can be undone one by one; 0 for DefaultUndoBlocks
	recorder   *undo.Recorder // records how to undo commits; nil while a world is generated or only read
	lastCommit atomic.Pointer[Commit]

	kept   map[string]*sqlx.Stmt // prepared on the writing connection, by text; used within a batch only, like rollup
	rollup *rollup               // nil before the first block and after a failed batch

	trieParts map[triePartKey]*TriePart // keys and balances of parts that batches wrote; used within a batch only
}

// Create makes an empty world. Nothing appears at path before Finish: until then everything is in a temporary file beside it, which Close
// removes. Only one process at a time can make a file; others get ErrMaking, and an existing file gets ErrExists.
func Create(path string) (*DB, error) { return create(path, false) }

// CreateAnew is Create for a path that may exist already. Finish sets the old file aside; until the new one is complete, the old one stays
// in place.
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

// claimName makes this process the only one that makes the file, and removes the remains of killed generations from its folder.
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

// connect opens both pools. Generating a world needs no journal: an unfinished file is thrown away.
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
	go func() (err error) { // each connection parses the schema, a tenth of the start-up time
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

// readers returns the number of reading connections: enough to keep all processors busy. Each grows to some 2 MiB: 0.7 for prepared statements,
// 0.2 for the schema, the rest for pages.
func readers() int { return min(1+runtime.GOMAXPROCS(0), 8) }

// pool opens connections that stay open, together with their prepared statements.
func pool(dsn string, size int) (*sqlx.DB, error) {
	db, err := sqlx.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	if err := db.Ping(); err != nil {
		code, err := resultCode(err), fmt.Errorf("open the file: %w", errors.Join(inWords(err), db.Close()))
		if code == sqlite3.SQLITE_CORRUPT {
			err = Damaged(err)
		}
		return nil, err
	}
	return db, nil
}

// Index makes the secondary indexes if they are missing.
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

// compact rewrites the tables in key order. Rows inserted in another order leave a tenth of their pages empty; for a large world, saving
// that is not worth the time and the second file.
func (db *DB) compact() error {
	size, err := db.Size(context.Background())
	if db.path == Memory || size > largestCompacted || err != nil {
		return err
	}
	if _, err := db.write.Exec(`VACUUM INTO ?`, dbfile.Compacted(db.path)); err != nil {
		return fmt.Errorf("rewrite the tables: %w", err)
	}
	if err := errors.Join(db.disconnect(), os.Rename(dbfile.Compacted(db.path), db.path)); err != nil {
		return err
	}
	return db.connect(db.path, "OFF")
}

// Finish makes the secondary indexes, writes the complete file to disk, gives it its final name and opens it for serving. It gathers no
// statistics: with them the engine would prepare a statement for every range again, and would plan differently for small and large worlds.
func (db *DB) Finish() error {
	if err := errors.Join(db.compact(), db.Index()); err != nil {
		return err
	}
	if db.path == Memory {
		return db.RecordUndo()
	}
	// The header already announces a write-ahead log: otherwise the first opening would write that, with a rollback journal beside the
	// file.
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
		return err // Close removes an unfinished file
	}
	if err := db.connect(db.path, "WAL"); err != nil {
		return err
	}
	return db.RecordUndo()
}

// publish gives the file its final name. It removes leftovers of an earlier file of that name, which would pass for the log of this one.
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

// Close moves everything into the file and closes it, so that exactly one file is left. If that fails, the rest stays in the log, and the error
// says so. Close removes an unfinished world.
func (db *DB) Close() error {
	if db.closed {
		return nil
	}
	db.closed = true
	err := errors.Join(db.checkpoint(), db.disconnect())
	if db.lock != nil { // closed last: closing any handle of the file drops the engine's locks
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

// Path returns the path of the file, or Memory.
func (db *DB) Path() string { return db.path }

// Size returns the size of the database in bytes, in memory or in a file.
func (db *DB) Size(ctx context.Context) (pages int64, err error) {
	err = db.read.GetContext(ctx, &pages, `PRAGMA page_count`)
	return pages * pageSize, db.say(err)
}

// Caches returns the caches of rows read from the file. A revert clears them.
func (db *DB) Caches() *cache.Group { return &db.caches }

// Commits counts the commits since the file was opened: as long as it stays the same, so does the world.
func (db *DB) Commits() int64 { return db.commits.Load() }

// TokenCommits counts the commits with a token, a contract or a market since the file was opened: as long as it stays the same, no token
// has a new name or price series.
func (db *DB) TokenCommits() int64 { return db.tokenCommits.Load() }

// PrimaryCommits counts the commits with a block of a P-, X- or C-Chain of UTXOs since the file was opened: as long as it stays the same,
// so do their stakers and outputs.
func (db *DB) PrimaryCommits() int64 { return db.primaryCommits.Load() }

// forgetRows forgets the rows that batches left in memory for later ones.
func (db *DB) forgetRows() { db.rollup, db.trieParts = nil, nil }

// disconnect closes the readers first: the last connection to close, the writer, then clears the write-ahead log.
func (db *DB) disconnect() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	var errs []error
	for _, statement := range db.statements {
		errs = append(errs, statement.Close())
	}
	clear(db.statements)
	clear(db.kept) // closed together with their connection
	db.forgetRows()
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

// prepared returns the reading statement with this text, prepared once.
func (db *DB) prepared(text string) (*stmt, error) {
	if err := db.refused(text); err != nil {
		return nil, db.noted(failed(text, err))
	}
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
