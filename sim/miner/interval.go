package miner

import (
	"context"
	"sync"
	"time"
)

// interval is the time between automatic blocks.
type interval struct {
	mu      sync.Mutex
	every   time.Duration // 0 for never
	changed chan struct{} // wakes Run
}

// SetInterval sets how often, in real time, Run makes a block; 0 for never.
func (i *interval) SetInterval(every time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.every = every
	select {
	case i.changed <- struct{}{}:
	default: // Run reads the newest value anyway
	}
}

// Interval returns how often Run makes a block, 0 for never.
func (i *interval) Interval() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.every
}

// Run makes a block whenever the interval has passed, until the context ends. It passes errors to failed and tries again after the next
// interval.
func (m *Miner) Run(ctx context.Context, failed func(error)) {
	for {
		var due <-chan time.Time
		every := m.Interval()
		ticker := time.NewTicker(max(every, 1))
		if every > 0 {
			due = ticker.C
		}
		changed := false
		for !changed {
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-m.interval.changed:
				changed = true
			case <-due:
				if err := m.tick(ctx); err != nil && ctx.Err() == nil {
					failed(err)
				}
			}
		}
		ticker.Stop()
	}
}

// tick makes the block for one interval.
func (m *Miner) tick(ctx context.Context) error {
	if m.world.Scheduled == nil {
		return m.MineAtOnce(ctx)
	}
	within, done := m.world.Scheduled(ctx, m.Chain)
	err := m.MineAtOnce(within)
	done(err)
	return err
}

// MineAtOnce makes a block with every waiting transaction that fits, as early as the rules allow. Unlike Mine it doesn't wait until the block can settle
// earlier ones.
func (m *Miner) MineAtOnce(ctx context.Context) error {
	return m.mine(ctx, 1, 0, false, func(uint64) {})
}
