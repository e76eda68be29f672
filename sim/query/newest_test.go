package query

import (
	"errors"
	"math"
	"testing"

	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// TestNewestPoints: a series ends with the newest interval that has lasted a second, or with the newest row if blocks are ahead of the clock, and
// before the client's limit.
func TestNewestPoints(t *testing.T) {
	const day, clock = 86_400, 10*86_400 + 50
	failed := errors.New("failed")
	for _, c := range []struct {
		clock, from, before int64
		row                 int64
		err                 error
		want                int64
	}{
		{clock, 0, math.MaxInt64, 0, failed, 10 * day}, // needs no row
		{10 * day, 0, math.MaxInt64, 0, failed, 9 * day},
		{clock, 10 * day, math.MaxInt64, 0, failed, 10 * day},
		{clock, 11 * day, math.MaxInt64, 12 * day, nil, 12 * day}, // only rows are so late
		{clock, 11 * day, math.MaxInt64, 3 * day, nil, 10 * day},
		{clock, 11 * day, math.MaxInt64, 0, store.ErrNotFound, 10 * day},
		{clock, 0, 11*day + 1, 12 * day, nil, 11 * day},
		{clock, 0, 12*day + 1, 11 * day, nil, 11 * day},
		{clock, 0, 11 * day, 12 * day, failed, 10 * day},
		{clock, 0, 10*day + 1, 0, failed, 10 * day},
		{clock, 0, 10 * day, 0, failed, 9 * day},
		{clock, 0, 5*day + 7, 0, failed, 5 * day},
	} {
		got, err := newestPoint(metric.Day, c.clock, c.from, c.before, func() (int64, error) { return c.row, c.err })
		if err != nil || got != c.want {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
	if _, err := newestPoint(metric.Day, clock, 0, 20*day, func() (int64, error) { return 0, failed }); !errors.Is(err, failed) {
		t.Errorf("a row that cannot be read: %v", err)
	}
}
