package seed

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Almost everything that is allocated while a world is made lives for one block only, so that garbage may lie about for a while: as much
// again as there is, several times over while that is little, but never more than a fixed amount.
const (
	mostGarbage   = 256 << 20 // bytes
	mostPercent   = 400
	leastPercent  = 20
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
	percent := min(max(int(100*mostGarbage/max(live[0].Value.Uint64(), 1)), leastPercent), mostPercent)
	if percent != g.percent {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
}

// end puts back what was before.
func (g *garbage) end() { debug.SetGCPercent(g.before) }
