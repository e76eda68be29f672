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
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// LaggingCopy is a copy of a world that follows it at a distance, as an index follows its node. It begins with everything that the world has,
// and no block ever leaves it: a lagging chain stands still until the world is far enough ahead. Each chain follows in its own order, so that
// one far behind holds up no other, except for a block that spends an output which the copy lacks.
//
// When its world goes back, whoever uses the copy ends it and makes another.
type LaggingCopy struct {
	of     *World
	db     *store.DB
	folder string

	mu       sync.Mutex // guards the fields below; taken after the writer's lock
	lags     map[ChainKey]Lag
	stood    map[ChainKey]int64 // the time that a chain showed when its lag was set, Unix milliseconds
	waiting  []addition
	indexed  map[ChainKey]uint64 // newest block of each chain in the copy
	existing map[ChainKey]uint64 // in the world
	meta     store.Meta          // of the copy
	opened   map[ChainKey]*World // the copy with its present rows, for requests about a chain
	failed   error

	reading sync.RWMutex // readers of the copy hold it for reading; taken after mu
}

// ChainKey names a chain of a world by its number in the file.
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

// Lag is a chain's distance behind the world.
type Lag = miner.Lag

// addition enters the copy as a whole.
type addition struct {
	meta  store.Meta
	time  int64 // Unix milliseconds
	write func(*store.Batch) error
	chain ChainKey            // whose order it keeps; zero for what belongs to no chain
	block uint64              // the newest block that it adds to the chain, 0 for none
	after map[ChainKey]uint64 // blocks of other chains whose outputs it spends
}

// spends notes the blocks whose outputs a block spends.
func (a *addition) spends(w *World, d *store.PrimaryDelta) {
	for _, s := range d.Spends {
		if key := w.keyOf(s.UTXO.Chain()); key != a.chain {
			a.after[key] = max(a.after[key], s.UTXO.Height())
		}
	}
}

// CopyLagging makes a copy of the world that follows it from now on. A world has at most one.
func (w *World) CopyLagging(ctx context.Context) (*LaggingCopy, error) {
	folder, err := os.MkdirTemp("", "snowglobe-index-")
	if err != nil {
		return nil, err
	}
	defer w.lock(ctx)()
	l := &LaggingCopy{of: w, folder: folder, lags: map[ChainKey]Lag{}, stood: map[ChainKey]int64{}, indexed: map[ChainKey]uint64{},
		opened: map[ChainKey]*World{}, meta: w.meta}
	for _, c := range w.Chains {
		head, headErr := c.Head(ctx)
		if err = errors.Join(err, headErr); headErr == nil {
			l.indexed[Key(c)] = head.Number
		}
	}
	for _, n := range w.Networks {
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			head, headErr := w.DB.PrimaryHead(ctx, n.Chain(kind))
			if err = errors.Join(err, headErr); headErr == nil {
				l.indexed[ChainKey{true, n.Chain(kind)}] = head.ID.Number()
			}
		}
	}
	l.existing = maps.Clone(l.indexed)
	if err == nil {
		l.db, err = w.DB.Copy(ctx, folder)
	}
	if err == nil {
		err = l.change(func(b *store.Batch) error { return b.ForgetHistory() })
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	w.lagging = l
	return l, nil
}

// End removes the copy once its last reader is done.
func (l *LaggingCopy) End() error {
	l.of.writer.Lock()
	if l.of.lagging == l {
		l.of.lagging = nil
	}
	l.of.writer.Unlock()
	l.reading.Lock()
	defer l.reading.Unlock()
	return errors.Join(l.db.Close(), os.RemoveAll(l.folder))
}

// SetLag sets how far chains lag. The copy never loses blocks: a chain with a smaller lag than that stands still until the world is far enough
// ahead.
func (l *LaggingCopy) SetLag(ctx context.Context, chains []ChainKey, lag Lag) error {
	defer l.of.lock(ctx)()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
	for _, chain := range chains {
		now, err := l.now(ctx, chain)
		if err != nil {
			return err
		}
		l.stood[chain], l.lags[chain] = now, lag
	}
	return l.failed
}

// Heights returns the newest block of a chain in the copy and in the world.
func (l *LaggingCopy) Heights(chain ChainKey) (indexed, existing uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
	return l.indexed[chain], l.existing[chain]
}

// Read opens the copy for a request about some chains, until done is called. The copy's clock is that of the chain furthest behind.
func (l *LaggingCopy) Read(ctx context.Context, chains []ChainKey) (w *World, of ChainKey, done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
	now := int64(math.MaxInt64)
	for _, key := range chains {
		at, err := l.now(ctx, key)
		if err != nil {
			return nil, of, nil, err
		}
		if at < now {
			now, of = at, key
		}
	}
	if l.failed == nil && l.opened[of] == nil {
		l.failed = l.open(ctx, of)
	}
	if l.failed != nil {
		return nil, of, nil, l.failed
	}
	w = l.opened[of]
	if w.Clock.UnixMilli() != now {
		w.Clock.Set(time.UnixMilli(now))
	}
	l.reading.RLock()
	return w, of, l.reading.RUnlock, nil
}

