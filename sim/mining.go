package sim

import (
	"context"
	"fmt"
	"sync"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

func openMiners(ctx context.Context, w *World) error {
	for _, c := range w.Chains {
		m := miner.New(c, miner.World{
			Lock: w.lock, Wait: w.wait, Turn: turn, Outside: outside, Gather: w.gather, Now: w.Clock.UnixMilli, Moved: w.Clock.Moved, ReadOnly: w.DB.ReadOnly(), Advance: due{w}.until, Mined: w.mined,
			CanStand: func(time int64) error { return w.CanStand(timeAt(time)) },
			Commit:   w.commitBlock, CommitChanges: w.commitChanges, Scheduled: w.schedule,
		})
		waiting, err := w.DB.PooledTxs(ctx, c.Row.ID)
		if err == nil {
			err = m.Load(ctx, waiting)
		}
		if err != nil {
			return fmt.Errorf("chain %d: %w", c.Row.EVMID, err)
		}
		w.Miners = append(w.Miners, m)
	}
	return nil
}

// commitBlock commits a block of an EVM chain, with its time in milliseconds, which a client may have chosen, and makes it the readers' head.
func (w *World) commitBlock(c *reader.Chain, d *store.Delta, time uint64, chosen bool) error {
	add := commit{heads: heads{headKey{false, c.Row.ID}: d.Block.Digest}, time: int64(time), added: Added{Chain: c, Block: d}}
	add.write = func(b *store.Batch) error { return b.AddBlock(d) }
	add.done = func() error {
		if chosen {
			w.Clock.jump()
		}
		if r := w.relayer.Load(); r != nil && len(d.Messages) > 0 {
			(*r).Sent(d.Messages)
		}
		return c.Publish(d)
	}
	return w.gatherOrCommit(add)
}

// commitChanges commits state changes of an EVM chain in one transaction and tells its readers.
func (w *World) commitChanges(c *reader.Chain, all []*store.StateDelta) error {
	add := commit{heads: heads{headKey{false, c.Row.ID}: all[len(all)-1].Change.Digest}, added: Added{Chain: c}}
	add.write = func(b *store.Batch) error { return each(all, b.AddStateChange) }
	add.done = func() error {
		c.Changes.Add(1)
		return nil
	}
	return w.commit(add)
}

// Relayer delivers messages from one chain to another.
type Relayer interface {
	// Sent hands over the messages of a block that was just committed. The caller holds the writer's lock.
	Sent(messages []store.Message)

	// Rewound reads the undelivered messages again after a rewind. The caller holds the writer's lock.
	Rewound(ctx context.Context) error

	// Deliver delivers what Sent handed over. It runs after the call that made the block has released the lock, before that call
	// returns.
	Deliver(ctx context.Context)

	// Run retries failed deliveries until the context ends.
	Run(ctx context.Context)
}

// SetRelayer installs the relayer.
func (w *World) SetRelayer(r Relayer) { w.relayer.Store(&r) }

func (w *World) mined(ctx context.Context) {
	if r := w.relayer.Load(); r != nil {
		(*r).Deliver(ctx)
	}
}

// storePools writes the pools to the file if they changed.
func (w *World) storePools() error {
	defer w.lock(context.Background())()
	for _, m := range w.Miners {
		rows, changed, err := m.Stored()
		if err == nil && changed {
			err = w.revise(w.meta, func(b *store.Batch) error { return b.SetPooledTxs(m.Chain.Row.ID, rows) })
		}
		if err != nil {
			return fmt.Errorf("the pool of chain %d: %w", m.Chain.Row.EVMID, err)
		}
	}
	return nil
}

// Mine makes blocks on the chains that have a block time, and retries message deliveries, until the context ends. It reports
// errors to failed.
func (w *World) Mine(ctx context.Context, failed func(error)) {
	var all sync.WaitGroup
	if r := w.relayer.Load(); r != nil {
		all.Go(func() { (*r).Run(ctx) })
	}
	for _, m := range w.Miners {
		all.Go(func() { m.Run(ctx, failed) })
	}
	all.Wait()
}
