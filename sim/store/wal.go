package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// SQLite takes whatever is called FILE-wal for the write-ahead log of FILE: the log of a file that was there before, or of which
// another one took the place, is written over pages that it does not belong to. So every commit gives the file a new state,
// in the table lineage, and keeps the one before: a log belongs to a file that has one of the log's states, or the state from
// which the log's first commit went on. The table is on the second page of the file and alone there. It is read here from the
// bytes: the engine would begin to recover. See https://sqlite.org/fileformat2.html, sections 1.6 and 4.

// lineagePage is where the table lineage is.
const lineagePage = 2

// state is one of the states that a file goes through.
type state [sha256.Size]byte

func (s state) next(digest []byte) state { return sha256.Sum256(slices.Concat(s[:], digest)) }

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
	if next := state(row.Parent).next(row.Digest); !bytes.Equal(next[:], row.State) {
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
	next := state(row.State).next(digest)
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

// The formats of a log and a page, by SQLite's file format.
const (
	logHeaderLength   = 32
	frameHeaderLength = 24
	logMagic          = 0x377f0682 // the lowest bit says in which byte order checksums are computed
	tableLeaf         = 0x0d       // the type of a page with rows
)

// cellStart is how the only row of the table lineage begins in its page: 68 bytes with the rowid 1, of a header of four bytes,
// NULL for the rowid, and two blobs of 32 bytes.
var cellStart = []byte{68, 1, 4, 0, 2*32 + 12, 2*32 + 12}

// lineageOf reads the states from the page of the table lineage.
func lineageOf(page []byte) (parent, now state, ok bool) {
	if len(page) < 10 || page[0] != tableLeaf || binary.BigEndian.Uint16(page[3:]) != 1 {
		return parent, now, false
	}
	cell := page[min(int(binary.BigEndian.Uint16(page[8:])), len(page)):]
	if len(cell) < len(cellStart)+2*len(parent) || !bytes.HasPrefix(cell, cellStart) {
		return parent, now, false
	}
	cell = cell[len(cellStart):]
	return state(cell[:32]), state(cell[32:64]), true
}

// checkLogs refuses a file beside which lies what the engine would take for the file's log, and is not.
func checkLogs(path string) error {
	if err := checkJournal(path + "-journal"); err != nil {
		return err
	}
	log, err := os.Open(path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer log.Close()
	// A process that serves the world may begin its log anew meanwhile.
	for range 100 {
		before, own, err := ownLog(path, log)
		if own || err != nil {
			return err
		}
		after := make([]byte, logHeaderLength)
		if _, err := log.ReadAt(after, 0); err == nil && bytes.Equal(before, after) {
			break
		}
	}
	return foreign(path + "-wal")
}

func foreign(path string) error {
	return fmt.Errorf("%s %w; move it away to open the file as it is, or put back the file that it belongs to", path, ErrForeignLog)
}

// checkJournal refuses a rollback journal that the engine would play back. A world never has one.
func checkJournal(path string) error {
	first := make([]byte, 1)
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if n, err := file.Read(first); n == 0 || first[0] == 0 {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return err
	}
	return foreign(path)
}

// ownLog tells whether the log has nothing to recover or belongs to the file, and by which header of the log.
func ownLog(path string, log *os.File) (header []byte, own bool, err error) {
	header = make([]byte, logHeaderLength)
	switch _, err := log.ReadAt(header, 0); {
	case errors.Is(err, io.EOF): // the engine takes it for empty
		return header, true, nil
	case err != nil:
		return nil, false, err
	}
	now, err := stateOf(path)
	if err != nil {
		return nil, false, err
	}
	states, commits, err := readLog(log, header)
	return header, commits == 0 || now != nil && slices.Contains(states, *now), err
}

// stateOf reads the state of a file without its log, nil when there is none to be found.
func stateOf(path string) (*state, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	header := make([]byte, headerLength)
	if _, err := file.ReadAt(header, 0); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint16(header[headerPageSize:]))
	if size == 1 {
		size = 1 << 16
	}
	page := make([]byte, size)
	if _, err := file.ReadAt(page, int64(len(page))*(lineagePage-1)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if _, now, ok := lineageOf(page); ok {
		return &now, nil
	}
	return nil, nil
}

// readLog counts the commits in a log as the engine would, up to the first frame that is not whole, and lists the states that
// a file can have to which the log belongs.
func readLog(log io.ReaderAt, header []byte) (states []state, commits int, err error) {
	magic, pageSize := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[8:])
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	sum := checksum{order: order}
	sum.add(header[:24])
	if magic&^1 != logMagic || pageSize < 1<<9 || pageSize > 1<<16 || pageSize&(pageSize-1) != 0 || !sum.is(header[24:]) {
		return nil, 0, nil // the engine ignores such a log
	}
	frame := make([]byte, frameHeaderLength+pageSize)
	var open []state // of the transaction that is read
	for at := int64(logHeaderLength); ; at += int64(len(frame)) {
		if _, err := log.ReadAt(frame, at); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return states, commits, err
		}
		page := frame[frameHeaderLength:]
		sum.add(frame[:8])
		sum.add(page)
		if !bytes.Equal(frame[8:16], header[16:24]) || !sum.is(frame[16:24]) {
			return states, commits, nil
		}
		if binary.BigEndian.Uint32(frame) == lineagePage {
			if parent, now, ok := lineageOf(page); ok {
				open = append(open, parent, now)
			}
		}
		if binary.BigEndian.Uint32(frame[4:]) > 0 { // the last frame of a transaction
			states, open = append(states, open...), nil
			commits++
		}
	}
}

// checksum is the running checksum of a log.
type checksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (c *checksum) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		c.s0 += c.order.Uint32(data) + c.s1
		c.s1 += c.order.Uint32(data[4:]) + c.s0
	}
}

func (c *checksum) is(sum []byte) bool {
	return binary.BigEndian.Uint32(sum) == c.s0 && binary.BigEndian.Uint32(sum[4:]) == c.s1
}
