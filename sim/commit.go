package sim

import (
	"context"
	"errors"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

var errNoProposer = errors.New("no validator is there to propose a block")

// Added is what a commit adds to the chains.
type Added struct {
	Chain    *reader.Chain // an EVM chain, of Block if there is one; or nil
	Block    *store.Delta  // of an EVM chain, or nil
	Primary  []PrimaryAdded
	From, To int64 // where the clock stands before and afterwards, Unix milliseconds
}

// PrimaryAdded is what a commit adds to the P- and X-Chain of a network.
type PrimaryAdded struct {
	Network *Network
	Deltas  []*store.PrimaryDelta
}

// Outbox promises messages about what happens.
type Outbox interface {
	// Promise writes them in the transaction of the commit that they are about, which it reads too: the file waits for the
	// transaction's end. The caller holds the writer's lock.
	Promise(b *store.Batch, added *Added) error
}

// SetOutbox says who promises messages from now on.
func (w *World) SetOutbox(o Outbox) { w.outbox.Store(&o) }

// commit writes what a block adds to an open world, and in the same transaction the clock, which then stands at the block's time in
// milliseconds or later, the new digest, and the messages that are promised because of it. next are the last digests of the chains
// that it extends. The caller holds w.writer from the moment at which it read the block's parent; every writer to an open world
// calls this or one of those below.
func (w *World) commit(next heads, time int64, added Added, write func(*store.Batch) error) error {
	m := w.meta
	all := w.heads.with(next)
	m.Clock = max(w.Clock.UnixMilli(), time)
	if err := w.CanStand(timeAt(m.Clock)); err != nil {
		return err
	}
	m.Digest = digestOf(m.Base, m.Clock, all)
	added.From, added.To = w.Clock.UnixMilli(), m.Clock
	outbox := w.outbox.Load()
	err := w.revise(m, func(b *store.Batch) error {
		if err := write(b); err != nil || outbox == nil {
			return err
		}
		return (*outbox).Promise(b, &added)
	})
	if err != nil {
		return err
	}
	w.heads = all
	w.Clock.reach(m.Clock)
	if w.follower != nil {
		w.follower.follow(m, write, &added)
	}
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

// Write writes what is no part of the chains, in one transaction.
func (w *World) Write(ctx context.Context, write func(*store.Batch) error) error {
	w.writer.Lock()
	defer w.writer.Unlock()
	return w.revise(w.meta, write)
}

// WriteUncounted writes what no answer that is kept depends on, and tells nobody.
func (w *World) WriteUncounted(ctx context.Context, write func(*store.Batch) error) error {
	w.writer.Lock()
	defer w.writer.Unlock()
	batch, err := w.DB.Begin()
	if err != nil {
		return err
	}
	batch.Uncounted()
	if err = write(batch); err == nil {
		err = batch.SetMeta(w.meta)
	}
	return batch.End(err)
}

// revise is the place that writes to an open world. Its caller holds the lock.
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
	w.become(m)
	w.committed.happened()
	return nil
}
