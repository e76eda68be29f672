package sim

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"snowglobe/fixtures"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
)

// Generator is the generator's version. It changes whenever the same seed and profile would give other bytes.
const Generator = "7"

// World is an open world: its file, identity, clock and chains. Meta does not change after the world is opened; Digest follows clients'
// changes.
type World struct {
	DB    *store.DB
	Meta  store.Meta
	Clock *Clock
	Members

	writer    sync.Mutex // held by a writer from reading the parent to the commit
	heads     heads      // guarded by writer
	gathering gathering  // guarded by writer

	relayer   atomic.Pointer[Relayer]
	outbox    atomic.Pointer[Outbox]
	scheduled atomic.Pointer[Schedule]
	committed notice
	lagging   *LaggingCopy // nil if the index does not lag; guarded by writer

	Gate    *Gate      // admits the requests of clients
	pausing sync.Mutex // guards the next
	pauses  []Pause

	identity
}

// Open opens a finished world. If this version cannot serve the file, the error tells the user what to do.
func Open(ctx context.Context, path string) (*World, error) { return open(ctx, path, store.Open) }

// OpenWithin is Open with limits, for one world of many.
func OpenWithin(ctx context.Context, path string, limits store.Limits) (*World, error) {
	return open(ctx, path, func(path string) (*store.DB, error) { return store.OpenWithin(path, limits) })
}

// OpenReadOnly opens a finished world that no process can write to while it is open. Many processes may open it so.
func OpenReadOnly(ctx context.Context, path string) (*World, error) {
	return open(ctx, path, store.OpenReadOnly)
}

