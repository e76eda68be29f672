package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"snowglobe/sim/store/undo"
)

// notUndone lists the tables that Rewind leaves alone: the file's own state, the undo log itself, the pool saved at the last close, and the
// record of webhooks already sent.
var notUndone = map[string]bool{"lineage": true, "undo": true, "snapshot": true, "undo_count": true, "pooled_tx": true,
	"webhook_delivery": true, "webhook_attempt": true}

// ErrMerged means that a commit cannot be undone alone, because the undo log keeps only the ways to snapshots so far back.
var ErrMerged = errors.New("only snapshots go back that far")

// UndoCounts holds counters that no revert or reset lowers.
type UndoCounts struct {
	Snapshots int64 `db:"snapshots"` // taken
	Resets    int64 `db:"resets"`    // to the generated world
}

// QuietSeconds bounds how far the clock moves without a commit of its own while nothing else happens: every later time within it belongs to the
// newest commit, which page tokens name together with the seconds since.
const QuietSeconds = 63

// DefaultUndoBlocks is how many commits can be undone one by one unless KeepUndo says otherwise: as many as one request may replace, and more
// than any test of a reorganisation needs, at a third of a megabyte.
const DefaultUndoBlocks = 1000

// mergeEvery is the number of commits whose steps are merged. At every commit with a multiple of it as its number the metrics begin anew, so
// that a reorganisation counts the metrics of this many commits again at most, besides its own.
const mergeEvery = 128

// KeepUndo sets how many of the newest commits can be undone one by one, which takes a reorganisation. Of those before, only the ways back to
// snapshots and to the generated world are kept.
func (db *DB) KeepUndo(commits int64) { db.undoBlocks = commits }

// Commit identifies the state of the world after a commit.
type Commit struct {
	Sequence int64  `db:"sequence"` // counts the commits since the world was generated
	Clock    int64  `db:"clock"`    // Unix milliseconds
	Digest   []byte `db:"digest"`
}

// sum returns the checksum of a commit's row.
func (m *Commit) sum(steps []byte) uint32 {
	head := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(m.Sequence)), uint64(m.Clock))
	return crc32.Update(crc32.ChecksumIEEE(append(head, m.Digest...)), crc32.IEEETable, steps)
}

// RecordUndo makes every commit from now on write the steps that undo it. The present world becomes the one to which a reset returns.
func (db *DB) RecordUndo() error { return errors.Join(db.recordUndo(), db.readLastCommit()) }

func (db *DB) recordUndo() error {
	ctx := context.Background()
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return db.say(err)
	}
	defer conn.Close()
	if db.recorder, err = undo.Attach(conn, Tables(), notUndone, changedLater()); err != nil {
		return fmt.Errorf("record undo steps: %w", db.say(err))
	}
	return nil
}

// readLastCommit reads the newest commit. Meta reports a clock that is no number.
func (db *DB) readLastCommit() error {
	m := &Commit{}
	err := db.read.Get(m, `SELECT sequence, clock, digest FROM undo ORDER BY sequence DESC LIMIT 1`)
	if errors.Is(err, sql.ErrNoRows) {
		err = db.read.Get(m, `SELECT 0 AS sequence, CASE typeof(clock) WHEN 'integer' THEN clock ELSE 0 END AS clock, digest FROM meta WHERE id = 1`)
	}
	if errors.Is(err, sql.ErrNoRows) { // Meta reports it
		err = nil
	}
	db.lastCommit.Store(m)
	return db.say(err)
}

func (db *DB) stopRecording() error {
	conn, err := db.write.Conn(context.Background())
	if err != nil {
		return db.say(err)
	}
	db.recorder = nil
	return db.say(errors.Join(undo.Detach(conn), conn.Close()))
}

// LastCommit returns the newest commit, or the generated world.
func (db *DB) LastCommit() *Commit { return db.lastCommit.Load() }

// CommitAt reads a commit by its sequence number.
func (db *DB) CommitAt(ctx context.Context, sequence int64) (*Commit, error) {
	return Get[Commit](ctx, db, `SELECT sequence, clock, digest FROM undo WHERE sequence = ?`, sequence)
}

