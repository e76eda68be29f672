package verify

import (
	"context"
	"errors"
	"sync"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// recount makes the roll-ups of the metrics again, in a file of its own, from the blocks that verify builds.
type recount struct {
	mu    sync.Mutex
	db    *store.DB
	batch *store.Batch
	err   error
}

func newRecount(w *sim.World) (*recount, error) {
	db, err := store.Create(store.Memory)
	if err != nil {
		return nil, err
	}
	r := &recount{db: db}
	if r.batch, err = db.Begin(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	for _, c := range w.Chains {
		r.err = errors.Join(r.err, r.batch.AddChain(c.Row))
	}
	return r, nil
}

// add counts a block. Chains may be verified at the same time: the order of their blocks does not matter.
func (r *recount) add(d *store.Delta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.batch.AddActivity(d.Block.ID.Chain(), d.Activity)
	}
	for i := range d.Messages {
		if r.err == nil {
			r.err = r.batch.AddICMCount(&d.Messages[i])
		}
	}
}

// finish compares the roll-ups of the world with those made again, unless verify has already failed.
func (r *recount) finish(ctx context.Context, w *sim.World, err error) error {
	err = r.batch.End(errors.Join(err, r.err))
	if err == nil {
		err = w.DB.SameRollUps(ctx, r.db)
	}
	return errors.Join(err, r.db.Close())
}
