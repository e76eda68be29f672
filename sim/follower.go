package sim

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Follower is a copy of a world that follows it at a distance, as an index follows its node: what is committed to the world comes to
// the copy later. Each EVM chain, and the primary chains of each network together, have an order of their own: one that is far behind does
// not hold up another.
type Follower struct {
	of     *World
	db     *store.DB
	folder string

	mu       sync.Mutex // guards what follows; taken after the writer's lock
	lags     map[ChainKey]Lag
	waiting  []revision
	indexed  map[ChainKey]uint64 // newest block of each chain in the copy
	existing map[ChainKey]uint64 // in the world
	meta     store.Meta          // of the copy
	opened   *World              // the copy as it is now; nil when it has changed since it was opened
	failed   error

	reading sync.RWMutex // held for reading by who reads the copy; taken after mu
}

// ChainKey names a chain of a world, by its number in the file.
type ChainKey struct {
	Primary bool // a P- or X-Chain, or a C-Chain as a chain of atomic transactions
	Chain   int
}

// Key names an EVM chain.
func Key(c *reader.Chain) ChainKey { return ChainKey{false, c.Row.ID} }

// Lag is how far a chain of the copy is behind: so many blocks, or so many milliseconds of the world's clock.
type Lag struct {
	Blocks       uint64
	Milliseconds int64
}

// revision is what comes to the copy at once.
type revision struct {
	meta  *store.Meta // nil for blocks that were in the copy before
	time  int64       // Unix milliseconds
	write func(*store.Batch) error
	added map[ChainKey]uint64 // the newest block that it adds to each chain
	order map[ChainKey]bool   // what it comes after: the primary chains of a network stand for each other
}

// primaryKey stands for the primary chains of a network.
func primaryKey(n *Network) ChainKey { return ChainKey{true, n.Chain(txs.PChain)} }

// Follow makes a copy of the world that follows it from now on. There is one at a time.
func (w *World) Follow(ctx context.Context) (*Follower, error) {
	folder, err := os.MkdirTemp("", "snowglobe-index-")
	if err != nil {
		return nil, err
	}
	w.writer.Lock()
	defer w.writer.Unlock()
	f := &Follower{of: w, folder: folder, lags: map[ChainKey]Lag{}, indexed: map[ChainKey]uint64{}, meta: w.meta}
	for _, c := range w.Chains {
		head, headErr := c.Head(ctx)
		if err = errors.Join(err, headErr); headErr == nil {
			f.indexed[Key(c)] = head.Number
		}
	}
	for _, n := range w.Networks {
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			head, headErr := w.DB.PrimaryHead(ctx, n.Chain(kind))
			if err = errors.Join(err, headErr); headErr == nil {
				f.indexed[ChainKey{true, n.Chain(kind)}] = head.ID.Number()
			}
		}
	}
	f.existing = maps.Clone(f.indexed)
	if err == nil {
		f.db, err = w.DB.Copy(ctx, folder)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	w.follower = f
	return f, nil
}

// End stops following, when nobody reads the copy any more.
func (f *Follower) End() error {
	f.of.writer.Lock()
	if f.of.follower == f {
		f.of.follower = nil
	}
	f.of.writer.Unlock()
	f.reading.Lock()
	defer f.reading.Unlock()
	return errors.Join(f.db.Close(), os.RemoveAll(f.folder))
}

// SetLag says how far chains are to be behind. EVM chains are so at once: blocks that are too new leave the copy. Primary chains get no
// new ones until they are.
func (f *Follower) SetLag(ctx context.Context, chains []ChainKey, l Lag) error {
	f.of.writer.Lock()
	defer f.of.writer.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reading.Lock() // who reads the copy has opened it as it was
	defer f.reading.Unlock()
	went := false
	for _, chain := range chains {
		if f.lags[chain] = l; chain.Primary || f.failed != nil {
			continue
		}
		var back bool
		back, f.failed = f.goBack(ctx, f.of.ChainAt(store.First(chain.Chain)), l)
		went = went || back
	}
	if went && f.failed == nil {
		f.opened, f.failed = nil, f.recount(ctx)
	}
	return f.failed
}

// Heights are the newest block of a chain in the copy, and in the world.
func (f *Follower) Heights(chain ChainKey) (indexed, existing uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	return f.indexed[chain], f.existing[chain]
}

// Read is the copy, until done is called.
func (f *Follower) Read(ctx context.Context) (w *World, done func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	if f.failed == nil && f.opened == nil {
		f.opened, f.failed = read(ctx, f.db)
	}
	if f.failed != nil {
		return nil, nil, f.failed
	}
	f.reading.RLock()
	return f.opened, f.reading.RUnlock, nil
}

