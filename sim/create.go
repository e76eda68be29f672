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

// writeQueue is how many blocks may wait for the writer while chains are built.
const writeQueue = 256

// Identity is what decides a world's bytes, together with the generator's version.
type Identity struct {
	Seed    int64
	Profile string // name of the profile
	Shape   string // the profile as YAML
	Until   time.Time
}

// Builder makes a world. Chains may be built at the same time; one writer takes in what they add.
type Builder struct {
	db      *store.DB
	meta    store.Meta
	added   chan func(*store.Batch) error
	written chan error
	closed  bool
}

// Create begins a world at path, which appears there only when Finish has made it whole.
func Create(path string, id Identity) (*Builder, error) { return create(path, id, store.Create) }

// CreateAnew is Create where a file may be already, which Finish sets aside.
func CreateAnew(path string, id Identity) (*Builder, error) {
	return create(path, id, store.CreateAnew)
}

func create(path string, id Identity, in func(path string) (*store.DB, error)) (*Builder, error) {
	db, err := in(path)
	if errors.Is(err, store.ErrExists) {
		return nil, fmt.Errorf("%s %w; --regenerate makes it anew, and another file is named with --db", path, err)
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

// writeAll writes chains and blocks as they come, in one transaction: an unfinished world leaves nothing. After a failure it
// goes on reading, so that no builder waits for ever.
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

// AddChain hands a chain to the writer. It comes before the chain's first block.
func (c *Builder) AddChain(chain store.Chain) {
	c.added <- func(b *store.Batch) error { return b.AddChain(chain) }
}

// AddBlock hands a block of an EVM chain to the writer.
func (c *Builder) AddBlock(delta *store.Delta) {
	c.added <- func(b *store.Batch) error { return b.AddBlock(delta) }
}

// AddTries hands the parts of a chain's large tries at its last block to the writer.
func (c *Builder) AddTries(chain int, tries []store.TrieChange) {
	c.added <- func(b *store.Batch) error { return b.AddTrieChanges(chain, tries) }
}

// AddPrimaryBlock hands a block of a P- or X-Chain to the writer.
func (c *Builder) AddPrimaryBlock(delta *store.PrimaryDelta) {
	c.added <- func(b *store.Batch) error { return b.AddPrimaryBlock(delta) }
}

// Participants is the networks, nodes, personas, contracts and markets of a world.
type Participants struct {
	Networks  []store.PrimaryNetwork
	Nodes     []store.Node
	Personas  []store.Persona
	Contracts []store.Contract
	Markets   []store.Market
}

// Play lets something happen in a world after its history, and says which contracts are there by a name then, and what is known of tokens.
type Play func(ctx context.Context, w *World) (Participants, error)

// Finish writes the participants and the digest, lets play add to the world, which may be nil, and opens it. What play adds belongs to
// what the world is from the beginning: there is no way back before it.
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

// play lets play add to the world as it is by then.
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

// writeDigest writes what the world is.
func (c *Builder) writeDigest(ctx context.Context) (err error) {
	if c.meta.Base, err = computeBase(ctx, c.db, c.meta); err != nil {
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
		all(p.Networks, batch.AddPrimaryNetwork),
		all(p.Nodes, batch.AddNode),
		all(p.Personas, batch.AddPersona),
		all(p.Contracts, batch.AddContract),
		all(p.Markets, batch.AddMarket),
	)
}

func all[T any](rows []T, add func(T) error) error {
	for _, row := range rows {
		if err := add(row); err != nil {
			return err
		}
	}
	return nil
}

// Abort discards the world. After Finish it does nothing.
func (c *Builder) Abort() error {
	if c.closed {
		return nil
	}
	c.closed = true
	close(c.added)
	return errors.Join(<-c.written, c.db.Close())
}
