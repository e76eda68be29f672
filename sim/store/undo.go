package store

import (
	"bytes"
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

// notUndone are the tables that do not follow when the world goes back: the file's own state, what going back needs, and what was in memory
// when the world was closed, and what others were told.
var notUndone = map[string]bool{"lineage": true, "undo": true, "snapshot": true, "undo_count": true, "pooled_tx": true,
	"webhook_delivery": true, "webhook_attempt": true}

// Snapshot is a moment to which clients can go back.
type Snapshot struct {
	ID       int64  `db:"id"`
	Name     string `db:"name"`
	Created  int64  `db:"created"`  // the world's time, Unix milliseconds
	Sequence int64  `db:"sequence"` // the last commit before it, as Sequence counts them
	Digest   []byte `db:"digest"`   // the world's
	Memory   []byte `db:"memory"`   // what was in the memory of the process, as JSON
}

const snapshotColumns = `id, name, created, sequence, digest, memory`

// UndoCounts counts what is never undone.
type UndoCounts struct {
	Snapshots int64 `db:"snapshots"` // that were taken
	Resets    int64 `db:"resets"`    // to the freshly generated world
}

// Moment is what the world was after a commit.
type Moment struct {
	Sequence int64  `db:"sequence"` // counts the commits since the world was generated
	Clock    int64  `db:"clock"`    // Unix milliseconds
	Digest   []byte `db:"digest"`
}

// sum is the checksum of a commit's row.
func (m *Moment) sum(steps []byte) uint32 {
	head := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(m.Sequence)), uint64(m.Clock))
	return crc32.Update(crc32.ChecksumIEEE(append(head, m.Digest...)), crc32.IEEETable, steps)
}

// RecordUndo has a world begin its own history: every commit from now on notes what undoes it.
func (db *DB) RecordUndo() error { return errors.Join(db.recordUndo(), db.readMoment()) }

func (db *DB) recordUndo() error {
	ctx := context.Background()
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return db.say(err)
	}
	defer conn.Close()
	exact := changedLater()
	exact["trie_part"] = true
	if db.recorder, err = undo.Attach(conn, Tables(), notUndone, exact); err != nil {
		return fmt.Errorf("record what undoes changes: %w", db.say(err))
	}
	return nil
}

