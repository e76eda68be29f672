package handlers

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// StartPercent prevents collection before the first response, which would take longer than opening the file. The runtime lets a heap grow
// to 4 MiB first, or by this percentage: 32 MiB.
const StartPercent = 800

// gcPercent is the garbage allowed on a large heap. Almost everything allocated lives for one request, and everything that lives longer is
// bounded (package cache).
const gcPercent = 20

// smallHeap is the size to which the heap may always grow: collecting a small one at gcPercent doubles the processor time of a request.
const smallHeap = 32 << 20

// LimitGarbage sets how much garbage the process may keep by what lives, now and after each collection.
func LimitGarbage() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := int(int64(smallHeap)*100/max(int64(live[0].Value.Uint64()), 1<<20)) - 100
	debug.SetGCPercent(min(max(percent, gcPercent), StartPercent))
	runtime.AddCleanup(new(*int), func(int) { LimitGarbage() }, 0) // at the next collection, which frees the pointer
}
