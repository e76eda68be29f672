package sim

import (
	"context"
	"errors"

	"snowglobe/sim/store"
)

var errNoProposer = errors.New("no validator is there to propose a block")

// commit writes what a block adds to an open world, and in the same transaction the clock, which then stands at the block's time in
// milliseconds or later, and the new digest. next are the last digests of the chains that it extends. The caller holds
// w.writer from the moment at which it read the block's parent; every writer to an open world calls this or one of
// those below.
func (w *World) commit(next heads, time int64, write func(*store.Batch) error) error {
	m := w.meta
	all := w.heads.with(next)
	m.Clock = max(w.Clock.UnixMilli(), time)
	m.Digest = digestOf(m.Base, m.Clock, all)
	if err := w.revise(m, write); err != nil {
		return err
	}
	w.heads = all
	w.Clock.reach(m.Clock)
	return nil
}

// AddOperation writes a new operation, made when its number is known.
func (w *World) AddOperation(ctx context.Context, draft func(number int64) *store.Operation) (*store.Operation, error) {
	w.writer.Lock()
	defer w.writer.Unlock()
	m := w.meta
	m.Started++
	o := draft(m.Started)
	return o, w.revise(m, func(b *store.Batch) error { return b.PutOperation(o) })
}

// UpdateOperation writes an operation as it is now, and what else write writes, in one transaction.
func (w *World) UpdateOperation(ctx context.Context, o *store.Operation, write func(*store.Batch) error) error {
	w.writer.Lock()
	defer w.writer.Unlock()
	return w.revise(w.meta, func(b *store.Batch) error { return errors.Join(b.PutOperation(o), write(b)) })
}

// DeleteOperation deletes an operation with its file.
func (w *World) DeleteOperation(ctx context.Context, id int64) error {
	w.writer.Lock()
	defer w.writer.Unlock()
	return w.revise(w.meta, func(b *store.Batch) error { return errors.Join(b.DropOperation(id), b.DropChunks(id, 0)) })
}

// revise is the one place that writes to an open world. Its caller holds the lock.
func (w *World) revise(m store.Meta, write func(*store.Batch) error) error {
	batch, err := w.DB.Begin()
	if err != nil {
		return err
	}
	if err = write(batch); err == nil {
		err = batch.SetMeta(m)
	}
	if err := batch.End(err); err != nil {
		return err
	}
	w.mu.Lock()
	w.meta = m
	w.mu.Unlock()
	w.committed.happened()
	return nil
}
