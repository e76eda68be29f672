package seed

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Almost everything allocated during generation lives for one block only, so garbage may pile up: several times the live heap, between
// fixed bounds, and less where the heap would become too large. A heap that is larger anyway may grow by a quarter.
const (
	smallGarbage  = 64 << 20  // bytes, however small the live heap
	largestHeap   = 736 << 20 // while that leaves room
	leastGarbage  = 128 << 20
	mostGarbage   = 384 << 20
	usualPercent  = 400
	firstPercent  = 100 * smallGarbage / (4 << 20) // the runtime lets a heap grow to 4 MiB first, or so much more or less
	garbageBlocks = 32                             // blocks between adjustments
)

// garbage tunes the garbage collector during generation.
type garbage struct {
	mu      sync.Mutex
	blocks  int
	percent int
	before  int
}

func newGarbage() *garbage {
	return &garbage{percent: firstPercent, before: debug.SetGCPercent(firstPercent)}
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
	garbage := max(min(max(largestHeap-used, leastGarbage), mostGarbage, used*usualPercent/100), min(used/4, used-largestHeap))
	percent := int(100*max(garbage, smallGarbage)/used) + 1
	if percent != g.percent {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
}

// end restores the previous settings.
func (g *garbage) end() { debug.SetGCPercent(g.before) }
