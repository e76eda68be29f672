package sim

import (
	"context"
	"errors"

	"snowglobe/sim/store"
)

var errNoProposer = errors.New("no validator is there to propose a block")

// commit writes what a block adds to an open world, and the world's new digest with it. heads are the last digests of the
// primary chains that it extends. Every writer to an open world calls this or one of those below, so nothing changes
// between the digest and the writing.
func (w *World) commit(ctx context.Context, heads map[int][]byte, write func(*store.Batch) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	chains, err := computeDigest(ctx, w.DB, w.Meta, heads)
	if err != nil {
		return err
	}
	return w.revise(ctx, revision{chains: chains, operations: w.operations}, write)
}

// AddOperation writes a new operation, made when its number is known.
func (w *World) AddOperation(ctx context.Context, draft func(number int64) *store.Operation) (*store.Operation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := draft(w.operations + 1)
	r := revision{operations: o.ID, changed: o.ID, digest: o.Digest()}
	return o, w.revise(ctx, r, func(b *store.Batch) error { return b.PutOperation(o) })
}

// UpdateOperation writes an operation as it is now, and what else write writes, in one transaction.
func (w *World) UpdateOperation(ctx context.Context, o *store.Operation, write func(*store.Batch) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := revision{operations: w.operations, changed: o.ID, digest: o.Digest()}
	return w.revise(ctx, r, func(b *store.Batch) error { return errors.Join(b.PutOperation(o), write(b)) })
}

// DeleteOperation deletes an operation with its file.
func (w *World) DeleteOperation(ctx context.Context, id int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := revision{operations: w.operations, changed: id}
	return w.revise(ctx, r, func(b *store.Batch) error { return errors.Join(b.DropOperation(id), b.DropChunks(id, 0)) })
}

// revision is what a commit makes of that part of the world's identity which changes.
type revision struct {
	chains     []byte // digest of everything but operations; nil when that stays as it is
	operations int64  // how many were started
	changed    int64  // the number of the operation that changes, 0 for none,
	digest     []byte // and its digest, nil when it is deleted
}

// revise is the one place that writes to an open world. Its caller holds the lock.
func (w *World) revise(ctx context.Context, r revision, write func(*store.Batch) error) (err error) {
	if r.chains == nil {
		r.chains = w.chains
	}
	meta := w.Meta
	meta.Started, meta.Chains = r.operations, r.chains
	if meta.Digest, err = digestWithOperations(ctx, w.DB, r); err != nil {
		return err
	}
	batch, err := w.DB.Begin()
	if err != nil {
		return err
	}
	if err = write(batch); err == nil {
		err = batch.SetMeta(meta)
	}
	if err := batch.End(err); err != nil {
		return err
	}
	w.digest, w.chains, w.operations = meta.Digest, r.chains, r.operations
	return nil
}
