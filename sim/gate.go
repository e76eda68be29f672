package sim

import (
	"context"
	"sync"
	"time"

	"snowglobe/sim/cache"
)

// Gate lets the requests of clients to a world. When the world goes back it keeps new ones waiting, for as long as that takes, and lets
// those under way end before, unless they take long: so no answer is of two histories, and what such a late one read is not kept.
type Gate struct {
	caches   *cache.Group
	patience time.Duration

	mu      sync.Mutex
	present *visitors     // those who came since the gate was closed last
	leaving *visitors     // those who were there then
	closed  chan struct{} // is closed when the gate opens; nil while it is open
	late    int           // how many generations of visitors have not left
	within  int           // how many visitors there are, of all generations
	came    uint64        // how many there have been
	closing sync.Mutex    // held from Close to Open
}

// visitors are the requests that came in between two times when the gate was closed.
type visitors struct {
	count int
	empty chan struct{} // closed when they have left, once the gate was closed behind them
}

// NewGate is open. patience is how long those who are within may keep others waiting.
func NewGate(caches *cache.Group, patience time.Duration) *Gate {
	return &Gate{caches: caches, patience: patience, present: &visitors{}}
}

type passKey struct{}

// pass is a request that was let in.
type pass struct {
	gate *Gate
	with *visitors // nil once it has left
}

// Enter waits until the gate is open and lets a request in. Its context is for what the request does; leave ends it.
func (g *Gate) Enter(ctx context.Context) (within context.Context, leave func(), err error) {
	for {
		g.mu.Lock()
		closed := g.closed
		if closed == nil {
			p := &pass{g, g.present}
			p.with.count++
			g.within++
			g.came++
			g.mu.Unlock()
			return context.WithValue(ctx, passKey{}, p), p.leave, nil
		}
		g.mu.Unlock()
		select {
		case <-closed:
		case <-ctx.Done():
			return ctx, func() {}, ctx.Err()
		}
	}
}

// Leave is for the request of a context that takes long, such as one that is told what happens: nobody waits for it any more.
func Leave(ctx context.Context) {
	if p, within := ctx.Value(passKey{}).(*pass); within {
		p.leave()
	}
}

// Visits tells how many requests are within, and how many came in since the gate was made.
func (g *Gate) Visits() (within int, came uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.within, g.came
}

// Overtaken reports whether the world went back while the request of a context was still within: what it read may be of two histories.
func Overtaken(ctx context.Context) bool {
	p, within := ctx.Value(passKey{}).(*pass)
	if !within {
		return false
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return p.with != nil && p.with != p.gate.present
}

func (p *pass) leave() {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if p.with == nil {
		return
	}
	p.with.count--
	p.gate.within--
	if p.with.count == 0 && p.with.empty != nil {
		close(p.with.empty)
	}
	p.with = nil
}

// Close keeps new requests out, and gives those within some time to leave. The request that asks for it, whose context this is, does
// not wait for itself. The caches keep nothing from then on. Open must follow.
func (g *Gate) Close(ctx context.Context) {
	Leave(ctx)
	g.closing.Lock()
	g.mu.Lock()
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

// Open lets requests in again. The caches keep what is read once those have left who were there before.
func (g *Gate) Open() {
	g.mu.Lock()
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
	g.closing.Unlock()
}

func (g *Gate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.late--; g.late == 0 {
		g.caches.Resume()
	}
}
