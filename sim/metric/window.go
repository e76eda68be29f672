package metric

import "math/big"

// Window is a span of time that ends at the clock. It begins on the hour, so it is up to an hour longer than its name
// says: addresses are known by the hour.
type Window struct {
	Name    string
	Seconds int64 // 0 for all time
}

// Windows are the spans that there are rolling values for.
var Windows = []Window{
	{"lastHour", hour}, {"lastDay", day}, {"lastWeek", 7 * day}, {"lastMonth", 30 * day},
	{"last90Days", 90 * day}, {"lastYear", 365 * day}, {"allTime", 0},
}

// From is where the window begins when the clock shows now.
func (w Window) From(now int64) int64 {
	if w.Seconds == 0 {
		return 0
	}
	return Hour.Start(max(now-w.Seconds, 0))
}

// Rolled is the metric in the form in which its readings can be put together over several intervals: an address counts
// in the interval that saw it last.
func (m *Metric) Rolled() *Metric {
	rolled := *m
	if m.Latest != "" {
		rolled.Amount = m.Latest
	}
	return &rolled
}

// Roll puts the readings of a window together. Before is the reading before the window, if there is one.
func (m *Metric) Roll(readings, before []Reading) Value {
	if len(readings) == 0 {
		return nothing
	}
	if m.Highest {
		return m.highest(readings)
	}
	sum, by := new(big.Int), int64(0)
	first, last := readings[0].First, readings[0].Last
	for _, r := range readings {
		sum.Add(sum, r.Amount)
		by += r.Over
		first, last = min(first, r.First), max(last, r.Last)
	}
	switch {
	case m.Elapsed && len(before) > 0:
		return over(sum, last-before[0].Last)
	case m.Elapsed:
		return over(sum, last-first)
	case m.Over != "":
		return over(sum, by)
	}
	return Value{sum, 1}
}

func (m *Metric) highest(readings []Reading) Value {
	top := nothing
	for _, r := range readings {
		if v := over(r.Amount, r.Over); v.exceeds(top) {
			top = v
		}
	}
	return top
}
