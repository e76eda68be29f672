package metric

import (
	"math"
	"sort"

	"github.com/holiman/uint256"
)

// Window is a span of time that ends at the clock. It begins on the hour, since addresses are recorded by the hour, and so lasts up to an
// hour longer than its name says.
type Window struct {
	Name    string
	Seconds int64 // 0 for all time
}

// Windows lists the spans that have rolling values.
var Windows = []Window{
	{"lastHour", SecondsPerHour}, {"lastDay", SecondsPerDay}, {"lastWeek", 7 * SecondsPerDay}, {"lastMonth", 30 * SecondsPerDay},
	{"last90Days", 90 * SecondsPerDay}, {"lastYear", 365 * SecondsPerDay}, {"allTime", 0},
}

// From returns the beginning of the window when the clock shows now.
func (w Window) From(now int64) int64 {
	if w.Seconds == 0 {
		return 0
	}
	return Hour.Start(max(now-w.Seconds, 0))
}

// Rolled returns a form of the metric whose readings can be combined over several intervals: an address counts in the interval that saw it
// last.
func (m *Metric) Rolled() *Metric {
	rolled := *m
	if m.Latest != "" {
		rolled.Amount = m.Latest
	}
	return &rolled
}

// Split splits readings, newest first, at a time: readings that begin then or later, and the rest.
func Split(readings []Reading, unix int64) (since, before []Reading) {
	n := sort.Search(len(readings), func(i int) bool { return readings[i].Start < unix })
	return readings[:n], readings[n:]
}

// Roll combines a window's readings, which come in parts. before holds the readings before the window, newest first.
func (m *Metric) Roll(before []Reading, window ...[]Reading) Value {
	var sum uint256.Int
	top, by, first, last := nothing, int64(0), int64(math.MaxInt64), int64(0)
	for _, part := range window {
		for i := range part {
			r := &part[i]
			if v := over(&r.Amount, r.Over); m.Highest && v.exceeds(&top) {
				top = v
			}
			sum.Add(&sum, &r.Amount)
			by += r.Over
			first, last = min(first, r.First), max(last, r.Last)
		}
	}
	if len(before) > 0 {
		first = before[0].Last
	}
	switch {
	case m.Highest:
		return top
	case m.Elapsed:
		return over(&sum, last-first)
	case m.Over != "":
		return over(&sum, by)
	}
	return Value{sum, 1}
}
