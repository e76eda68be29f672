package metric

import "github.com/holiman/uint256"

// Range is an inclusive range of points, from Oldest to Newest; it is empty if Newest is before Oldest.
type Range struct {
	Interval       Interval
	Oldest, Newest int64 // starts of intervals, Unix seconds
}

// Page returns the last points of the range, at most so many, that begin at or after a time.
func (i Interval) Page(from, newest int64, size int) Range {
	return Range{i, i.Back(newest, size-1), newest}.Since(from)
}

// Since cuts a range to the points that begin at or after a time.
func (r Range) Since(unix int64) Range {
	switch {
	case unix > r.Newest:
		r.Oldest = r.Newest + 1
	case unix > r.Oldest:
		r.Oldest = r.Interval.From(unix)
	}
	return r
}

// Empty reports whether the range has no points.
func (r Range) Empty() bool { return r.Newest < r.Oldest }

// most returns an upper bound for the number of points in the range.
func (r Range) most() int64 { return max(0, (r.Newest-r.Oldest)/shortest[r.Interval]+1) }

// Begin starts a range at the oldest row read (the range's rows and the newest before it), if that row is in the range; otherwise there are
// older points. It reports whether there are older ones at or after a time.
func (r Range) Begin(oldest, from int64) (cut Range, more bool) {
	if oldest < r.Oldest {
		return r, from < r.Oldest && r.Interval.Previous(r.Oldest) >= from
	}
	r.Oldest = oldest
	return r, false
}

// Points returns the values of every interval of the range, newest first. Readings are the range's, newest first, followed by the previous
// one if it exists, which a metric over elapsed time needs. Base is a running metric's sum before the range.
func (m *Metric) Points(r Range, readings []Reading, base int64) []Point {
	points := make([]Point, 0, r.most())
	for start := r.Newest; start >= r.Oldest; start = r.Interval.Previous(start) {
		value := nothing
		if len(readings) > 0 && readings[0].Start == start {
			value = m.value(readings)
			readings = readings[1:]
		}
		points = append(points, Point{start, value})
	}
	if m.Running {
		m.run(points, uint256.NewInt(uint64(base)))
	}
	return points
}

// value combines the first readings.
func (m *Metric) value(readings []Reading) Value {
	r := &readings[0]
	if !m.Elapsed {
		return over(&r.Amount, r.Over)
	}
	since := r.First
	if len(readings) > 1 {
		since = readings[1].Last
	}
	return over(&r.Amount, r.Last-since)
}

// run turns amounts by interval into running sums.
func (m *Metric) run(points []Point, sum *uint256.Int) {
	for i := len(points) - 1; i >= 0; i-- {
		amount := points[i].Value.Amount
		points[i].Value = Value{*sum, 1}
		sum.Add(sum, &amount)
		if !m.Before {
			points[i].Value.Amount = *sum
		}
	}
}
