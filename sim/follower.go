package sim

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"sync"
	"time"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Follower is a copy of a world that follows it at a distance, as an index follows its node: what is committed to the world comes to
// the copy later. Each chain has an order of its own: one that is far behind holds up no other, save a block that spends what a block made
// which is not there yet.
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
	opened   map[ChainKey]*World // the copy as it is now, for who asks about a chain; without those that it was before
	failed   error

	reading sync.RWMutex // held for reading by who reads the copy; taken after mu
}

// ChainKey names a chain of a world, by its number in the file.
type ChainKey struct {
	Primary bool // a P- or X-Chain
	Chain   int
}

// Key names an EVM chain.
func Key(c *reader.Chain) ChainKey { return ChainKey{false, c.Row.ID} }

// keyOf names a chain of a network by its number among primary chains: the C-Chain is an EVM chain.
func (w *World) keyOf(primaryChain int) ChainKey {
	for _, n := range w.Networks {
		if n.Chain(txs.CChain) == primaryChain {
			return Key(n.CChain())
		}
	}
	return ChainKey{true, primaryChain}
}

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
	chain ChainKey            // whose order it keeps; none for what is about no chain
	block uint64              // the newest block that it adds to the chain, 0 for none
	after map[ChainKey]uint64 // blocks of other chains whose outputs it spends
}

// spends takes down of whose outputs a block spends some.
func (r *revision) spends(w *World, d *store.PrimaryDelta) {
	for _, s := range d.Spends {
		if key := w.keyOf(s.UTXO.Chain()); key != r.chain {
			r.after[key] = max(r.after[key], s.UTXO.Height())
		}
	}
}

