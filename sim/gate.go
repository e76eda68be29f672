package sim

import (
	"context"
	"sync"
	"time"

	"snowglobe/sim/cache"
)

// Gate admits client requests to a world. When a rewind is about to be committed, it holds new requests back and lets those under way finish,
// up to its patience, so that no response mixes two histories. Nothing that an overstaying request reads is cached.
type Gate struct {
	caches   *cache.Group
	patience time.Duration

	mu      sync.Mutex
	present *visitors     // requests that came since the gate last closed
	leaving *visitors     // requests that were within then
	closed  chan struct{} // closes when the gate opens; nil while it is open
	late    int           // generations of visitors that have not all left
	within  int           // visitors of all generations
	came    uint64        // visitors since the gate was made
}

// visitors counts the requests admitted between two closings of the gate.
type visitors struct {
	count int
	empty chan struct{} // closes when all have left, once the gate closed behind them
}

// NewGate returns an open gate. Requests within may hold up Close for as long as patience.
func NewGate(caches *cache.Group, patience time.Duration) *Gate {
	return &Gate{caches: caches, patience: patience, present: &visitors{}}
}

type passKey struct{}

// pass is the admission of one request.
type pass struct {
	gate *Gate
	came *visitors // with whom it came
	with *visitors // with whom it counts; nil once it has left
}

// Enter waits until the gate is open and admits a request, which runs in the returned context and calls leave when it ends.
func (g *Gate) Enter(ctx context.Context) (within context.Context, leave func(), err error) {
	for {
		g.mu.Lock()
		closed := g.closed
		if closed == nil {
			p := &pass{gate: g, came: g.present}
			p.enter()
			g.came++
			g.mu.Unlock()
			return context.WithValue(ctx, passKey{}, p), func() { p.leave() }, nil
		}
		g.mu.Unlock()
		select {
		case <-closed:
		case <-ctx.Done():
			return ctx, func() {}, ctx.Err()
		}
	}
}

// Leave releases the gate for a long-running request, such as an event stream, so that Close does not wait for it.
func Leave(ctx context.Context) {
	if p, within := ctx.Value(passKey{}).(*pass); within {
		p.leave()
	}
}

// Visits returns how many requests are within, and how many have ever entered.
func (g *Gate) Visits() (within int, came uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.within, g.came
}

// Overtaken reports whether the world was rewound during the context's request, which may therefore have read two histories.
func Overtaken(ctx context.Context) bool {
	p, within := ctx.Value(passKey{}).(*pass)
	if !within {
		return false
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return p.with != nil && p.came != p.gate.present
}

// outside runs a function that waits for the writer's lock. Until it returns, the context's request counts as having left: the lock may be
// held by a rewind, which waits for those within.
func outside(ctx context.Context, wait func()) {
	p, _ := ctx.Value(passKey{}).(*pass)
	left := p != nil && p.leave()
	wait()
	if left {
		p.gate.mu.Lock()
		defer p.gate.mu.Unlock()
		p.enter()
	}
}

// enter counts the request. The caller holds the gate's lock.
func (p *pass) enter() {
	p.with = p.gate.present
	p.with.count++
	p.gate.within++
}

// leave reports whether the request was within.
func (p *pass) leave() bool {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if p.with == nil {
		return false
	}
	p.with.count--
	p.gate.within--
	if p.with.count == 0 && p.with.empty != nil {
		close(p.with.empty)
	}
	p.with = nil
	return true
}

// Close holds new requests back and gives those within some time to leave, unless the gate is closed already. From then on the caches store
// nothing.
func (g *Gate) Close() {
	g.mu.Lock()
	if g.closed != nil {
		g.mu.Unlock()
		return
	}
	g.leaving, g.present = g.present, &visitors{}
	g.leaving.empty, g.closed = make(chan struct{}), make(chan struct{})
	if g.leaving.count == 0 {
		close(g.leaving.empty)
	}
	g.late++
	leaving := g.leaving.empty
	g.mu.Unlock()
	timer := time.NewTimer(g.patience)
	defer timer.Stop()
	select {
	case <-leaving:
	case <-timer.C:
	}
	g.caches.Suspend()
}

// Open admits requests again, if the gate is closed. The caches resume once every earlier request has left.
func (g *Gate) Open() {
	g.mu.Lock()
	if g.closed == nil {
		g.mu.Unlock()
		return
	}
	close(g.closed)
	g.closed = nil
	left := g.leaving.empty
	g.mu.Unlock()
	select {
	case <-left:
		g.resume()
	default:
		go func() {
			<-left
			g.resume()
		}()
	}
}

func (g *Gate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.late--; g.late == 0 {
		g.caches.Resume()
	}
}
