package handlers

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// How much garbage may lie about while serving. Almost all that is allocated lives for one request, and what lives longer is
// bounded (package cache): with 16 clients that ask for everything there is in the default world 114 MiB were resident at most at 20 %,
// and 118 at 30 %, for a twelfth less of processor time.
const gcPercent = 20

// What lies between objects of other sizes, beside garbage: a share of what lives, and so much more.
const (
	betweenShare = 4
	between      = 8 << 20
)

// memoryLimit is one that follows what lives. Garbage is never collected more often for its sake: it has the runtime give back at
// once what a peak has left, which it else keeps for minutes.
type memoryLimit struct {
	most int64 // the user's own limit

	mu    sync.Mutex
	ended bool
}

// saveMemory bounds the memory that serving takes until restore is called.
func saveMemory() (restore func()) {
	percent, most := debug.SetGCPercent(gcPercent), debug.SetMemoryLimit(-1)
	l := &memoryLimit{most: most}
	l.follow()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ended = true
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(most)
	}
}

// follow sets the limit by what lives now, and again after each collection.
func (l *memoryLimit) follow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	debug.SetMemoryLimit(min(l.most, followed()))
	runtime.AddCleanup(&struct{ *memoryLimit }{l}, (*memoryLimit).follow, l) // the next collection finds that it is garbage
}

// followed is a limit with room for what lives, its garbage, and what the runtime takes for stacks and itself.
func followed() int64 {
	names := []string{"/gc/heap/live:bytes", "/memory/classes/total:bytes", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes",
		"/memory/classes/heap/free:bytes", "/memory/classes/heap/released:bytes"}
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	bytes := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	live, runtime := bytes(0), bytes(1)
	for i := range names[2:] {
		runtime -= bytes(2 + i)
	}
	return runtime + live + live*gcPercent/100 + live/betweenShare + between
}
