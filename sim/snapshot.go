package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/miner"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Memory is what a snapshot keeps of the memory of the process, by EVM chain id.
type Memory struct {
	Chains map[uint64]*ChainMemory `json:"chains"`
}

// ChainMemory is what a snapshot keeps of an EVM chain.
type ChainMemory struct {
	miner.Memory
	Height uint64      `json:"height"`
	Hash   common.Hash `json:"hash"` // of the newest block
}

// MemoryOf reads what a snapshot keeps of the memory of the process.
func MemoryOf(s *store.Snapshot) (*Memory, error) {
	m := &Memory{}
	if err := json.Unmarshal(s.Memory, m); err != nil {
		return nil, store.Damaged(fmt.Errorf("snapshot %d: %w", s.ID, err))
	}
	return m, nil
}

// Pause stops what works on the world in the background before the world goes back, until resume is called. What works on goes on from
// the rows that are there then.
type Pause func() (resume func(Return))

// Return is how the world went back.
type Return struct {
	Reset bool // to the freshly generated world
}

// BeforeReturn has something pause whenever the world goes back. Pauses are called in their order, without the writer's lock. What sums up or
// remembers by a hash, a height or a position, and is neither in a cache of the world's group nor told by follow, has to be here: the page
// growth of the manual lists all that is in memory, with what becomes of it.
func (w *World) BeforeReturn(p Pause) {
	w.pausing.Lock()
	defer w.pausing.Unlock()
	w.pauses = append(w.pauses, p)
}

// MaxSnapshots is how many snapshots a world has at most, and MaxSnapshotName how many bytes their names.
const (
	MaxSnapshots    = 1000
	MaxSnapshotName = 100
)

// ErrSnapshots says that there are as many snapshots as there may be.
var ErrSnapshots = fmt.Errorf("there are %d snapshots already: delete some, or go back to one", MaxSnapshots)

// TakeSnapshot marks the world as it is now, in all its parts, as a moment to which it can go back.
func (w *World) TakeSnapshot(ctx context.Context, name string) (*store.Snapshot, error) {
	w.writer.Lock()
	defer w.writer.Unlock()
	all, err := w.DB.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) >= MaxSnapshots {
		return nil, ErrSnapshots
	}
	kept, err := w.memory(ctx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return nil, err
	}
	s := &store.Snapshot{Name: name, Created: w.Clock.UnixMilli(), Digest: w.Digest(), Memory: text}
	return s, w.mark(func(b *store.Batch) error { return b.AddSnapshot(s) })
}

// memory is what a snapshot keeps of the memory of the process. The caller holds the writer's lock.
func (w *World) memory(ctx context.Context) (*Memory, error) {
	kept := &Memory{map[uint64]*ChainMemory{}}
	for _, m := range w.Miners {
		memory, err := m.Memory()
		if err != nil {
			return nil, err
		}
		head, err := m.Chain.Head(ctx)
		if err != nil {
			return nil, err
		}
		kept.Chains[m.Chain.Row.EVMID] = &ChainMemory{*memory, head.Number, head.Hash}
	}
	return kept, nil
}

// DropSnapshot deletes a snapshot. The world stays as it is.
func (w *World) DropSnapshot(ctx context.Context, id int64) error {
	w.writer.Lock()
	defer w.writer.Unlock()
	if _, err := w.DB.Snapshot(ctx, id); err != nil {
		return err
	}
	return w.mark(func(b *store.Batch) error { return b.DropSnapshots(id, id) })
}

// mark writes what is to be known of snapshots. The world, and what follows it, stay as they are. The caller holds the lock.
func (w *World) mark(write func(*store.Batch) error) error {
	batch, err := w.DB.Begin()
	if err != nil {
		return err
	}
	return batch.End(errors.Join(write(batch), batch.SetMeta(w.meta)))
}

// Revert goes back to a snapshot, and deletes those that were taken after it; with spend that one as well. What was done since was never
// done: the rows, the clock and what is in memory are as they were. When it fails nothing has changed.
func (w *World) Revert(ctx context.Context, id int64, spend bool) error {
	if w.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	return w.goBack(ctx, Return{}, func() (*returning, error) {
		s, err := w.DB.Snapshot(ctx, id)
		if err != nil {
			return nil, err
		}
		memory, err := MemoryOf(s)
		first := id + 1
		if spend {
			first = id
		}
		return &returning{World: w, to: s.Sequence, memory: memory, drop: func(b *store.Batch) error { return b.DropSnapshots(first, maxID) }}, err
	})
}

