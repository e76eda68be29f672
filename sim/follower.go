package sim

import (
	"context"
	"errors"
	"os"
	"sync"

	"snowglobe/sim/store"
)

// Follower is a copy of a world that follows it at a distance, as an index follows its node: what is committed to the world comes to
// the copy later, in the same order.
type Follower struct {
	of     *World
	db     *store.DB
	folder string

	mu       sync.Mutex // guards what follows
	lags     map[int]Lag
	waiting  []revision
	indexed  map[int]uint64 // newest block of each EVM chain in the copy, by the chain's number
	existing map[int]uint64 // in the world
	opened   *World         // the copy as it is now; nil when it has changed since it was opened
	failed   error

	reading sync.RWMutex // held for reading by who reads the copy; taken after mu
}

// Lag is how far an EVM chain of the copy is behind: so many blocks, or so many milliseconds of the world's clock.
type Lag struct {
	Blocks       uint64
	Milliseconds int64
}

// revision is what was committed, and the block of an EVM chain that was added by it, if one was.
type revision struct {
	meta  store.Meta
	write func(*store.Batch) error
	block addedBlock
}

// addedBlock is a block of an EVM chain.
type addedBlock struct {
	chain  int // 0 for none
	number uint64
}

// Follow makes a copy of the world that follows it from now on. There is one at a time.
func (w *World) Follow(ctx context.Context) (*Follower, error) {
	folder, err := os.MkdirTemp("", "snowglobe-index-")
	if err != nil {
		return nil, err
	}
	w.writer.Lock()
	defer w.writer.Unlock()
	f := &Follower{of: w, folder: folder, lags: map[int]Lag{}, indexed: map[int]uint64{}, existing: map[int]uint64{}}
	for _, c := range w.Chains {
		head, err := c.Head(ctx)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(folder))
		}
		f.indexed[c.Row.ID], f.existing[c.Row.ID] = head.Number, head.Number
	}
	if f.db, err = w.DB.Copy(ctx, folder); err != nil {
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

// SetLag says how far an EVM chain is to be behind.
func (f *Follower) SetLag(chain int, l Lag) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lags[chain] = l
}

// Heights are the newest block of an EVM chain in the copy, and in the world.
func (f *Follower) Heights(chain int) (indexed, existing uint64) {
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
	r := revision{meta: m, write: write}
	if added.Block != nil {
		r.block = addedBlock{added.Chain.Row.ID, added.Block.Block.ID.Number()}
		f.existing[r.block.chain] = r.block.number
	}
	f.waiting = append(f.waiting, r)
}

// settle brings to the copy what is old enough.
func (f *Follower) settle() {
	due := 0
	for due < len(f.waiting) && f.due(&f.waiting[due]) {
		due++
	}
	if due == 0 || f.failed != nil {
		return
	}
	f.reading.Lock() // who reads the copy has opened it as it was
	defer f.reading.Unlock()
	f.opened = nil
	for _, r := range f.waiting[:due] {
		if f.failed = f.apply(&r); f.failed != nil {
			return
		}
		if r.block.chain != 0 {
			f.indexed[r.block.chain] = r.block.number
		}
	}
	f.waiting = append([]revision(nil), f.waiting[due:]...)
}

func (f *Follower) due(r *revision) bool {
	l, lags := f.lags[r.block.chain]
	return r.block.chain == 0 || !lags ||
		r.block.number+l.Blocks <= f.existing[r.block.chain] && r.meta.Clock+l.Milliseconds <= f.of.Clock.UnixMilli()
}

func (f *Follower) apply(r *revision) error {
	batch, err := f.db.Begin()
	if err != nil {
		return err
	}
	if err = r.write(batch); err == nil {
		err = batch.SetMeta(r.meta)
	}
	return batch.End(err)
}
