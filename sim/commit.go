package sim

import (
	"context"
	"errors"

	"snowglobe/sim/store"
)

var errNoProposer = errors.New("no validator is there to propose a block")

// commit writes what a block adds to an open world, and the world's new digest with it. heads are the last digests of the
// primary chains that it prolongs. Every writer to an open world comes this way, so nothing changes between the digest and
// the writing.
func (w *World) commit(ctx context.Context, heads map[int][]byte, write func(*store.Batch) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	meta := w.Meta
	var err error
	if meta.Digest, err = computeDigest(ctx, w.DB, meta, heads); err != nil {
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
	w.digest = meta.Digest
	return nil
}