// Follow makes a copy of the world that follows it from now on. There is one at a time.
func (w *World) Follow(ctx context.Context) (*Follower, error) {
	folder, err := os.MkdirTemp("", "snowglobe-index-")
	if err != nil {
		return nil, err
	}
	w.writer.Lock()
	defer w.writer.Unlock()
	f := &Follower{of: w, folder: folder, lags: map[ChainKey]Lag{}, indexed: map[ChainKey]uint64{}, opened: map[ChainKey]*World{}, meta: w.meta}
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
	if err == nil {
		err = f.change(func(b *store.Batch) error { return b.ForgetHistory() })
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

// SetLag says how far chains are to be behind. They are so at once: blocks that are too new leave the copy.
func (f *Follower) SetLag(ctx context.Context, chains []ChainKey, l Lag) error {
	f.of.writer.Lock()
	defer f.of.writer.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, chain := range chains {
		f.lags[chain] = l
	}
	f.reading.Lock() // who reads the copy has opened it as it was
	defer f.reading.Unlock()
	if f.failed == nil {
		f.failed = f.goBack(ctx)
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

// Read is the copy, until done is called, for who asks about chains. Its clock is that of the one that is furthest behind.
func (f *Follower) Read(ctx context.Context, chains []ChainKey) (w *World, of ChainKey, done func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	now := int64(math.MaxInt64)
	for _, key := range chains {
		at, err := f.now(ctx, key)
		if err != nil {
			return nil, of, nil, err
		}
		if at < now {
			now, of = at, key
		}
	}
	if f.failed == nil && f.opened[of] == nil {
		f.failed = f.open(ctx, of)
	}
	if f.failed != nil {
		return nil, of, nil, f.failed
	}
	w = f.opened[of]
	if w.Clock.UnixMilli() != now {
		w.Clock.Set(time.UnixMilli(now))
	}
	f.reading.RLock()
	return w, of, f.reading.RUnlock, nil
}

// open opens the copy for who asks about a chain: a world that tells what it is.
func (f *Follower) open(ctx context.Context, of ChainKey) error {
	w, err := read(ctx, f.db)
	if err != nil {
		return err
	}
	f.opened[of] = w
	digest := digestOf(f.meta.Base, f.meta.Clock, w.heads)
	if bytes.Equal(digest, f.meta.Digest) {
		return nil
	}
	f.meta.Digest, w.meta.Digest = digest, digest
	return f.change(func(*store.Batch) error { return nil })
}

// now is the time of a chain in the copy, in milliseconds: that of its newest block, if there are others.
func (f *Follower) now(ctx context.Context, key ChainKey) (int64, error) {
	now := f.of.Clock.UnixMilli() - f.lags[key].Milliseconds
	if f.lags[key].Milliseconds == 0 && f.indexed[key] < f.existing[key] {
		at, err := f.blockTime(ctx, key, f.indexed[key])
		return min(now, at*1000), err
	}
	return now, nil
}

// follow takes down what was committed to the world, whose writer's lock the caller holds.
func (f *Follower) follow(m store.Meta, write func(*store.Batch) error, added *Added) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range added.Primary {
		f.waiting = append(f.waiting, f.primary(&m, p.Deltas)...)
	}
	if len(added.Primary) == 0 {
		r := revision{meta: &m, time: m.Clock, write: write, after: map[ChainKey]uint64{}}
		if added.Chain != nil {
			r.chain = Key(added.Chain)
		}
		if added.Block != nil {
			r.block = added.Block.Block.ID.Number()
			if added.Block.Atomic != nil {
				r.spends(f.of, added.Block.Atomic)
			}
		}
		f.waiting = append(f.waiting, r)
	}
	for i := range f.waiting {
		if r := &f.waiting[i]; r.block > 0 {
			f.existing[r.chain] = max(f.existing[r.chain], r.block)
		}
	}
}

// primary is how blocks of primary chains come to the copy: one by one, but a proposal with what is decided about it.
func (f *Follower) primary(m *store.Meta, deltas []*store.PrimaryDelta) (all []revision) {
	for i := 0; i < len(deltas); i++ {
		first, d := i, deltas[i]
		for d.Block.Type == proposal && i+1 < len(deltas) {
			i++
			d = deltas[i]
		}
		together := deltas[first : i+1]
		r := revision{meta: m, time: d.Block.Time * 1000, chain: ChainKey{true, d.Block.ID.Chain()}, block: d.Block.ID.Number(), after: map[ChainKey]uint64{},
			write: func(b *store.Batch) (err error) {
				for _, d := range together {
					err = errors.Join(err, b.AddPrimaryBlock(d))
				}
				return err
			}}
		for _, d := range together {
			r.spends(f.of, d)
		}
		all = append(all, r)
	}
	return all
}

// proposal is the type of a block that the next one decides about.
const proposal = "Proposal"

// settle brings to the copy what is old enough.
func (f *Follower) settle() {
	for f.failed == nil && f.bring() {
		continue
	}
}

// bring brings what is old enough, and of whose chain nothing waits. It says whether anything came, for which other may have waited.
func (f *Follower) bring() bool {
	var due, waiting []revision
	held := map[ChainKey]bool{}
	for _, r := range f.waiting {
		if held[r.chain] || !f.due(&r) {
			held[r.chain] = r.chain != ChainKey{}
			waiting = append(waiting, r)
			continue
		}
		due = append(due, r)
	}
	if len(due) == 0 {
		return false
	}
	f.reading.Lock() // who reads the copy has opened it as it was
	defer f.reading.Unlock()
	clear(f.opened)
	for i, r := range due {
		switch err := f.apply(&r); {
		case errors.Is(err, store.ErrDisk): // the copy stays as far behind as it is until there is room
			f.waiting = append(due[i:], waiting...)
			return false
		case err != nil:
			f.failed = err
			return false
		}
		if r.block > 0 {
			f.indexed[r.chain] = r.block
		}
	}
	f.waiting = waiting
	return true
}

func (f *Follower) due(r *revision) bool {
	for key, number := range r.after {
		if f.indexed[key] < number {
			return false
		}
	}
	l := f.lags[r.chain]
	return r.block == 0 || r.block+l.Blocks <= f.existing[r.chain] && r.time+l.Milliseconds <= f.of.Clock.UnixMilli() || l == Lag{}
}

func (f *Follower) apply(r *revision) error {
	if r.meta != nil && r.meta.Clock >= f.meta.Clock {
		f.meta = *r.meta
	}
	return f.change(r.write)
}

// change writes into the copy.
func (f *Follower) change(write func(*store.Batch) error) error {
	batch, err := f.db.Begin()
	if err != nil {
		return err
	}
	if err = write(batch); err == nil {
		err = batch.SetMeta(f.meta)
	}
	return batch.End(err)
}
