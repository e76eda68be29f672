package sim

import "sync"

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
