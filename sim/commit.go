package sim

import (
	"cmp"
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

// commit is everything that one commit adds to an open world.
type commit struct {
	heads heads // the new last digests of the chains that it extends
	time  int64 // of its block, in Unix milliseconds
	added Added
	write func(*store.Batch) error // writes the rows
	done  func() error             // tells whoever waits for it, once it is in the file; nil for no one
}

// gathering holds commits that wait for one database transaction.
type gathering struct {
	on      bool
	commits []commit
	err     error // why some could not be stored; nothing may follow them
}

// gather holds back the commits of blocks until end is called or anything else is committed: several in one database transaction cost little
// more than one. Until then no reader sees them. The caller holds the writer's lock until after end, which returns why they could not be stored.
func (w *World) gather() (end func() error) {
	w.gathering.on = true
	return func() error {
		err := w.storeGathered()
		w.gathering.on, w.gathering.err = false, nil
		return err
	}
}

func (w *World) storeGathered() error {
	g := &w.gathering
	if len(g.commits) == 0 {
		return g.err
	}
	all := g.commits
	g.commits = nil
	g.err = w.store(all)
	return g.err
}

// commit writes what a block adds to an open world. One database transaction holds the rows, the clock (at the block's time in
// milliseconds or later), the new digest and the outbox's messages. The caller has held w.writer since it read the block's parent. Every
// writer to an open world goes through this function or one of those below.
func (w *World) commit(c commit) error {
	if err := w.storeGathered(); err != nil {
		return err
	}
	if err := w.CanStand(timeAt(c.time)); err != nil {
		return err
	}
	return w.store([]commit{c})
}

// gatherOrCommit is commit for a block that may wait for others.
func (w *World) gatherOrCommit(c commit) error {
	g := &w.gathering
	if !g.on {
		return w.commit(c)
	}
	if err := cmp.Or(g.err, w.CanStand(timeAt(c.time))); err != nil {
		return err
	}
	g.commits = append(g.commits, c)
	return nil
}

// store writes commits in one database transaction, in which each can be undone alone.
func (w *World) store(all []commit) error {
	metas, heads, clock := make([]store.Meta, len(all)), w.heads, w.Clock.UnixMilli()
	for i := range all {
		c := &all[i]
		heads = heads.with(c.heads)
		c.added.From, c.added.To = clock, max(clock, c.time)
		clock = c.added.To
		metas[i] = w.meta
		metas[i].Clock, metas[i].Digest = clock, digestOf(w.meta.Base, clock, heads)
	}
	outbox, last := w.outbox.Load(), len(all)-1
	err := w.revise(metas[last], func(b *store.Batch) error {
		for i := range all {
			if i > 0 {
				if err := b.Step(metas[i-1]); err != nil {
					return err
				}
			}
			if err := all[i].write(b); err != nil {
				return err
			}
			if outbox == nil {
				continue
			}
			if err := (*outbox).Promise(b, &all[i].added); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.heads = heads
	w.Clock.reach(clock)
	for i := range all {
		c := &all[i]
		if w.lagging != nil {
			w.lagging.follow(metas[i], c.write, &c.added)
		}
		if c.done != nil {
			err = errors.Join(err, c.done())
		}
	}
	return err
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
	return transact(w.DB, w.meta, func(b *store.Batch) error {
		b.Uncounted()
		return write(b)
	})
}

// revise runs one database transaction against an open world. The caller holds the writer's lock.
func (w *World) revise(m store.Meta, write func(*store.Batch) error) error {
	if err := transact(w.DB, m, write); err != nil {
		return err
	}
	w.become(m)
	w.committed.happened()
	return nil
}

func transact(db *store.DB, m store.Meta, write func(*store.Batch) error) error {
	batch, err := db.Begin()
	if err != nil {
		return err
	}
	if err = write(batch); err == nil {
		err = batch.SetMeta(m)
	}
	return batch.End(err)
}