// followed is how often what is in memory is made to follow the rows, when those cannot be read at once.
const followed = 3

const maxID = 1<<63 - 1

// Reset goes back to the freshly generated world, without snapshots.
func (w *World) Reset(ctx context.Context) error {
	if w.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	return w.goBack(ctx, Return{Reset: true}, func() (*returning, error) {
		return &returning{World: w, memory: &Memory{}, drop: func(b *store.Batch) error { return errors.Join(b.DropSnapshots(1, maxID), b.CountReset()) }}, nil
	})
}

// returning is where the world goes back to.
type returning struct {
	*World
	to     int64 // the commit after which it was so
	memory *Memory
	drop   func(*store.Batch) error // deletes snapshots
}

// goBack has the world go back: it undoes the rows in one transaction, and has everything in memory follow.
func (w *World) goBack(ctx context.Context, how Return, decide func() (*returning, error)) error {
	return w.alone(ctx, how, func(ctx context.Context) error {
		r, err := decide()
		if err != nil {
			return err
		}
		removed, err := r.logs(ctx)
		if err != nil {
			return err
		}
		batch, err := w.DB.Begin()
		if err != nil {
			return err
		}
		if err := batch.End(errors.Join(batch.Rewind(store.RewindOptions{To: r.to}), r.drop(batch))); err != nil {
			return err
		}
		if how.Reset {
			for _, m := range w.Miners {
				m.RestoreDefaults()
			}
		}
		before := r.heads
		for range followed { // the rows are as they were, and what is in memory has to be so too
			if err = r.follow(ctx, before, removed); err == nil {
				break
			}
		}
		w.committed.happened()
		return err
	})
}

// alone is the one place from where blocks are taken out of the world: it stops what works in the background, lets requests end, and holds
// the writer's lock.
func (w *World) alone(ctx context.Context, how Return, do func(ctx context.Context) error) error {
	w.pausing.Lock()
	defer w.pausing.Unlock()
	for _, pause := range w.pauses {
		resume := pause()
		defer func() { resume(how) }()
	}
	w.Gate.Close(ctx)
	defer w.Gate.Open()
	w.writer.Lock()
	defer w.writer.Unlock()
	return do(context.WithoutCancel(ctx))
}

// logs are those, by chain, of the blocks that will be undone.
func (r *returning) logs(ctx context.Context) (map[int][]*types.Log, error) {
	heads, err := r.DB.HeadsBefore(ctx, r.to)
	if err != nil {
		return nil, err
	}
	all := map[int][]*types.Log{}
	for _, c := range r.Chains {
		if head, goes := heads[c.Row.ID]; goes {
			if all[c.Row.ID], err = c.RemovedLogs(ctx, head); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// follow has everything in memory follow the rows. The caller holds the writer's lock.
func (r *returning) follow(ctx context.Context, before heads, removed map[int][]*types.Log) error {
	meta, err := r.DB.Meta(ctx)
	if err != nil {
		return err
	}
	r.become(meta)
	r.Clock.Set(time.UnixMilli(meta.Clock))
	if r.heads, err = readHeads(ctx, r.DB); err != nil {
		return err
	}
	for _, n := range r.Networks {
		pChain := headKey{true, n.Chain(txs.PChain)}
		n.rewound(bytes.Equal(before[pChain], r.heads[pChain]))
		n.dropped.Purge()
		n.canonicalSets.forget()
	}
	if relayer := r.relayer.Load(); relayer != nil {
		if err := (*relayer).Rewound(ctx); err != nil {
			return err
		}
	}
	for i, c := range r.Chains {
		if err := c.Rewound(ctx, removed[c.Row.ID], false); err != nil {
			return fmt.Errorf("chain %d: %w", c.Row.EVMID, err)
		}
		memory := r.memory.Chains[c.Row.EVMID]
		if memory == nil {
			memory = &ChainMemory{}
		}
		if err := r.Miners[i].Rewound(ctx, &memory.Memory); err != nil {
			return fmt.Errorf("chain %d: %w", c.Row.EVMID, err)
		}
	}
	return nil
}
