package prometheus

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// buckets lists the upper bounds of the latency histogram.
var buckets = []time.Duration{
	100 * time.Microsecond, 300 * time.Microsecond, time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond,
	30 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second,
}

// Requests counts requests by operation, in Prometheus's text format. client_golang would add 2.9 MB to the program and write labels in
// another order; VictoriaMetrics/metrics has no histogram with the label le.
//
// Operations come from the program's own lists, so their number is bounded.
type Requests struct {
	mu         sync.Mutex
	operations map[string]*operationMetrics
}

// operationMetrics holds one operation's counts.
type operationMetrics struct {
	byStatus map[int]uint64
	byBucket []uint64 // requests slower than the previous bound but not than this one
	took     time.Duration
	count    uint64
}

// New makes counters at zero.
func New() *Requests {
	return &Requests{operations: map[string]*operationMetrics{}}
}

// Observe counts a response.
func (m *Requests) Observe(operation string, status int, took time.Duration) {
	if operation == "" {
		operation = "none"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.operations[operation]
	if l == nil {
		l = &operationMetrics{byStatus: map[int]uint64{}, byBucket: make([]uint64, len(buckets)+1)}
		m.operations[operation] = l
	}
	l.byStatus[status]++
	bucket, _ := slices.BinarySearch(buckets, took)
	l.byBucket[bucket]++
	l.took += took
	l.count++
}

func (m *Requests) write(text *bytes.Buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.operations))
	describe(text, "snowglobe_requests_total", "counter", "Requests by operation and HTTP status.")
	for _, name := range names {
		l := m.operations[name]
		for _, status := range slices.Sorted(maps.Keys(l.byStatus)) {
			fmt.Fprintf(text, "snowglobe_requests_total{operation=%s,status=\"%d\"} %d\n", label(name), status, l.byStatus[status])
		}
	}
	describe(text, "snowglobe_request_duration_seconds", "histogram", "How long requests took, by operation.")
	for _, name := range names {
		m.operations[name].write(text, label(name))
	}
}

func (l *operationMetrics) write(text *bytes.Buffer, name string) {
	sum := uint64(0)
	for i, bound := range buckets {
		sum += l.byBucket[i]
		fmt.Fprintf(text, "snowglobe_request_duration_seconds_bucket{operation=%s,le=\"%g\"} %d\n", name, bound.Seconds(), sum)
	}
	fmt.Fprintf(text, "snowglobe_request_duration_seconds_bucket{operation=%s,le=\"+Inf\"} %d\n", name, l.count)
	fmt.Fprintf(text, "snowglobe_request_duration_seconds_sum{operation=%s} %g\n", name, l.took.Seconds())
	fmt.Fprintf(text, "snowglobe_request_duration_seconds_count{operation=%s} %d\n", name, l.count)
}