// readMoment reads what the world is. A clock that is none is Meta's to complain of.
func (db *DB) readMoment() error {
	m := &Moment{}
	err := db.read.Get(m, `SELECT (SELECT ifnull(max(sequence), 0) FROM undo) AS sequence,
		CASE typeof(clock) WHEN 'integer' THEN clock ELSE 0 END AS clock, digest FROM meta WHERE id = 1`)
	if errors.Is(err, sql.ErrNoRows) { // Meta says so, too
		err = nil
	}
	db.moment.Store(m)
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

// Moment is what the world is.
func (db *DB) Moment() *Moment { return db.moment.Load() }

// MomentOf is what the world was after a commit, by its sequence number.
func (db *DB) MomentOf(ctx context.Context, sequence int64) (*Moment, error) {
	return Get[Moment](ctx, db, `SELECT sequence, clock, digest FROM undo WHERE sequence = ?`, sequence)
}

// Snapshots lists those that there are, the oldest first.
func (db *DB) Snapshots(ctx context.Context) ([]Snapshot, error) {
	return List[Snapshot](ctx, db, `SELECT `+snapshotColumns+` FROM snapshot WHERE id > 0 ORDER BY id`)
}

// Snapshot reads a snapshot by its number.
func (db *DB) Snapshot(ctx context.Context, id int64) (*Snapshot, error) {
	return Get[Snapshot](ctx, db, `SELECT `+snapshotColumns+` FROM snapshot WHERE id = ?`, id)
}

// UndoCounts reads what is never undone.
func (db *DB) UndoCounts(ctx context.Context) (UndoCounts, error) {
	h, err := Get[UndoCounts](ctx, db, `SELECT snapshots, resets FROM undo_count WHERE id = 1`)
	if errors.Is(err, ErrNotFound) {
		return UndoCounts{}, nil
	}
	if err != nil {
		return UndoCounts{}, err
	}
	return *h, nil
}

// record has the recorder note what the batch does.
func (b *Batch) record() {
	if b.db.recorder != nil {
		b.db.recorder.Begin()
	}
}

// addUndo writes what undoes the batch.
func (b *Batch) addUndo() error {
	r := b.db.recorder
	if r == nil {
		return nil
	}
	steps, err := r.End()
	if err != nil || b.aside {
		return err
	}
	if b.moment.Digest == nil { // the world is the same as before
		b.moment.Digest = make([]byte, sha256.Size)
		err := b.scan(`SELECT clock, digest FROM meta WHERE id = 1`, nil, &b.moment.Clock, &b.moment.Digest)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	if now := b.db.moment.Load(); steps == nil && now.Clock == b.moment.Clock && bytes.Equal(now.Digest, b.moment.Digest) {
		b.aside = true // there is nothing to undo
		return nil
	}
	if steps == nil {
		steps = []byte{}
	}
	b.moment.Sequence = b.db.moment.Load().Sequence + 1
	return b.exec(`INSERT INTO undo (sequence, clock, digest, sum, steps) VALUES (?, ?, ?, ?, ?)`,
		b.moment.Sequence, b.moment.Clock, b.moment.Digest, b.moment.sum(steps), steps)
}

// undoCommitted is told that the batch stands.
func (b *Batch) undoCommitted() {
	r := b.db.recorder
	switch {
	case r == nil:
	case b.boundary:
		r.Boundary()
		b.db.moment.Store(&Moment{b.to, b.moment.Clock, b.moment.Digest})
	case !b.aside:
		r.Committed()
		b.db.moment.Store(&Moment{b.db.moment.Load().Sequence + 1, b.moment.Clock, b.moment.Digest})
	}
}

// AddSnapshot writes a snapshot of the world as it is before the batch, in which nothing else changes, and gives it its number.
func (b *Batch) AddSnapshot(s *Snapshot) error {
	b.aside, b.boundary, b.to = true, true, b.db.moment.Load().Sequence
	h, err := b.undoCounts()
	if err != nil {
		return err
	}
	h.Snapshots++
	s.ID, s.Sequence = h.Snapshots, b.to
	return errors.Join(b.setUndoCounts(h), b.exec(`INSERT INTO snapshot (`+snapshotColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
		s.ID, s.Name, s.Created, s.Sequence, s.Digest, s.Memory))
}

// DropSnapshots deletes the snapshots from a number on to another. Nothing else changes in the batch.
func (b *Batch) DropSnapshots(from, to int64) error {
	b.aside = true
	return b.exec(`DELETE FROM snapshot WHERE id BETWEEN ? AND ?`, from, to)
}

// CountReset counts that the world was set back to how it was generated.
func (b *Batch) CountReset() error {
	h, err := b.undoCounts()
	if err != nil {
		return err
	}
	h.Resets++
	return b.setUndoCounts(h)
}

func (b *Batch) undoCounts() (h UndoCounts, err error) {
	err = b.scan(`SELECT snapshots, resets FROM undo_count WHERE id = 1`, nil, &h.Snapshots, &h.Resets)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return h, err
}

func (b *Batch) setUndoCounts(h UndoCounts) error {
	return b.exec(`INSERT OR REPLACE INTO undo_count (id, snapshots, resets) VALUES (1, ?, ?)`, h.Snapshots, h.Resets)
}

// Rewind undoes every commit after one, by its sequence number, the last one first. Nothing else changes in the batch.
func (b *Batch) Rewind(to int64) error {
	b.aside, b.boundary, b.to = true, true, to
	b.tokens, b.primary, b.rollup = true, true, nil
	b.db.rollup = nil
	u := b.db.recorder.Undo(b.tx.Tx)
	for sequence := b.db.moment.Load().Sequence; sequence > to; sequence-- {
		var steps []byte
		if err := b.scan(`SELECT steps FROM undo WHERE sequence = ?`, []any{sequence}, &steps); err != nil {
			return Damaged(fmt.Errorf("undo %d: %w", sequence, err))
		}
		if err := u.Apply(steps); err != nil {
			return fmt.Errorf("undo %d: %w", sequence, err)
		}
	}
	if err := errors.Join(b.exec(`DELETE FROM undo WHERE sequence > ?`, to), b.exec(`DELETE FROM pooled_tx`)); err != nil {
		return err
	}
	m := Meta{}
	err := b.scan(`SELECT `+metaColumns+` FROM meta WHERE id = 1`, nil,
		&m.Generator, &m.Seed, &m.Profile, &m.Shape, &m.Until, &m.Clock, &m.Started, &m.Base, &m.Digest)
	if err != nil {
		return err
	}
	return b.SetMeta(m)
}

// MomentBefore is the last moment, by its sequence number, to which clients could go back before the block of an EVM chain with a number
// was added, and before all blocks that were removed since. ErrNotFound says that the block was generated.
func (db *DB) MomentBefore(ctx context.Context, chain int, number uint64) (sequence int64, err error) {
	all, err := db.Snapshots(ctx)
	if err != nil {
		return 0, err
	}
	boundaries := map[int64]bool{0: true}
	for _, s := range all {
		boundaries[s.Sequence] = true
	}
	open := map[int64]bool{int64(At(chain, number, 0)): true} // blocks whose adding has not been seen on the way back
	for sequence = db.moment.Load().Sequence; len(open) > 0 || !boundaries[sequence]; sequence-- {
		if sequence == 0 {
			return 0, ErrNotFound
		}
		steps, err := value[[]byte](ctx, db, `SELECT steps FROM undo WHERE sequence = ?`, sequence)
		if err != nil {
			return 0, Damaged(fmt.Errorf("undo %d: %w", sequence, err))
		}
		removed, err := db.recorder.Removed(steps, "block")
		if err != nil {
			return 0, Damaged(fmt.Errorf("undo %d: %w", sequence, err))
		}
		for _, id := range removed {
			open[id] = true
		}
		added, _ := db.recorder.Added(steps, "block")
		for _, id := range added {
			delete(open, id)
		}
	}
	return sequence, nil
}

// RemoveBlocks takes the newest blocks of an EVM chain, those after one, with everything that they added out of the world, while what
// other chains have stays. before is MomentBefore the first of them: the metrics are as they were then afterwards, so the batch has to add
// what all blocks that stay have added to them since. Exports that clients asked for after the first of the blocks, and messages that were
// promised about them, go too.
func (b *Batch) RemoveBlocks(chain int, after uint64, before int64) error {
	r := &removal{b: b, undo: b.db.recorder.Selective(b.tx.Tx), chain: chain, after: after, codes: map[string][]byte{}}
	b.tokens, b.rollup, b.db.rollup = true, nil, nil
	for sequence := b.db.moment.Load().Sequence; sequence > before; sequence-- {
		if err := r.commit(sequence); err != nil {
			return fmt.Errorf("undo %d: %w", sequence, err)
		}
	}
	return r.finish()
}

// removal is what RemoveBlocks keeps in mind on its way back through the commits.
type removal struct {
	b     *Batch
	undo  *undo.Undo
	chain int
	after uint64

	found bool // the first of the blocks: its commit, and those after it, are seen

	operations []int64
	codes      map[string][]byte // that the blocks added, by hash
	accounts   [][]any           // keys of those that others changed since
}

// commit takes back what a commit did because of the blocks, and all that it did to metrics.
func (r *removal) commit(sequence int64) error {
	var steps []byte
	if err := r.b.scan(`SELECT steps FROM undo WHERE sequence = ?`, []any{sequence}, &steps); err != nil {
		return Damaged(err)
	}
	changes, err := r.undo.Changes(steps)
	if err != nil {
		return Damaged(err)
	}
	since := !r.found
	about := since && slices.ContainsFunc(changes, r.concerns)
	for _, c := range changes {
		if id, _ := c.Value("id").(int64); c.Added() && c.Table() == "block" && Position(id) == At(r.chain, r.after+1, 0) {
			r.found = true
		}
		take := slices.Contains(MetricTables, c.Table()) || about && (r.concerns(c) || c.Table() == "webhook_message")
		switch {
		case take:
			err = r.undo.Take(c)
		case !since || !c.Added():
		case c.Table() == "code" && about:
			err = r.code(c)
		case c.Table() == "account":
			r.accounts = append(r.accounts, []any{c.Value("chain"), c.Value("address"), c.Value("block")})
		case c.Table() == "operation":
			id, _ := c.Value("id").(int64)
			r.operations = append(r.operations, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// code takes away a contract's code, unless another account turns out to have it too.
func (r *removal) code(c undo.Change) error {
	hash, _ := c.Value("hash").([]byte)
	var code []byte
	err := r.b.scan(`SELECT code FROM code WHERE hash = ?`, []any{hash}, &code)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	r.codes[string(hash)] = slices.Clone(code)
	return errors.Join(err, r.undo.Take(c))
}

// concerns says whether a change is of a row that one of the blocks added.
func (r *removal) concerns(c undo.Change) bool {
	return c.Table() == "trie_part" && c.Value("chain") == int64(r.chain) || tablesOfBlocks()[c.Table()].isOf(r.chain, r.after, c.Value)
}

// finish deletes the exports, and gives back the codes that are needed.
func (r *removal) finish() error {
	for _, id := range r.operations {
		if err := errors.Join(r.b.DropOperation(id), r.b.DropChunks(id, 0)); err != nil {
			return err
		}
	}
	for _, key := range r.accounts {
		if len(r.codes) == 0 {
			break
		}
		var hash []byte
		err := r.b.scan(`SELECT code_hash FROM account WHERE chain = ? AND address = ? AND block = ?`, key, &hash)
		if code, gone := r.codes[string(hash)]; err == nil && gone {
			err = r.b.addCode(&Code{Hash: slices.Clone(hash), Code: code})
			delete(r.codes, string(hash))
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// ForgetHistory has a copy of a world begin where it is: no commit is undone in it. Nor does anybody build blocks on it or prove anything,
// for which there are hashes of parts of tries.
func (b *Batch) ForgetHistory() error {
	return errors.Join(b.exec(`DELETE FROM undo`), b.exec(`DELETE FROM snapshot`), b.exec(`DELETE FROM trie_part`))
}

// HeadsBefore are the heights to which EVM chains fall, by their numbers, when every commit after one is undone.
func (db *DB) HeadsBefore(ctx context.Context, sequence int64) (map[int]uint64, error) {
	heads := map[int]uint64{}
	var problem error
	err := each(ctx, db, func(steps *[]byte) {
		ids, err := db.recorder.Added(*steps, "block")
		if err != nil {
			problem = err
		}
		for _, id := range ids {
			at := Position(id)
			if head, known := heads[at.Chain()]; !known || at.Number()-1 < head {
				heads[at.Chain()] = at.Number() - 1
			}
		}
	}, `SELECT steps FROM undo WHERE sequence > ? ORDER BY sequence`, sequence)
	return heads, Damaged(errors.Join(err, problem))
}

// CheckUndo checks that what undoes the commits is whole, and that the last of them left the world as it is.
func (db *DB) CheckUndo(ctx context.Context) error {
	conn, err := db.read.Conn(ctx)
	if err != nil {
		return db.say(err)
	}
	tables, err := undo.Describe(conn, Tables(), notUndone)
	if err := errors.Join(err, conn.Close()); err != nil {
		return db.say(err)
	}
	type row struct {
		Moment
		Sum   uint32 `db:"sum"`
		Steps []byte `db:"steps"`
	}
	var problem error
	last := row{}
	err = each(ctx, db, func(r *row) {
		switch {
		case problem != nil:
		case r.Sequence != last.Sequence+1:
			problem = fmt.Errorf("undo: %d follows %d", r.Sequence, last.Sequence)
		case r.sum(r.Steps) != r.Sum:
			problem = fmt.Errorf("undo %d: it is not as it was written", r.Sequence)
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
	return db.checkMoments(ctx, last.Moment)
}

// checkMoments checks that snapshots are of moments that the world went through, and that the present is the last of them.
func (db *DB) checkMoments(ctx context.Context, last Moment) error {
	sequence := last.Sequence
	meta, err := db.Meta(ctx)
	if err != nil {
		return err
	}
	if sequence > 0 && (meta.Clock != last.Clock || !slices.Equal(meta.Digest, last.Digest)) {
		return Damaged(fmt.Errorf("undo %d: the world is not as it was after that", sequence))
	}
	all, err := db.Snapshots(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if !json.Valid(s.Memory) {
			return Damaged(fmt.Errorf("snapshot %d: what was in memory is no JSON", s.ID))
		}
		switch m, err := db.MomentOf(ctx, s.Sequence); {
		case s.Sequence == 0 || s.Sequence == sequence && slices.Equal(s.Digest, meta.Digest):
		case err != nil:
			return Damaged(fmt.Errorf("snapshot %d: commit %d: %w", s.ID, s.Sequence, err))
		case !slices.Equal(m.Digest, s.Digest):
			return Damaged(fmt.Errorf("snapshot %d: the world was another after commit %d", s.ID, s.Sequence))
		}
	}
	return nil
}
