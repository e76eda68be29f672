package query

import (
	"context"
	"errors"
	"math"

	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// SeriesQuery asks for the newest points of a metric in [From, To), at most Limit.
type SeriesQuery struct {
	Metric   *metric.Metric
	Scope    metric.Scope
	Interval metric.Interval
	From, To int64 // Unix seconds
	Limit    int
}

// Series reads points of a metric, newest first, and reports whether there are older ones. Every interval has a point, from the first
// block's to the newest that has lasted at least a second by the clock, or the newest block's if that is later.
func Series(ctx context.Context, w *sim.World, q SeriesQuery) (points []metric.Point, more bool, err error) {
	newest, err := newestPoint(q.Interval, w.Clock.Unix(), q.From, q.To, func() (int64, error) { return w.DB.NewestTally(ctx, q.Scope, q.Interval) })
	page := q.Interval.Page(q.From, newest, q.Limit)
	if err != nil || page.Empty() {
		return nil, false, err
	}
	readings, err := w.DB.ReadingsSince(ctx, q.Metric, q.Scope, q.Interval, page.Oldest, q.To)
	if err != nil || len(readings) == 0 {
		return nil, false, err
	}
	if readings[0].Start > newest { // blocks are ahead of the clock
		q.To = q.Interval.Next(readings[0].Start)
		return Series(ctx, w, q)
	}
	page, more = page.Begin(readings[len(readings)-1].Start, q.From)
	var base int64
	if q.Metric.Running {
		base, err = w.DB.SumBefore(ctx, q.Metric, q.Scope, q.Interval, page.Oldest)
	}
	return q.Metric.Points(page, readings, base), more, err
}

// newestPoint returns the beginning of the newest point before a time: the newest interval that has lasted at least a second by the clock,
// or the newest row's if that is later. With no such time it ignores rows, whose reader finds any that are later.
func newestPoint(i metric.Interval, clock, from, before int64, row func() (int64, error)) (int64, error) {
	newest := i.Begun(clock)
	switch {
	case before == math.MaxInt64 && from <= newest:
		return newest, nil
	case before > i.Next(newest):
		last, err := row()
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return 0, err
		}
		newest = max(newest, last)
	}
	if newest >= before {
		newest = i.Start(before - 1)
	}
	return newest, nil
}

// Rolling reads the value of a metric over each window that ends at the clock.
func Rolling(ctx context.Context, w *sim.World, m *metric.Metric, scope metric.Scope) ([]metric.Value, error) {
	rolled, now := m.Rolled(), w.Clock.Unix()
	days, err := w.DB.ReadingsSince(ctx, rolled, scope, metric.Day, 0, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	var values []metric.Value
	for _, window := range metric.Windows {
		from := window.From(now)
		whole := metric.Day.From(from)
		days, rest := metric.Split(days, whole)
		var hours []metric.Reading // of the day in which the window begins
		if from < whole {
			read, err := w.DB.ReadingsSince(ctx, rolled, scope, metric.Hour, from, whole)
			if err != nil {
				return nil, err
			}
			hours, rest = metric.Split(read, from)
		}
		values = append(values, rolled.Roll(rest, days, hours))
	}
	return values, nil
}
