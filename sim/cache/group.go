package cache

import (
	"sync"
	"sync/atomic"
)

// Group is the set of caches of one world. When the world goes back, all their entries are wrong at once, and so is anything that an
// earlier reader adds later. A nil Group is never cleared; it suits entries named by their content.
type Group struct {
	suspended atomic.Bool

	mu     sync.Mutex
	caches []interface{ clear() }
}

// Suspend clears the caches and keeps them empty until Resume.
func (g *Group) Suspend() {
	g.suspended.Store(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.caches {
		c.clear()
	}
}

// Resume lets the caches store values again. Every reader that began before Suspend must have ended.
func (g *Group) Resume() { g.suspended.Store(false) }

func (g *Group) add(c interface{ clear() }) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.caches = append(g.caches, c)
}

func (g *Group) keeps() bool { return g == nil || !g.suspended.Load() }

func (c *Cache[K, V]) clear() {
	m := c.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		m.unlink(&e.link)
	}
	clear(c.entries)
}
