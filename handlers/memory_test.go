package handlers

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestTheMemoryLimitFollowsWhatLives keeps much for a while: there is always room for what lives and its garbage, and not for much more.
func TestTheMemoryLimitFollowsWhatLives(t *testing.T) {
	const much = 256 << 20
	percent, before := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	defer debug.SetGCPercent(percent)
	restoreFirst, restore := saveMemory(), saveMemory() // two servers
	reaches := func(what string, enough func(limit int64) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !enough(debug.SetMemoryLimit(-1)); runtime.GC() {
			if time.Now().After(end) {
				t.Fatalf("the limit is %d MiB %s", debug.SetMemoryLimit(-1)>>20, what)
			}
			time.Sleep(time.Millisecond) // until what follows a collection is done
		}
	}
	restoreFirst()
	kept := make([]byte, much)
	reaches("while much lives", func(limit int64) bool { return limit > much*130/100 && limit < math.MaxInt64 })
	runtime.KeepAlive(kept)
	reaches("when it does no more", func(limit int64) bool { return limit < much })
	restore()
	runtime.GC()
	time.Sleep(10 * time.Millisecond)
	if limit, gc := debug.SetMemoryLimit(-1), debug.SetGCPercent(100); limit != math.MaxInt64 || gc != 100 {
		t.Errorf("afterwards the limit is %d, and garbage is collected at %d %%", limit, gc)
	}
}
