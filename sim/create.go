package sim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
)

// writeQueue bounds the blocks that wait for the writer while chains are built.
const writeQueue = 256

// Identity decides a world's bytes, together with the generator's version.
type Identity struct {
	Seed    int64
	Profile string // the profile's name
	Shape   string // the profile as YAML
	Until   time.Time
}

// Builder makes a world. Chains may be built concurrently; one writer stores what they add.
type Builder struct {
	db      *store.DB
	meta    store.Meta
	added   chan func(*store.Batch) error
	written chan error
	closed  bool
}

// Create starts a world at path. The file appears there only when Finish has completed it.
func Create(path string, id Identity) (*Builder, error) { return create(path, id, store.Create) }

// CreateAnew is Create for a path that may already have a file, which Finish sets aside.
func CreateAnew(path string, id Identity) (*Builder, error) {
	return create(path, id, store.CreateAnew)
}

func create(path string, id Identity, in func(path string) (*store.DB, error)) (*Builder, error) {
	db, err := in(path)
	if errors.Is(err, store.ErrExists) {
		return nil, fmt.Errorf("%s %w; generate it again with --regenerate, or name another file with --db", path, err)
	}
	switch folder := filepath.Dir(path); {
	case errors.Is(err, dbfile.ErrNotWorld):
		return nil, fmt.Errorf("%s: %w; name another file with --db", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no folder %s; make it, or name another file with --db (%w)", path, folder, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s: the folder %s cannot be written; let this user write there, or name another file with --db (%w)", path, folder, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &Builder{
		db: db, added: make(chan func(*store.Batch) error, writeQueue), written: make(chan error, 1),
		meta: store.Meta{Generator: Generator, Seed: id.Seed, Profile: id.Profile, Shape: id.Shape,
			Until: id.Until.Unix(), Clock: id.Until.UnixMilli(), Base: []byte{}, Digest: []byte{}},
	}
	go func() { c.written <- c.writeAll() }()
	return c, nil
}

// writeAll writes chains and blocks as they arrive, in one transaction, so that an unfinished world leaves nothing behind. After
// a failure it keeps draining the queue, so that no builder blocks forever.
func (c *Builder) writeAll() error {
	batch, err := c.db.Begin()
	for add := range c.added {
		if err == nil {
			err = add(batch)
		}
	}
	if batch == nil {
		return err
	}
	return batch.End(err)
}

// AddChain queues a chain for the writer. It comes before the chain's first block.
func (c *Builder) AddChain(chain store.Chain) {
	c.added <- func(b *store.Batch) error { return b.AddChain(chain) }
}

// AddBlock queues a block of an EVM chain for the writer.
func (c *Builder) AddBlock(delta *store.Delta) {
	c.added <- func(b *store.Batch) error { return b.AddBlock(delta) }
}

// AddTries queues the parts of a chain's large tries at its last block for the writer.
func (c *Builder) AddTries(chain int, tries []store.TrieChange) {
	c.added <- func(b *store.Batch) error { return b.AddTrieChanges(chain, tries) }
}

// AddPrimaryBlock queues a block of a P- or X-Chain for the writer.
func (c *Builder) AddPrimaryBlock(delta *store.PrimaryDelta) {
	c.added <- func(b *store.Batch) error { return b.AddPrimaryBlock(delta) }
}

// Participants holds the networks, nodes, personas, contracts and markets of a world.
type Participants struct {
	Networks  []store.PrimaryNetwork
	Nodes     []store.Node
	Personas  []store.Persona
	Contracts []store.Contract
	Markets   []store.Market
}

// Play adds to a world after its generated history, and returns the named contracts and the markets that came of it.
type Play func(ctx context.Context, w *World) (Participants, error)

// Finish writes the participants and the digest, runs play if it is not nil, and opens the world. What play adds belongs to the
// world from the beginning: nothing can rewind past it.
func (c *Builder) Finish(ctx context.Context, p Participants, play Play) (*World, error) {
	c.closed = true
	close(c.added)
	if err := <-c.written; err != nil {
		return nil, errors.Join(err, c.db.Close())
	}
	err := c.write(p.write)
	if err == nil {
		err = c.writeDigest(ctx)
	}
	if err == nil && play != nil {
		err = c.play(ctx, play)
	}
	if err == nil {
		err = c.db.Finish()
	}
	if err != nil {
		return nil, errors.Join(err, c.db.Close())
	}
	w, err := read(ctx, c.db)
	if err != nil {
		return nil, errors.Join(err, c.db.Close())
	}
	return w, nil
}

// play opens the world so far and runs play on it.
func (c *Builder) play(ctx context.Context, play Play) error {
	if err := c.db.Index(); err != nil {
		return err
	}
	w, err := read(ctx, c.db)
	if err != nil {
		return err
	}
	more, err := play(ctx, w)
	if err != nil {
		return err
	}
	if err := c.write(more.write); err != nil {
		return err
	}
	c.meta = w.meta
	return c.writeDigest(ctx)
}

func (c *Builder) write(write func(*store.Batch) error) error {
	batch, err := c.db.Begin()
	if err != nil {
		return err
	}
	return batch.End(write(batch))
}

func (c *Builder) writeDigest(ctx context.Context) (err error) {
	if c.meta.Base, err = computeBase(ctx, c.db, c.meta, nil); err != nil {
		return err
	}
	h, err := readHeads(ctx, c.db)
	if err != nil {
		return err
	}
	c.meta.Digest = digestOf(c.meta.Base, c.meta.Clock, h)
	return c.write(func(b *store.Batch) error { return b.SetMeta(c.meta) })
}

func (p Participants) write(batch *store.Batch) error {
	return errors.Join(
		each(p.Networks, batch.AddPrimaryNetwork),
		each(p.Nodes, batch.AddNode),
		each(p.Personas, batch.AddPersona),
		each(p.Contracts, batch.AddContract),
		each(p.Markets, batch.AddMarket),
	)
}

func each[T any](rows []T, add func(T) error) error {
	for _, row := range rows {
		if err := add(row); err != nil {
			return err
		}
	}
	return nil
}

// Abort discards the world. It does nothing after Finish.
func (c *Builder) Abort() error {
	if c.closed {
		return nil
	}
	c.closed = true
	close(c.added)
	return errors.Join(<-c.written, c.db.Close())
}
