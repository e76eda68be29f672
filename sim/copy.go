package sim

import (
	"context"
	"errors"
	"fmt"

	"snowglobe/sim/store"
)

// CopyTo makes a world of its own, in a new file, out of this one as it is now in all its parts: what a snapshot keeps of the memory of the
// process too, and the snapshots. Nothing is left of a copy that fails.
func (w *World) CopyTo(ctx context.Context, path string, limits store.Limits) (*World, error) {
	memory, err := w.writeCopy(ctx, path)
	if errors.Is(err, store.ErrExists) {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the world: %w", err), store.Remove(path))
	}
	c, err := OpenWithin(ctx, path, limits)
	if err != nil {
		return nil, errors.Join(err, store.Remove(path))
	}
	for _, m := range c.Miners {
		if err := m.Rewound(ctx, &memory.Chains[m.Chain.Row.EVMID].Memory); err != nil {
			return nil, errors.Join(fmt.Errorf("chain %d: %w", m.Chain.Row.EVMID, err), c.Close(), store.Remove(path))
		}
	}
	return c, nil
}

// writeCopy writes the file, and answers what the memory of the process was then.
func (w *World) writeCopy(ctx context.Context, path string) (*Memory, error) {
	w.writer.Lock()
	defer w.writer.Unlock()
	memory, err := w.memory(ctx)
	if err != nil {
		return nil, err
	}
	return memory, w.DB.WriteCopy(ctx, path)
}
