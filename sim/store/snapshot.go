package store

import (
	"bytes"
	"context"
	"errors"
)

// Snapshot is a commit to which clients can revert.
type Snapshot struct {
	ID       int64  `db:"id"`
	Name     string `db:"name"`
	Created  int64  `db:"created"`  // the world's time, Unix milliseconds
	Sequence int64  `db:"sequence"` // the newest commit then
	Digest   []byte `db:"digest"`   // the world's
	Memory   []byte `db:"memory"`   // state of the process that is in no table, as JSON
}

const snapshotColumns = `id, name, created, sequence, digest, memory`

// Snapshots lists the snapshots, oldest first.
func (db *DB) Snapshots(ctx context.Context) ([]Snapshot, error) {
	return List[Snapshot](ctx, db, `SELECT `+snapshotColumns+` FROM snapshot WHERE id > 0 ORDER BY id`)
}

// Snapshot reads a snapshot by its number.
func (db *DB) Snapshot(ctx context.Context, id int64) (*Snapshot, error) {
	return Get[Snapshot](ctx, db, `SELECT `+snapshotColumns+` FROM snapshot WHERE id = ?`, id)
}

// AddSnapshot writes a snapshot of the present world and sets its number. The batch may change nothing else.
func (b *Batch) AddSnapshot(s *Snapshot) error {
	last := b.last
	b.aside, b.boundary, b.to = true, true, last.Sequence
	h, err := undoCounts(context.Background(), b)
	if err == nil && !bytes.Equal(last.Digest, s.Digest) { // the clock has moved since
		b.to, err = b.addCommit(Commit{Clock: s.Created, Digest: s.Digest}, nil)
	}
	if err != nil {
		return err
	}
	h.Snapshots++
	s.ID, s.Sequence = h.Snapshots, b.to
	return errors.Join(b.setUndoCounts(h), b.exec(`INSERT INTO snapshot (`+snapshotColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
		s.ID, s.Name, s.Created, s.Sequence, s.Digest, s.Memory))
}

// DropSnapshots deletes the snapshots whose numbers are in a range. The batch may change nothing else.
func (b *Batch) DropSnapshots(from, to int64) error {
	b.aside = true
	return b.exec(`DELETE FROM snapshot WHERE id BETWEEN ? AND ?`, from, to)
}
