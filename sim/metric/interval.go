package metric

import (
	"time"
)

// Interval is a unit of the calendar (UTC).
type Interval int

// Intervals. A week begins on Monday.
const (
	Hour Interval = iota
	Day
	Week
	Month

	intervals = iota
)

// Intervals lists all intervals by name, in the order of their values.
var Intervals = []string{"hour", "day", "week", "month"}

const (
	SecondsPerHour = 3600
	SecondsPerDay  = 24 * SecondsPerHour
)

// Start returns the beginning of the interval around a time, both in Unix seconds.
func (i Interval) Start(unix int64) int64 {
	switch i {
	case Hour:
		return unix - unix%SecondsPerHour
	case Day:
		return unix - unix%SecondsPerDay
	case Week:
		days := unix / SecondsPerDay
		return (days - (days+3)%7) * SecondsPerDay // the first day of Unix time was a Thursday
	default:
		y, m, _ := time.Unix(unix, 0).UTC().Date()
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
}

// Begun returns the beginning of the newest interval that has lasted at least a second.
func (i Interval) Begun(unix int64) int64 { return i.Start(unix - 1) }

// longest returns a length that every interval of a kind fits into, shorter than two of them.
var longest = [...]int64{SecondsPerHour, SecondsPerDay, 7 * SecondsPerDay, 31 * SecondsPerDay}

// shortest returns a length that fits into every interval of a kind.
var shortest = [...]int64{SecondsPerHour, SecondsPerDay, 7 * SecondsPerDay, 28 * SecondsPerDay}

// Next returns the beginning of the interval after the one that begins at start.
func (i Interval) Next(start int64) int64 { return i.Start(start + longest[i]) }

// From returns the beginning of the first interval at or after a time.
func (i Interval) From(unix int64) int64 {
	if start := i.Start(unix); start == unix {
		return start
	}
	return i.Next(i.Start(unix))
}

// Previous returns the beginning of the interval before the one that begins at start.
func (i Interval) Previous(start int64) int64 { return i.Start(start - 1) }

// Back returns the beginning of the interval n before the one that begins at start.
func (i Interval) Back(start int64, n int) int64 {
	if i != Month {
		return start - int64(n)*longest[i]
	}
	y, m, _ := time.Unix(start, 0).UTC().Date()
	return time.Date(y, m-time.Month(n), 1, 0, 0, 0, 0, time.UTC).Unix()
}
