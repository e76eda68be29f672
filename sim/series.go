package sim

import (
	"context"
	"errors"
	"math"

	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// SeriesQuery asks for points of a metric: those from one moment on and before another, at most so many, the newest.
type SeriesQuery struct {
	Metric   *metric.Metric
	Scope    metric.Scope
	Interval metric.Interval
	From, To int64 // Unix seconds
	Limit    int
}

// Series reads points of a metric, the newest first, and says whether there are older ones. There is a point for every
// interval from that of the first block on to that in which the clock stands, or the newest block if that is later.
func (w *World) Series(ctx context.Context, q SeriesQuery) (points []metric.Point, more bool, err error) {
	page, err := w.seriesRange(ctx, q)
	if err != nil || page.Empty() {
		return nil, false, err
	}
	page, more = page.Page(q.Limit)
	readings, err := w.DB.Readings(ctx, q.Metric, q.Scope, q.Interval, page.Oldest, page.Newest)
	if err != nil {
		return nil, false, err
	}
	var base int64
	switch {
	case q.Metric.Elapsed:
		var before []metric.Reading
		before, err = w.DB.ReadingBefore(ctx, q.Metric, q.Scope, q.Interval, page.Oldest)
		readings = append(readings, before...)
	case q.Metric.Running:
		base, err = w.DB.SumBefore(ctx, q.Metric, q.Scope, q.Interval, page.Oldest)
	}
	return q.Metric.Points(page, readings, base), more, err
}

// seriesRange is which points there are.
func (w *World) seriesRange(ctx context.Context, q SeriesQuery) (metric.Range, error) {
	all := metric.Range{Interval: q.Interval, Newest: -1}
	first, last, err := w.DB.TallySpan(ctx, q.Scope, q.Interval)
	if errors.Is(err, store.ErrNotFound) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	all.Oldest, all.Newest = first, max(last, q.Interval.Start(w.Clock.Unix()))
	return all.Between(q.From, q.To), nil
}

// Rolling reads the value of a metric over each of the windows that end at the clock.
func (w *World) Rolling(ctx context.Context, m *metric.Metric, scope metric.Scope) ([]metric.Value, error) {
	rolled, now := m.Rolled(), w.Clock.Unix()
	values := make([]metric.Value, len(metric.Windows))
	for i, window := range metric.Windows {
		from := window.From(now)
		readings, err := w.windowReadings(ctx, rolled, scope, from)
		if err != nil {
			return nil, err
		}
		before, err := w.DB.ReadingBefore(ctx, rolled, scope, metric.Hour, from)
		if err != nil {
			return nil, err
		}
		values[i] = rolled.Roll(readings, before)
	}
	return values, nil
}

// windowReadings reads the hours of the window's first day and the days after it.
func (w *World) windowReadings(ctx context.Context, m *metric.Metric, scope metric.Scope, from int64) ([]metric.Reading, error) {
	days := metric.Day.Start(from)
	if days < from {
		days = metric.Day.Next(days)
	}
	hours, err := w.DB.Readings(ctx, m, scope, metric.Hour, from, days-1)
	if err != nil {
		return nil, err
	}
	rest, err := w.DB.Readings(ctx, m, scope, metric.Day, days, math.MaxInt64)
	return append(rest, hours...), err
}
