package handlers

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// How much garbage may lie about while serving. Almost all that is allocated lives for one request, and what lives longer is
// bounded (package cache): with 16 clients that ask for everything there is in the default world 4 MiB more are resident at 30 %, for a
// twelfth less of processor time.
const gcPercent = 20

// leastGarbage may lie about however little lives: a small heap would else be collected all the time.
const leastGarbage = 5 << 20

// roomForGarbage is how much the runtime may have in all while more garbage than that lies about: as much as with the most that lives under mixed load.
// Collecting less often saves a sixth of processor time where little lives.
const roomForGarbage = 48 << 20

// What lies between objects of other sizes, beside garbage: a share of what lives, and so much more.
const (
	betweenShare = 6
	between      = 2 << 20
)

// memoryLimit is one that follows what lives. Garbage is never collected more often for its sake: it has the runtime give back at
// once what a peak has left, which it else keeps for minutes.
type memoryLimit struct {
	most   int64 // the user's own limit
	before int   // how much garbage the user lets lie about

	mu      sync.Mutex
	percent int // the runtime's now
	ended   bool
}

// saving is what servers of this process have set together, which is taken back when the last of them ends.
var saving struct {
	sync.Mutex
	servers int
	limit   *memoryLimit
}

// StartPercent has nothing collected before the first answer, which would take longer than opening the file does. The runtime lets a heap
// grow to 4 MiB first, or so much more: this is 32 MiB.
const StartPercent = 800

// roomToStart is how much more than it has the runtime may take when serving begins, until it is known what lives. That may be late, after
// many requests, where processors are busy. It may take roomForGarbage at least.
const roomToStart = 16 << 20

// saveMemory bounds the memory that serving takes until restore is called.
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

// end has the runtime do as it did before.
func (l *memoryLimit) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	debug.SetGCPercent(l.before)
	debug.SetMemoryLimit(l.most)
}

// await follows what lives from the next collection on, which finds that this is garbage.
func (l *memoryLimit) await() {
	runtime.AddCleanup(&struct{ *memoryLimit }{l}, (*memoryLimit).follow, l)
}

// follow sets the limit, and how much garbage may lie about, by what lives now, and again after each collection.
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

// inUse is what the runtime takes for stacks and itself, and what lives.
func inUse() (runtime, live int64) {
	n := read("/gc/heap/live:bytes", "/memory/classes/total:bytes", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes",
		"/memory/classes/heap/free:bytes", "/memory/classes/heap/released:bytes")
	return n[1] - n[2] - n[3] - n[4] - n[5], n[0]
}

// read answers what the runtime counts under some names.
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