func open(ctx context.Context, path string, from func(string) (*store.DB, error)) (*World, error) {
	db, err := from(path)
	switch {
	case errors.Is(err, dbfile.ErrNotWorld):
		return nil, fmt.Errorf("%s: %w; name another file with --db", path, err)
	case errors.Is(err, dbfile.ErrVersion):
		return nil, fmt.Errorf("%s: %w; generate it again with --regenerate, which keeps this file beside the new one, or name another file with --db", path, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	w, err := read(ctx, db)
	if err == nil && (len(w.Chains) == 0 || len(w.Networks) < len(fixtures.Networks)) {
		err = store.Damaged(errors.New("chains or networks are missing"))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(err, db.Close()))
	}
	return w, nil
}

func read(ctx context.Context, db *store.DB) (*World, error) {
	checked := make(chan error, 1)
	go func() { checked <- db.CheckSmallTables(ctx) }()
	w, err := readUnchecked(ctx, db)
	if damage := <-checked; damage != nil {
		return nil, damage
	}
	return w, err
}

func readUnchecked(ctx context.Context, db *store.DB) (*World, error) {
	meta, err := db.Meta(ctx)
	if err != nil {
		return nil, store.Damaged(fmt.Errorf("its format cannot be recognised: %w", err))
	}
	if meta.Generator != Generator {
		return nil, fmt.Errorf("%w (version %s, this one is %s); generate it again with --regenerate, which keeps this file beside the new one, or name another file with --db",
			dbfile.ErrVersion, meta.Generator, Generator)
	}
	w := &World{DB: db, Meta: meta, Clock: NewClock(time.UnixMilli(meta.Clock)), Gate: NewGate(db.Caches(), time.Second), identity: identity{meta: meta}}
	chains, err := db.Chains(ctx)
	if err != nil {
		return nil, store.Damaged(err)
	}
	opened := make(chan error, 1)
	go func() { opened <- openChains(w, chains) }() // the slowest part, which reads nothing from the file
	err = openNetworks(ctx, w)
	if err == nil {
		w.heads, err = readHeads(ctx, db)
	}
	if err := cmp.Or(<-opened, err); err != nil {
		return nil, store.Damaged(err)
	}
	joinNetworks(w)
	if err := openMiners(ctx, w); err != nil {
		return nil, store.Damaged(err)
	}
	return w, nil
}

func openChains(w *World, rows []store.PackedChain) error {
	w.Chains = make([]*reader.Chain, len(rows))
	group := errgroup.Group{}
	for i := range rows {
		group.Go(func() error {
			row, err := rows[i].Unpack()
			if err != nil {
				return err
			}
			if w.Chains[i], err = reader.NewChain(w.DB, row); err != nil {
				return fmt.Errorf("chain %d: %w", row.EVMID, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// lock takes the writer's lock for a request.
func (w *World) lock(ctx context.Context) (unlock func()) {
	defer turn(ctx)
	return w.wait(ctx)
}

// wait takes the writer's lock for requests whose turns come later.
func (w *World) wait(ctx context.Context) (unlock func()) {
	if !w.writer.TryLock() {
		outside(ctx, w.writer.Lock)
	}
	return w.writer.Unlock
}

// View opens a snapshot of the world on so many connections; later commits do not show in it. Close it before the world.
func (w *World) View(ctx context.Context, connections int) (*World, error) {
	db, err := w.DB.View(ctx, connections)
	if err != nil {
		return nil, err
	}
	s, err := read(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// Copy returns a separate in-memory world that starts as this one is now, without its pooled transactions.
func (w *World) Copy(ctx context.Context) (*World, error) {
	defer w.lock(ctx)()
	db, err := w.DB.Copy(ctx, "")
	if err != nil {
		return nil, err
	}
	if err := db.RecordUndo(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	c, err := read(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return c, nil
}

// Claim makes this process the world's only writer until the world is closed.
func (w *World) Claim(ctx context.Context) error {
	if err := w.DB.Lock(); err != nil {
		return err
	}
	meta, err := w.DB.Meta(ctx)
	if err == nil && !bytes.Equal(meta.Digest, w.Digest()) {
		err = errors.New("the world changed while it was opened; start again")
	}
	return err
}

var (
	errUnreadable = errors.New("the world's file cannot be read")
	errDamaged    = errors.New("the world's file is damaged: the log says where, and so does snowglobe verify")
)

// Health returns an error for clients if the world's file was replaced, cannot be read, or is known to be damaged.
func (w *World) Health(ctx context.Context) error {
	if err := w.DB.CheckFile(); err != nil {
		return err
	}
	if _, err := w.DB.Meta(ctx); err != nil {
		return errUnreadable
	}
	if w.knownDamaged() {
		return errDamaged
	}
	return nil
}

// Close stores the pooled transactions and leaves one clean file.
func (w *World) Close() error { return errors.Join(w.storePools(), w.DB.Close()) }

// Revision counts the changes since the world was opened: commits, and names given to chains. While it and the clock stand still,
// every request has the same response.
func (w *World) Revision() int64 {
	n := w.DB.Commits()
	for _, network := range w.Networks {
		n += network.Aliases.count()
	}
	return n
}

// CopyTo makes a separate world in a new file out of everything that this one is now: its rows, its snapshots, and the state in
// memory that a snapshot keeps. A copy that fails leaves nothing behind.
func (w *World) CopyTo(ctx context.Context, path string, limits store.Limits) (*World, error) {
	memory, err := w.writeCopy(ctx, path)
	if errors.Is(err, store.ErrExists) {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the world: %w", err), dbfile.Remove(path))
	}
	c, err := OpenWithin(ctx, path, limits)
	if err != nil {
		return nil, errors.Join(err, dbfile.Remove(path))
	}
	for _, m := range c.Miners {
		if err := m.Rewound(ctx, &memory.Chains[m.Chain.Row.EVMID].Memory); err != nil {
			return nil, errors.Join(fmt.Errorf("chain %d: %w", m.Chain.Row.EVMID, err), c.Close(), dbfile.Remove(path))
		}
	}
	return c, nil
}

// writeCopy writes the file and returns the in-memory state that belongs to it.
func (w *World) writeCopy(ctx context.Context, path string) (*Memory, error) {
	defer w.lock(ctx)()
	memory, err := w.memory(ctx)
	if err != nil {
		return nil, err
	}
	return memory, w.DB.WriteCopy(ctx, path)
}
