package sim

import (
	"sync"
	"sync/atomic"
	"time"
)

// Clock is the world's own time and the only "now" that the simulator knows. It starts where the generated history
// ends and stands still until something moves it: a block, at least to the block's own time.
type Clock struct {
	milliseconds atomic.Int64
	jumps        atomic.Uint64
	moved        notice
}

// NewClock returns a clock that stands at t, cut to whole milliseconds, in which blocks count time since Granite.
func NewClock(t time.Time) *Clock {
	c := &Clock{}
	c.Set(t)
	return c
}

func timeAt(milliseconds int64) time.Time { return time.UnixMilli(milliseconds).UTC() }

// Now is the world's time in UTC.
func (c *Clock) Now() time.Time { return timeAt(c.milliseconds.Load()) }

// Unix is the world's time in seconds.
func (c *Clock) Unix() int64 { return c.Now().Unix() }

// UnixMilli is the world's time in milliseconds.
func (c *Clock) UnixMilli() int64 { return c.milliseconds.Load() }

// Set moves the clock to t, cut to whole milliseconds.
func (c *Clock) Set(t time.Time) {
	c.milliseconds.Store(t.UnixMilli())
	c.moved.happened()
}

// reach moves the clock to a time in milliseconds, unless it is there already or later.
func (c *Clock) reach(milliseconds int64) {
	for now := c.milliseconds.Load(); now < milliseconds; now = c.milliseconds.Load() {
		if c.milliseconds.CompareAndSwap(now, milliseconds) {
			c.moved.happened()
			return
		}
	}
}

// jump notes that a client chose the time at which a block put the clock.
func (c *Clock) jump() { c.jumps.Add(1) }

// Jumps counts the blocks whose time a client chose since the process began. Other blocks move the clock no further than the network's rules
// make them.
func (c *Clock) Jumps() uint64 { return c.jumps.Load() }

// notice wakes whoever waits for something to happen. It costs next to nothing while nobody waits.
type notice struct {
	mu      sync.Mutex
	waiting chan struct{} // nil while nobody waits
}

// wait is closed when it happens next.
func (n *notice) wait() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting == nil {
		n.waiting = make(chan struct{})
	}
	return n.waiting
}

// happened wakes those who wait.
func (n *notice) happened() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting != nil {
		close(n.waiting)
		n.waiting = nil
	}
}

// Moved is closed when the clock moves next.
func (c *Clock) Moved() <-chan struct{} { return c.moved.wait() }

// Committed is closed when something is committed next.
func (w *World) Committed() <-chan struct{} { return w.committed.wait() }
