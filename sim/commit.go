package sim

import (
	"context"
	"errors"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

var errNoProposer = errors.New("no validator is there to propose a block")

// Added describes what a commit adds to the chains.
type Added struct {
	Chain    *reader.Chain // the EVM chain that changed, or nil
	Block    *store.Delta  // its new block, or nil
	Primary  []PrimaryAdded
	From, To int64 // the clock before and after, in Unix milliseconds
}

// PrimaryAdded describes what a commit adds to the P- and X-Chain of a network.
type PrimaryAdded struct {
	Network *Network
	Deltas  []*store.PrimaryDelta
}

// Outbox queues messages about what happens, such as webhook events.
type Outbox interface {
	// Promise writes the messages about a commit in the same database transaction, which it may read. The caller holds the writer's
	// lock.
	Promise(b *store.Batch, added *Added) error
}

// SetOutbox installs the outbox.
func (w *World) SetOutbox(o Outbox) { w.outbox.Store(&o) }

// commit writes what a block adds to an open world. One database transaction holds the rows, the clock (at the block's time in
// milliseconds or later), the new digest and the outbox's messages. next has the new last digests of the chains that the block
// extends. The caller has held w.writer since it read the block's parent. Every writer to an open world goes through this
// function or one of those below.
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
	if w.lagging != nil {
		w.lagging.follow(m, write, &added)
	}
	return nil
}

// AddOperation stores a new operation. draft makes it once its number is known, while no block can come or go.
func (w *World) AddOperation(ctx context.Context, draft func(number int64) (*store.Operation, error)) (*store.Operation, error) {
	defer w.lock(ctx)()
	m := w.meta
	m.Started++
	o, err := draft(m.Started)
	if err != nil {
		return nil, err
	}
	return o, w.revise(m, func(b *store.Batch) error { return b.PutOperation(o) })
}

// UpdateOperation stores an operation's current state.
func (w *World) UpdateOperation(ctx context.Context, o *store.Operation) error {
	return w.Write(ctx, func(b *store.Batch) error { return b.PutOperation(o) })
}

// DeleteOperation deletes an operation.
func (w *World) DeleteOperation(ctx context.Context, id int64) error {
	return w.Write(ctx, func(b *store.Batch) error { return b.DropOperation(id) })
}

// Write stores data that is not part of the chains, in one transaction.
func (w *World) Write(ctx context.Context, write func(*store.Batch) error) error {
	defer w.lock(ctx)()
	return w.revise(w.meta, write)
}

// WriteUncounted is Write for data that no cached response depends on. It does not change Revision or wake anyone.
func (w *World) WriteUncounted(ctx context.Context, write func(*store.Batch) error) error {
	defer w.lock(ctx)()
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

// revise runs one database transaction against an open world. The caller holds the writer's lock.
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