// follow takes down what was committed to the world, whose writer's lock the caller holds.
func (f *Follower) follow(m store.Meta, write func(*store.Batch) error, added *Added) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := revision{meta: &m, time: m.Clock, write: write, added: map[ChainKey]uint64{}, order: map[ChainKey]bool{}}
	if added.Chain != nil {
		r.order[Key(added.Chain)] = true
	}
	if added.Block != nil {
		r.added[Key(added.Chain)] = added.Block.Block.ID.Number()
		if added.Block.Atomic != nil {
			r.order[primaryKey(f.of.NetworkOf(added.Chain))] = true
		}
	}
	for _, p := range added.Primary {
		r.order[primaryKey(p.Network)] = true
		for _, d := range p.Deltas {
			if d.Block != nil {
				r.added[ChainKey{true, d.Block.ID.Chain()}] = d.Block.ID.Number()
			}
		}
	}
	maps.Copy(f.existing, r.added)
	f.waiting = append(f.waiting, r)
}

// settle brings to the copy what is old enough.
func (f *Follower) settle() {
	var due, waiting []revision
	held := map[ChainKey]bool{}
	for _, r := range f.waiting {
		waits := !f.due(&r)
		for key := range r.order {
			waits = waits || held[key]
		}
		if !waits {
			due = append(due, r)
			continue
		}
		maps.Copy(held, r.order)
		waiting = append(waiting, r)
	}
	if len(due) == 0 || f.failed != nil {
		return
	}
	f.reading.Lock() // who reads the copy has opened it as it was
	defer f.reading.Unlock()
	f.opened = nil
	for _, r := range due {
		if f.failed = f.apply(&r); f.failed != nil {
			return
		}
		maps.Copy(f.indexed, r.added)
	}
	f.waiting = waiting
}

func (f *Follower) due(r *revision) bool {
	for key, number := range r.added {
		if l, lags := f.lags[key]; lags && (number+l.Blocks > f.existing[key] || r.time+l.Milliseconds > f.of.Clock.UnixMilli()) {
			return false
		}
	}
	return true
}

func (f *Follower) apply(r *revision) error {
	if r.meta != nil && r.meta.Clock >= f.meta.Clock {
		f.meta = *r.meta
	}
	batch, err := f.db.Begin()
	if err != nil {
		return err
	}
	if err = r.write(batch); err == nil {
		err = batch.SetMeta(f.meta)
	}
	return batch.End(err)
}

// goBack takes the blocks that a lag does not allow yet out of the copy, if there are any, and lets them come again when it does. The
// metrics have to be made anew then. The caller holds all locks.
func (f *Follower) goBack(ctx context.Context, c *reader.Chain, l Lag) (went bool, err error) {
	key := Key(c)
	to, err := f.newest(ctx, c, l)
	if err != nil || to >= f.indexed[key] {
		return false, err
	}
	var again []revision
	taken, err := f.db.TakeOut(c.Row.ID, to)
	if err != nil {
		return false, err
	}
	err = f.of.eachCount(ctx, c, to, f.indexed[key], func(n *blockCount) error {
		number := to + 1 + uint64(len(again))
		at, err := f.of.DB.BlockTime(ctx, store.At(c.Row.ID, number, 0))
		again = append(again, revision{
			time: at * 1000, added: map[ChainKey]uint64{key: number}, order: map[ChainKey]bool{key: true},
			write: func(b *store.Batch) error { return errors.Join(b.PutBack(taken[number]), n.add(b)) },
		})
		return err
	})
	f.waiting = slices.Concat(again, f.waiting)
	f.indexed[key] = to
	return true, err
}

// newest is the newest block of an EVM chain that a lag allows, as far as the copy has it.
func (f *Follower) newest(ctx context.Context, c *reader.Chain, l Lag) (uint64, error) {
	key := Key(c)
	to := min(f.indexed[key], f.existing[key]-min(l.Blocks, f.existing[key]))
	for ; to > 0 && l.Milliseconds > 0; to-- {
		at, err := f.of.DB.BlockTime(ctx, store.At(c.Row.ID, to, 0))
		if err != nil || at*1000+l.Milliseconds <= f.of.Clock.UnixMilli() {
			return to, err
		}
	}
	return to, nil
}

// recount makes the copy's metrics out of the blocks that it has.
func (f *Follower) recount(ctx context.Context) error {
	batch, err := f.db.Begin()
	if err != nil {
		return err
	}
	err = batch.ForgetMetrics()
	for _, c := range f.of.Chains {
		if err == nil {
			err = f.of.eachCount(ctx, c, 0, f.indexed[Key(c)], func(n *blockCount) error { return n.add(batch) })
		}
	}
	return batch.End(err)
}
