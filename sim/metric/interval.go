package metric

import (
	"time"
)

// Interval is a unit of the calendar (UTC).
type Interval int

// The intervals. A week begins on Monday.
const (
	Hour Interval = iota
	Day
	Week
	Month

	intervals = iota
)

// Intervals are all intervals by name, in the order of their values.
var Intervals = []string{"hour", "day", "week", "month"}

const (
	SecondsPerHour = 3600
	SecondsPerDay  = 24 * SecondsPerHour
)

// Start is the beginning of the interval that holds a moment, both in Unix seconds.
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

// Begun is the beginning of the newest interval of which something has passed at a moment: one that begins at that very moment is
// none yet.
func (i Interval) Begun(unix int64) int64 { return i.Start(unix - 1) }

// longest is at least as long as each interval of a kind, and shorter than two of them.
var longest = [...]int64{SecondsPerHour, SecondsPerDay, 7 * SecondsPerDay, 31 * SecondsPerDay}

// shortest is at most as long as each interval of a kind.
var shortest = [...]int64{SecondsPerHour, SecondsPerDay, 7 * SecondsPerDay, 28 * SecondsPerDay}

// Next is the beginning of the interval after the one that begins at start.
func (i Interval) Next(start int64) int64 { return i.Start(start + longest[i]) }

// From is the beginning of the first interval that does not begin before a moment.
func (i Interval) From(unix int64) int64 {
	if start := i.Start(unix); start == unix {
		return start
	}
	return i.Next(i.Start(unix))
}

// Previous is the beginning of the interval before the one that begins at start.
func (i Interval) Previous(start int64) int64 { return i.Start(start - 1) }

// Back is the beginning of the interval that is n before the one that begins at start.
func (i Interval) Back(start int64, n int) int64 {
	if i != Month {
		return start - int64(n)*longest[i]
	}
	y, m, _ := time.Unix(start, 0).UTC().Date()
	return time.Date(y, m-time.Month(n), 1, 0, 0, 0, 0, time.UTC).Unix()
}
