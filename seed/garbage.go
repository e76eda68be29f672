package seed

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Almost everything that is allocated while a world is made lives for one block only, so that garbage may lie about for a while: several
// times as much as there is beside it while that is little, then a fixed amount, and less where the heap would become too large.
const (
	largestHeap   = 900 << 20 // bytes, as long as that leaves room for
	leastGarbage  = 128 << 20
	mostGarbage   = 256 << 20
	mostPercent   = 400
	garbageBlocks = 512 // after so many blocks it is looked at again
)

// garbage decides when garbage is collected while a world is made.
type garbage struct {
	mu      sync.Mutex
	blocks  int
	percent int
	before  int
}

func newGarbage() *garbage {
	return &garbage{percent: mostPercent, before: debug.SetGCPercent(mostPercent)}
}

// madeBlock is called after each block, from several goroutines.
func (g *garbage) madeBlock() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.blocks++; g.blocks%garbageBlocks != 0 {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	used := max(int64(live[0].Value.Uint64()), 1)
	garbage := min(max(largestHeap-used, leastGarbage), mostGarbage)
	percent := min(int(100*garbage/used)+1, mostPercent)
	if percent != g.percent {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
}

// end puts back what was before.
func (g *garbage) end() { debug.SetGCPercent(g.before) }
