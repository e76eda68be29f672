package sim

import (
	"context"

	"snowglobe/sim/evm/reader"
)

type turnKey struct{}

// WithTurn returns a context in which a function is called whenever the writer's lock is taken. Its first call marks the request's place in the order
// of changes.
func WithTurn(ctx context.Context, begun func()) context.Context {
	return context.WithValue(ctx, turnKey{}, begun)
}

// turn marks a request's place in the order of changes.
func turn(ctx context.Context) {
	if begun, ok := ctx.Value(turnKey{}).(func()); ok {
		begun()
	}
}

// Schedule is called before a chain makes a block because of its block time. It returns the context for making the block, and a function to call
// afterwards.
type Schedule func(ctx context.Context, c *reader.Chain) (within context.Context, done func(error))

// SetSchedule installs an observer of the blocks that no client asks for.
func (w *World) SetSchedule(s Schedule) { w.scheduled.Store(&s) }

// schedule notifies the observer that a chain makes a block because of its block time.
func (w *World) schedule(ctx context.Context, c *reader.Chain) (within context.Context, done func(error)) {
	if s := w.scheduled.Load(); s != nil {
		return (*s)(ctx, c)
	}
	return ctx, func(error) {}
}

// Scheduled makes a block on a chain as its block time would.
func (w *World) Scheduled(ctx context.Context, c *reader.Chain) error {
	within, done := w.schedule(ctx, c)
	err := w.MinerOf(c).MineAtOnce(within)
	done(err)
	return err
}
