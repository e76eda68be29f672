package handlers

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// The garbage allowed while serving. Almost everything allocated lives for one request, and everything that lives longer is bounded
// (package cache). At 30 %, 16 clients that read everything in the default world add 4 MiB of resident memory and save a twelfth of
// processor time.
const gcPercent = 20

// leastGarbage is allowed even on a small heap, which would otherwise be collected all the time.
const leastGarbage = 5 << 20

// roomForGarbage is the total up to which the runtime may keep more garbage: what a mixed load keeps alive at most. Collecting less often
// saves a sixth of processor time on a small heap.
const roomForGarbage = 48 << 20

// The space lost between objects of different sizes, besides garbage: a share of the live heap, and a constant.
const (
	betweenShare = 6
	between      = 2 << 20
)

// memoryLimit follows the live heap. It never makes the collector run more often; it makes the runtime return a peak's memory at once
// rather than after minutes.
type memoryLimit struct {
	most   int64 // the user's own limit
	before int   // the user's own GC percentage

	mu      sync.Mutex
	percent int // the current GC percentage
	ended   bool
}

// saving holds the settings that this process's servers share; the last server to end restores the user's.
var saving struct {
	sync.Mutex
	servers int
	limit   *memoryLimit
}

// StartPercent prevents collection before the first response, which would take longer than opening the file. The runtime lets a heap grow
// to 4 MiB first, or by this percentage: 32 MiB.
const StartPercent = 800

// roomToStart is how much the runtime may grow after serving begins, until the first collection measures the live heap. On busy processors
// that may be many requests later. It may always grow to roomForGarbage.
const roomToStart = 16 << 20

// saveMemory bounds the memory that serving takes until the caller calls restore.
func saveMemory() (restore func()) {
	saving.Lock()
	defer saving.Unlock()
	if saving.servers++; saving.servers == 1 {
		before := debug.SetGCPercent(StartPercent)
		saving.limit = &memoryLimit{most: debug.SetMemoryLimit(-1), before: before, percent: StartPercent}
		all := read("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
		debug.SetMemoryLimit(min(saving.limit.most, max(roomForGarbage, all[0]-all[1]+roomToStart)))
		saving.limit.await()
	}
	return func() {
		saving.Lock()
		defer saving.Unlock()
		if saving.servers--; saving.servers == 0 {
			saving.limit.end()
		}
	}
}

// end restores the user's settings.
func (l *memoryLimit) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	debug.SetGCPercent(l.before)
	debug.SetMemoryLimit(l.most)
}

// await waits for the next collection, which frees this object, and starts following the live heap.
func (l *memoryLimit) await() {
	runtime.AddCleanup(&struct{ *memoryLimit }{l}, (*memoryLimit).follow, l)
}

// follow sets the limit and the GC percentage by the live heap, now and after each collection.
func (l *memoryLimit) follow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	defer l.await()
	taken, live := inUse()
	garbage := max(leastGarbage, roomForGarbage-taken-live-live/betweenShare-between)
	percent := max(gcPercent, int(garbage*100/max(live, leastGarbage)))
	if percent = percent / 10 * 10; percent != l.percent { // each change stops the program for a moment
		l.percent = percent
		debug.SetGCPercent(percent)
	}
	debug.SetMemoryLimit(min(l.most, taken+live+live/100*int64(percent)+live/betweenShare+between))
}

// inUse returns the runtime's stacks and overhead, and the live heap.
func inUse() (runtime, live int64) {
	n := read("/gc/heap/live:bytes", "/memory/classes/total:bytes", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes",
		"/memory/classes/heap/free:bytes", "/memory/classes/heap/released:bytes")
	return n[1] - n[2] - n[3] - n[4] - n[5], n[0]
}

// read reads runtime metrics by name.
func read(names ...string) []int64 {
	samples, numbers := make([]metrics.Sample, len(names)), make([]int64, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	for i := range samples {
		numbers[i] = int64(samples[i].Value.Uint64())
	}
	return numbers
}