// open opens the copy as a world of its own for requests about a chain.
func (l *LaggingCopy) open(ctx context.Context, of ChainKey) error {
	w, err := read(ctx, l.db)
	if err != nil {
		return err
	}
	l.opened[of] = w
	digest := digestOf(l.meta.Base, l.meta.Clock, w.heads)
	if bytes.Equal(digest, l.meta.Digest) {
		return nil
	}
	l.meta.Digest, w.meta.Digest = digest, digest
	return l.change(func(*store.Batch) error { return nil })
}

// now returns the time of a chain in the copy, in Unix milliseconds: the world's less a lag of time, or that of the chain's newest block if
// the world has newer ones. It does not fall behind the time that the chain showed when its lag was set.
func (l *LaggingCopy) now(ctx context.Context, key ChainKey) (int64, error) {
	now, lag := l.of.Clock.UnixMilli(), l.lags[key]
	if lag.Milliseconds > 0 {
		return max(now-lag.Milliseconds, l.stood[key]), nil
	}
	if l.indexed[key] == l.existing[key] {
		return now, nil
	}
	at, err := l.blockTime(ctx, key, l.indexed[key])
	return min(now, max(at*1000, l.stood[key])), err
}

// blockTime returns the time of a block of a chain, in Unix seconds.
func (l *LaggingCopy) blockTime(ctx context.Context, key ChainKey, number uint64) (int64, error) {
	if !key.Primary {
		return l.of.DB.BlockTime(ctx, store.At(key.Chain, number, 0))
	}
	return l.of.DB.PrimaryTime(ctx, store.At(key.Chain, number, 0))
}

// follow notes a commit to the world. The caller holds the world's writer lock.
func (l *LaggingCopy) follow(m store.Meta, write func(*store.Batch) error, added *Added) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range added.Primary {
		l.waiting = append(l.waiting, l.primary(&m, p.Deltas)...)
	}
	if len(added.Primary) == 0 {
		a := addition{meta: m, time: m.Clock, write: write, after: map[ChainKey]uint64{}}
		if added.Chain != nil {
			a.chain = Key(added.Chain)
		}
		if added.Block != nil {
			a.block = added.Block.Block.ID.Number()
			if added.Block.Atomic != nil {
				a.spends(l.of, added.Block.Atomic)
			}
		}
		l.waiting = append(l.waiting, a)
	}
	for i := range l.waiting {
		if a := &l.waiting[i]; a.block > 0 {
			l.existing[a.chain] = max(l.existing[a.chain], a.block)
		}
	}
}

// primary divides blocks of primary chains into additions: one for each block, but a proposal goes together with its decision.
func (l *LaggingCopy) primary(m *store.Meta, deltas []*store.PrimaryDelta) (all []addition) {
	const proposal = "Proposal"
	for i := 0; i < len(deltas); i++ {
		first, d := i, deltas[i]
		for d.Block.Type == proposal && i+1 < len(deltas) {
			i++
			d = deltas[i]
		}
		together := deltas[first : i+1]
		a := addition{meta: *m, time: d.Block.Time * 1000, chain: ChainKey{true, d.Block.ID.Chain()}, block: d.Block.ID.Number(), after: map[ChainKey]uint64{},
			write: func(b *store.Batch) error { return each(together, b.AddPrimaryBlock) }}
		for _, d := range together {
			a.spends(l.of, d)
		}
		all = append(all, a)
	}
	return all
}

// settle adds everything that is old enough to the copy.
func (l *LaggingCopy) settle() {
	for l.failed == nil && l.bring() {
		continue
	}
}

// bring adds everything that is old enough, unless something older of the same chain still waits. It reports whether it added anything, for
// which other additions may have waited.
func (l *LaggingCopy) bring() bool {
	var due, waiting []addition
	held := map[ChainKey]bool{}
	for _, a := range l.waiting {
		if held[a.chain] || !l.due(&a) {
			held[a.chain] = a.chain != ChainKey{}
			waiting = append(waiting, a)
			continue
		}
		due = append(due, a)
	}
	if len(due) == 0 {
		return false
	}
	l.reading.Lock() // readers opened the copy with the rows it has now
	defer l.reading.Unlock()
	clear(l.opened)
	for i, a := range due {
		switch err := l.apply(&a); {
		case errors.Is(err, store.ErrDisk): // the copy stands still until there is room
			l.waiting = append(due[i:], waiting...)
			return false
		case err != nil:
			l.failed = err
			return false
		}
		if a.block > 0 {
			l.indexed[a.chain] = a.block
		}
	}
	l.waiting = waiting
	return true
}

func (l *LaggingCopy) due(a *addition) bool {
	for key, number := range a.after {
		if l.indexed[key] < number {
			return false
		}
	}
	lag := l.lags[a.chain]
	return a.block == 0 || a.block+lag.Blocks <= l.existing[a.chain] && a.time+lag.Milliseconds <= l.of.Clock.UnixMilli() || lag == Lag{}
}

func (l *LaggingCopy) apply(a *addition) error {
	if a.meta.Clock >= l.meta.Clock {
		l.meta = a.meta
	}
	return l.change(a.write)
}

func (l *LaggingCopy) change(write func(*store.Batch) error) error {
	return transact(l.db, l.meta, write)
}
