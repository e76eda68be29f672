package sim

import (
	"sync/atomic"
	"time"
)

// Clock is the world's own time and the only "now" that the simulator knows. It starts where the generated history
// ends and stands still until something moves it.
type Clock struct{ unix atomic.Int64 }

// NewClock returns a clock that stands at t, cut to whole seconds.
func NewClock(t time.Time) *Clock {
	c := &Clock{}
	c.unix.Store(t.Unix())
	return c
}

// Now is the world's time in UTC.
func (c *Clock) Now() time.Time { return time.Unix(c.unix.Load(), 0).UTC() }

// Unix is the world's time in seconds.
func (c *Clock) Unix() int64 { return c.unix.Load() }

// Set moves the clock to t, cut to whole seconds.
func (c *Clock) Set(t time.Time) { c.unix.Store(t.Unix()) }
