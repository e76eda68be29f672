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

// Memory holds the part of the process's memory that a snapshot stores, by EVM chain id.
type Memory struct {
	Chains map[uint64]*ChainMemory `json:"chains"`
}

// ChainMemory holds the part of the process's memory that belongs to an EVM chain.
type ChainMemory struct {
	miner.Memory
	Height uint64      `json:"height"`
	Hash   common.Hash `json:"hash"` // of the newest block
}

// MemoryOf reads the memory that a snapshot stores.
func MemoryOf(s *store.Snapshot) (*Memory, error) {
	m := &Memory{}
	if err := json.Unmarshal(s.Memory, m); err != nil {
		return nil, store.Damaged(fmt.Errorf("snapshot %d: %w", s.ID, err))
	}
	return m, nil
}

// Pause stops background work on the world before the world goes back, until resume is called. The work then continues from the rows it finds.
type Pause func() (resume func(RewindOptions))

// RewindOptions describes how the world went back.
type RewindOptions struct {
	Reset bool // to the freshly generated world
}

// BeforeRewind registers a pause for whenever the world goes back. Pauses are called in order, without the writer's lock. A sum, or a cache
// keyed by a hash, a height or a position, needs one, unless it is in a cache of the world's group or set by follow: the manual's page growth
// lists everything in memory and what becomes of it.
func (w *World) BeforeRewind(p Pause) {
	w.pausing.Lock()
	defer w.pausing.Unlock()
	w.pauses = append(w.pauses, p)
}

// MaxSnapshots bounds the snapshots of a world, and MaxSnapshotName the bytes of their names.
const (
	MaxSnapshots    = 1000
	MaxSnapshotName = 100
)

// ErrSnapshots refuses a snapshot beyond MaxSnapshots.
var ErrSnapshots = fmt.Errorf("there are %d snapshots already: delete some, or go back to one", MaxSnapshots)

// TakeSnapshot marks the present state of the whole world, so that Revert can restore it.
func (w *World) TakeSnapshot(ctx context.Context, name string) (*store.Snapshot, error) {
	defer w.lock(ctx)()
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

// memory collects the part of the process's memory that a snapshot stores. The caller holds the writer's lock.
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
	defer w.lock(ctx)()
	if _, err := w.DB.Snapshot(ctx, id); err != nil {
		return err
	}
	return w.mark(func(b *store.Batch) error { return b.DropSnapshots(id, id) })
}

// mark writes to the table of snapshots. It does not change the world or its lagging copy. The caller holds the writer's lock.
func (w *World) mark(write func(*store.Batch) error) error {
	return transact(w.DB, w.meta, write)
}

// Revert goes back to a snapshot and deletes later ones, and with spend the snapshot itself. The rows, the clock and the memory become what
// they were. If it fails, nothing has changed.
func (w *World) Revert(ctx context.Context, id int64, spend bool) error {
	if w.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	return w.goBack(ctx, RewindOptions{}, func() (*rewind, error) {
		s, err := w.DB.Snapshot(ctx, id)
		if err != nil {
			return nil, err
		}
		memory, err := MemoryOf(s)
		first := id + 1
		if spend {
			first = id
		}
		return &rewind{World: w, to: s.Sequence, memory: memory, drop: func(b *store.Batch) error { return b.DropSnapshots(first, maxID) }}, err
	})
}

// followAttempts bounds how often the memory is made to follow the rows if they cannot be read at once.
const followAttempts = 3

const maxID = 1<<63 - 1

// Reset goes back to the freshly generated world, without snapshots.
func (w *World) Reset(ctx context.Context) error {
	if w.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	return w.goBack(ctx, RewindOptions{Reset: true}, func() (*rewind, error) {
		return &rewind{World: w, memory: &Memory{}, drop: func(b *store.Batch) error { return errors.Join(b.DropSnapshots(1, maxID), b.CountReset()) }}, nil
	})
}

// rewind holds the state to which the world goes back.
type rewind struct {
	*World
	to     int64 // the commit after which it was the world's
	memory *Memory
	drop   func(*store.Batch) error // deletes snapshots
}

// goBack rewinds the rows in one transaction, and makes everything in memory follow them.
func (w *World) goBack(ctx context.Context, o RewindOptions, decide func() (*rewind, error)) error {
	return w.withWritersPaused(ctx, o, func(ctx context.Context) error {
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
		err = errors.Join(batch.Rewind(store.RewindOptions{To: r.to}), r.drop(batch))
		if err == nil {
			w.Gate.Close()
		}
		if err := batch.End(err); err != nil {
			return err
		}
		if o.Reset {
			for _, m := range w.Miners {
				m.RestoreDefaults()
			}
		}
		before := r.heads
		for range followAttempts { // the rows went back, so the memory has to
			if err = r.follow(ctx, before, removed); err == nil {
				break
			}
		}
		w.committed.happened()
		return err
	})
}

// withWritersPaused runs a function that removes blocks from the world: it stops background work and holds the writer's lock. Requests read
// the world as it is meanwhile. Before the function commits, it closes the gate, which opens when it returns.
func (w *World) withWritersPaused(ctx context.Context, o RewindOptions, do func(ctx context.Context) error) error {
	Leave(ctx) // the gate does not wait for the request that asks
	w.pausing.Lock()
	defer w.pausing.Unlock()
	for _, pause := range w.pauses {
		resume := pause()
		defer func() { resume(o) }()
	}
	defer w.lock(ctx)()
	defer w.Gate.Open()
	if w.DB.InMemory() { // where nobody reads beside an open transaction
		w.Gate.Close()
	}
	return do(context.WithoutCancel(ctx))
}

// logs reads the logs of the blocks that go, by chain.
func (r *rewind) logs(ctx context.Context) (map[int][]*types.Log, error) {
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

// follow makes everything in memory follow the rows. The caller holds the writer's lock.
func (r *rewind) follow(ctx context.Context, before heads, removed map[int][]*types.Log) error {
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
		n.canonicalValidatorSets.forget()
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
