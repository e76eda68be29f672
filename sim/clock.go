package sim

import (
	"sync"
	"sync/atomic"
	"time"
)

// Clock is the world's own time, the only "now" in the simulator. It starts where the generated history ends, and stands still
// until something moves it: a client, or a block, at least to its own time.
type Clock struct {
	milliseconds atomic.Int64
	jumps        atomic.Uint64
	moved        notice
}

// NewClock returns a clock at t, truncated to milliseconds, the resolution of block times since Granite.
func NewClock(t time.Time) *Clock {
	c := &Clock{}
	c.Set(t)
	return c
}

func timeAt(milliseconds int64) time.Time { return time.UnixMilli(milliseconds).UTC() }

// Now returns the world's time in UTC.
func (c *Clock) Now() time.Time { return timeAt(c.milliseconds.Load()) }

// Unix returns the world's time in seconds.
func (c *Clock) Unix() int64 { return c.Now().Unix() }

// UnixMilli returns the world's time in milliseconds.
func (c *Clock) UnixMilli() int64 { return c.milliseconds.Load() }

// Set moves the clock to t, truncated to milliseconds.
func (c *Clock) Set(t time.Time) {
	c.milliseconds.Store(t.UnixMilli())
	c.moved.happened()
}

// reach moves the clock forward to a time in milliseconds, or leaves it if it is already there or later.
func (c *Clock) reach(milliseconds int64) {
	for now := c.milliseconds.Load(); now < milliseconds; now = c.milliseconds.Load() {
		if c.milliseconds.CompareAndSwap(now, milliseconds) {
			c.moved.happened()
			return
		}
	}
}

// jump counts a block whose time a client chose.
func (c *Clock) jump() { c.jumps.Add(1) }

// Jumps returns how many blocks since the start of the process had a time that a client chose. Other blocks move the clock only
// as far as the network's rules make them.
func (c *Clock) Jumps() uint64 { return c.jumps.Load() }

// notice wakes the goroutines that wait for an event. Without any it costs almost nothing.
type notice struct {
	mu      sync.Mutex
	waiting chan struct{} // nil while no one waits
}

// wait returns a channel that closes at the next event.
func (n *notice) wait() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting == nil {
		n.waiting = make(chan struct{})
	}
	return n.waiting
}

// happened wakes the waiting goroutines.
func (n *notice) happened() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting != nil {
		close(n.waiting)
		n.waiting = nil
	}
}

// Moved returns a channel that closes when the clock moves next.
func (c *Clock) Moved() <-chan struct{} { return c.moved.wait() }

// Committed returns a channel that closes at the next commit.
func (w *World) Committed() <-chan struct{} { return w.committed.wait() }
