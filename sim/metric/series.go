package metric

import "github.com/holiman/uint256"

// Range is a part of a series of points, from Oldest to Newest, both included; it is empty if Newest is before Oldest.
type Range struct {
	Interval       Interval
	Oldest, Newest int64 // starts of intervals, Unix seconds
}

// Page is the range of at most so many points that end with the newest, without those that begin before a moment.
func (i Interval) Page(from, newest int64, size int) Range {
	return Range{i, i.Back(newest, size-1), newest}.Since(from)
}

// Since cuts a range to the points that do not begin before a moment, which may be any.
func (r Range) Since(moment int64) Range {
	switch {
	case moment > r.Newest:
		r.Oldest = r.Newest + 1
	case moment > r.Oldest:
		r.Oldest = r.Interval.From(moment)
	}
	return r
}

// Empty says that there are no points in the range.
func (r Range) Empty() bool { return r.Newest < r.Oldest }

// most is at least as many as there are points in the range.
func (r Range) most() int64 { return max(0, (r.Newest-r.Oldest)/shortest[r.Interval]+1) }

// Begin cuts a range to the points from that of the oldest row on, if the oldest of what was read, the rows of the range
// and the newest one before it, is in the range; otherwise points go back beyond it. It says whether there are more of
// them from a moment on.
func (r Range) Begin(oldest, from int64) (cut Range, more bool) {
	if oldest < r.Oldest {
		return r, from < r.Oldest && r.Interval.Previous(r.Oldest) >= from
	}
	r.Oldest = oldest
	return r, false
}

// Points are the values of every interval of the range, the newest first. Readings are those of the range, newest first,
// and the one before it, if there is one, which a metric over elapsed time needs. Base is the sum of a running metric
// over everything before the range.
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

// value is that of the first of some readings.
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

// run turns the amounts of intervals into sums over everything up to them.
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