// UndoCounts reads the counters.
func (db *DB) UndoCounts(ctx context.Context) (UndoCounts, error) {
	return undoCounts(ctx, db)
}

func undoCounts(ctx context.Context, p Preparer) (UndoCounts, error) {
	return orNone(value[UndoCounts](ctx, p, `SELECT snapshots, resets FROM undo_count WHERE id = 1`))
}

func (b *Batch) record() {
	if b.db.recorder != nil {
		b.db.recorder.Begin()
	}
}

func (b *Batch) addUndo() error {
	r := b.db.recorder
	if r == nil {
		return nil
	}
	steps, err := r.End()
	if err != nil || b.aside && !b.boundary {
		return err
	}
	if b.after.Digest == nil { // the batch set no digest
		b.after.Digest = make([]byte, sha256.Size)
		err := b.scan(`SELECT clock, digest FROM meta WHERE id = 1`, nil, &b.after.Clock, &b.after.Digest)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	if b.aside {
		return nil
	}
	if steps == nil && !b.renamed && b.after.Clock/1000-b.last.Clock/1000 <= QuietSeconds {
		b.aside = true // there is nothing to undo
		return nil
	}
	last, err := b.addCommit(b.after, steps)
	beyond := (last - cmp.Or(b.db.undoBlocks, DefaultUndoBlocks)) / mergeEvery * mergeEvery
	if err != nil || last%mergeEvery > 0 || beyond <= 0 {
		return err
	}
	return b.mergeUndo(beyond)
}

type undoRow struct {
	Commit
	Sum   uint32 `db:"sum"`
	Steps []byte `db:"steps"`
}

// mergeUndo merges the steps of the commits up to one, mergeEvery of them, into the last one's, but those up to a snapshot into its commit's.
func (b *Batch) mergeUndo(to int64) error {
	rows, err := List[undoRow](context.Background(), b, `SELECT sequence, clock, digest, steps FROM undo WHERE sequence > ? AND sequence <= ? ORDER BY sequence`, to-mergeEvery, to)
	if err != nil {
		return err
	}
	ends, err := List[int64](context.Background(), b, `SELECT sequence FROM snapshot WHERE id > 0 AND sequence > ? AND sequence < ?`, to-mergeEvery, to)
	if err != nil {
		return err
	}
	for first := 0; first < len(rows); {
		last := first
		for last < len(rows)-1 && !slices.Contains(ends, rows[last].Sequence) {
			last++
		}
		if err := b.mergeRows(rows[first : last+1]); err != nil {
			return err
		}
		first = last + 1
	}
	return nil
}

func (b *Batch) mergeRows(rows []undoRow) error {
	steps := make([][]byte, len(rows))
	for i := range rows {
		steps[i], rows[i].Steps = rows[i].Steps, []byte{}
	}
	var err error
	rows[len(rows)-1].Steps, err = b.db.recorder.Merge(steps)
	for i := 0; i < len(rows) && err == nil; i++ {
		err = b.exec(`UPDATE undo SET sum = ?, steps = ? WHERE sequence = ?`, rows[i].sum(rows[i].Steps), rows[i].Steps, rows[i].Sequence)
	}
	return err
}

// UndoReach returns the newest commit that cannot be undone alone, 0 if every one can.
func (db *DB) UndoReach(ctx context.Context) (int64, error) {
	return orNone(value[int64](ctx, db, `SELECT sequence FROM undo WHERE sequence <= ? AND substr(steps, 1, 1) = x'6d' ORDER BY sequence DESC LIMIT 1`,
		db.lastCommit.Load().Sequence))
}

// addCommit writes the next commit with its steps, and returns its sequence number.
func (b *Batch) addCommit(m Commit, steps []byte) (int64, error) {
	if steps == nil {
		steps = []byte{}
	}
	m.Sequence = b.last.Sequence + 1
	return m.Sequence, b.exec(`INSERT INTO undo (sequence, clock, digest, sum, steps) VALUES (?, ?, ?, ?, ?)`, m.Sequence, m.Clock, m.Digest, m.sum(steps), steps)
}

// undoCommitted updates the recorder and the newest commit after one of the batch's commits.
func (b *Batch) undoCommitted() {
	r := b.db.recorder
	switch {
	case r == nil:
	case b.boundary:
		r.Boundary()
		b.last = &Commit{b.to, b.after.Clock, b.after.Digest}
	case !b.aside:
		r.Committed()
		next := b.last.Sequence + 1
		if next%mergeEvery == 0 {
			r.Boundary(MetricTables...)
		}
		b.last = &Commit{next, b.after.Clock, b.after.Digest}
	}
}

// undoFailed makes the recorder forget what the batch's commits recorded, which is not in the file.
func (b *Batch) undoFailed() {
	if b.db.recorder != nil {
		b.db.recorder.Boundary()
	}
}

// CountReset counts a reset.
func (b *Batch) CountReset() error {
	h, err := undoCounts(context.Background(), b)
	if err != nil {
		return err
	}
	h.Resets++
	return b.setUndoCounts(h)
}

func (b *Batch) setUndoCounts(h UndoCounts) error {
	return b.exec(`INSERT OR REPLACE INTO undo_count (id, snapshots, resets) VALUES (1, ?, ?)`, h.Snapshots, h.Resets)
}

// ForgetHistory drops the undo log and the snapshots of a copy that never goes back. It drops the hashes of trie parts too, because nobody
// builds blocks on such a copy or asks it for proofs.
func (b *Batch) ForgetHistory() error {
	b.db.forgetRows()
	return errors.Join(b.exec(`DELETE FROM undo`), b.exec(`DELETE FROM snapshot`), b.exec(`DELETE FROM trie_part`))
}

// CheckUndo checks that the undo log is undamaged and that its last commit left the world as it is now, whose digest at a time of the clock a
// function returns.
func (db *DB) CheckUndo(ctx context.Context, digestAt func(clock int64) []byte) error {
	conn, err := db.read.Conn(ctx)
	if err != nil {
		return db.say(err)
	}
	tables, err := undo.Describe(conn, Tables(), notUndone)
	if err := errors.Join(err, conn.Close()); err != nil {
		return db.say(err)
	}
	var problem error
	last := undoRow{}
	err = each(ctx, db, func(r *undoRow) {
		switch {
		case problem != nil:
		case r.Sequence != last.Sequence+1:
			problem = fmt.Errorf("undo: %d follows %d", r.Sequence, last.Sequence)
		case r.sum(r.Steps) != r.Sum:
			problem = fmt.Errorf("undo %d: its checksum does not match", r.Sequence)
		default:
			if err := tables.Check(r.Steps); err != nil {
				problem = fmt.Errorf("undo %d: %w", r.Sequence, err)
			}
		}
		last = *r
		last.Digest = slices.Clone(r.Digest)
	}, `SELECT sequence, clock, digest, sum, steps FROM undo WHERE sequence > 0 ORDER BY sequence`)
	if err := errors.Join(err, problem); err != nil {
		return Damaged(err)
	}
	if last.Sequence > 0 && !bytes.Equal(last.Digest, digestAt(last.Clock)) {
		return Damaged(fmt.Errorf("undo %d: the world is not the one that this commit left", last.Sequence))
	}
	return db.checkSnapshots(ctx)
}

// checkSnapshots checks that every snapshot names a commit of the world.
func (db *DB) checkSnapshots(ctx context.Context) error {
	all, err := db.Snapshots(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if !json.Valid(s.Memory) {
			return Damaged(fmt.Errorf("snapshot %d: its memory is not JSON", s.ID))
		}
		switch m, err := db.CommitAt(ctx, s.Sequence); {
		case s.Sequence == 0:
		case err != nil:
			return Damaged(fmt.Errorf("snapshot %d: commit %d: %w", s.ID, s.Sequence, err))
		case !bytes.Equal(m.Digest, s.Digest):
			return Damaged(fmt.Errorf("snapshot %d: its digest is not that of commit %d", s.ID, s.Sequence))
		}
	}
	return nil
}
