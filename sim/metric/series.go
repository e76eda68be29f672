package metric

import "math/big"

// Range is a part of a series of points, from Oldest to Newest, both included; it is empty if Newest is before Oldest.
type Range struct {
	Interval       Interval
	Oldest, Newest int64 // starts of intervals, Unix seconds
}

// Between cuts a range to the points from one moment on and before another.
func (r Range) Between(from, to int64) Range {
	if from > r.Newest || to <= r.Oldest {
		return Range{r.Interval, r.Oldest, r.Oldest - 1}
	}
	if from > r.Oldest {
		if r.Oldest = r.Interval.Start(from); r.Oldest < from {
			r.Oldest = r.Interval.Next(r.Oldest)
		}
	}
	if to <= r.Newest {
		r.Newest = r.Interval.Start(to - 1)
	}
	return r
}

// Page cuts a range to its newest points, and says whether there are older ones.
func (r Range) Page(size int) (page Range, more bool) {
	if oldest := r.Interval.Back(r.Newest, size-1); oldest > r.Oldest {
		return Range{r.Interval, oldest, r.Newest}, true
	}
	return r, false
}

// Empty says that there are no points in the range.
func (r Range) Empty() bool { return r.Newest < r.Oldest }

// Points are the values of every interval of the range, the newest first. Readings are those of the range, newest first;
// a metric over elapsed time needs the one before the range, too, if there is one. Base is the sum of a running metric
// over everything before the range.
func (m *Metric) Points(r Range, readings []Reading, base int64) []Point {
	var points []Point
	for start := r.Newest; start >= r.Oldest; start = r.Interval.Previous(start) {
		value := nothing
		if len(readings) > 0 && readings[0].Start == start {
			value = m.value(readings)
			readings = readings[1:]
		}
		points = append(points, Point{start, value})
	}
	if m.Running {
		m.run(points, big.NewInt(base))
	}
	return points
}

// value is that of the first of some readings.
func (m *Metric) value(readings []Reading) Value {
	r := readings[0]
	if !m.Elapsed {
		return over(r.Amount, r.Over)
	}
	since := r.First
	if len(readings) > 1 {
		since = readings[1].Last
	}
	return over(r.Amount, r.Last-since)
}

// run turns the amounts of intervals into sums over everything up to them.
func (m *Metric) run(points []Point, sum *big.Int) {
	for i := len(points) - 1; i >= 0; i-- {
		next := new(big.Int).Add(sum, points[i].Value.Amount)
		if m.Before {
			points[i].Value = Value{sum, 1}
		} else {
			points[i].Value = Value{next, 1}
		}
		sum = next
	}
}
