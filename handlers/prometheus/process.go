package prometheus

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"

	"snowglobe/sim/cache"
)

// writeProcess writes the process's resources, under the names of Prometheus's own client. Only Linux reports memory and open files.
func writeProcess(text *bytes.Buffer) {
	memory := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(memory)
	gauge := func(name, help string, value uint64) {
		describe(text, name, "gauge", help)
		fmt.Fprintf(text, "%s %d\n", name, value)
	}
	gauge("go_goroutines", "Number of goroutines.", uint64(runtime.NumGoroutine()))
	gauge("go_memstats_heap_alloc_bytes", "Bytes of heap objects, including garbage not collected yet.", memory[0].Value.Uint64())
	gauge("go_memstats_sys_bytes", "Bytes obtained from the system and not returned.", memory[1].Value.Uint64()-memory[2].Value.Uint64())
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil {
		var size, resident uint64
		if _, err := fmt.Sscan(string(statm), &size, &resident); err == nil {
			gauge("process_resident_memory_bytes", "Resident memory.", resident*uint64(os.Getpagesize()))
		}
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		gauge("process_open_fds", "Open file descriptors.", uint64(len(files)))
	}
	used, limit := cache.InUse()
	gauge("snowglobe_cache_bytes", "Bytes in all caches.", uint64(used))
	gauge("snowglobe_cache_limit_bytes", "Limit of the bytes in all caches.", uint64(limit))
}
