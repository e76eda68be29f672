package export

import (
	"context"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// Event holds the rows of one transaction.
type Event struct {
	Time int64  // of its block, Unix seconds
	Text []byte // CSV
	Rows int
}

// eventReader turns a chain's transactions into events, leaving out those without rows.
type eventReader interface {
	read(ctx context.Context, at []store.Position) ([]Event, error)
}

// Scanner visits a scope's transactions in order.
type Scanner struct{ chains []*chainCursor }

type chainCursor struct {
	eventReader
	left  *union
	queue []Event
}

// NewScanner starts a scan.
func NewScanner(ctx context.Context, w *sim.World, s Scope) (*Scanner, error) {
	walk := &Scanner{}
	for _, chain := range s.Chains {
		source, err := openChain(w, chain)
		if err != nil {
			return nil, err
		}
		low, high, err := source.span(ctx, w, s)
		if err != nil {
			return nil, err
		}
		t := &chainCursor{}
		if chain.Kind == KindEVM {
			t.eventReader, t.left, err = openEVM(ctx, w, &s, source, low, high)
		} else {
			t.eventReader, t.left, err = openPrimary(ctx, w, &s, source, low, high)
		}
		if err != nil {
			return nil, err
		}
		walk.chains = append(walk.chains, t)
	}
	return walk, nil
}

// span returns the part of the chain that a scope covers.
func (s *chainSource) span(ctx context.Context, w *sim.World, scope Scope) (low, high store.Position, err error) {
	from, end := uint64(0), s.Head+1
	if scope.From > 0 {
		from, err = s.since(ctx, w, scope.From)
	}
	if scope.Until > 0 && err == nil {
		end, err = s.since(ctx, w, scope.Until)
	}
	return store.At(s.rows, from, 0), store.At(s.rows, end, 0) - 1, err
}

// since returns the height of the first block at or after a time, or Head + 1 if there is none: an export ends at its heads.
func (s *chainSource) since(ctx context.Context, w *sim.World, unix int64) (uint64, error) {
	return store.FirstSince(s.Head, unix, func(height uint64) (int64, error) { return s.time(ctx, w, height) })
}

func (s *chainSource) time(ctx context.Context, w *sim.World, height uint64) (int64, error) {
	if s.Kind == KindP || s.Kind == KindX {
		return w.DB.PrimaryTime(ctx, store.At(s.blocks, height, 0))
	}
	return w.DB.BlockTime(ctx, store.At(s.blocks, height, 0))
}

// Next returns the next event, or nil at the end.
func (w *Scanner) Next(ctx context.Context) (*Event, error) {
	best := -1
	for i, t := range w.chains {
		if err := t.fill(ctx); err != nil {
			return nil, err
		}
		if len(t.queue) > 0 && (best < 0 || t.queue[0].Time < w.chains[best].queue[0].Time) {
			best = i
		}
	}
	if best < 0 {
		return nil, nil
	}
	t := w.chains[best]
	event := &t.queue[0]
	t.queue = t.queue[1:]
	return event, nil
}

// fill reads on until it has an event or nothing is left.
func (t *chainCursor) fill(ctx context.Context) error {
	for len(t.queue) == 0 {
		at, err := t.left.take(ctx, store.MaxTransactionsAt)
		if err != nil || len(at) == 0 {
			return err
		}
		if t.queue, err = t.read(ctx, at); err != nil {
			return err
		}
	}
	return nil
}
