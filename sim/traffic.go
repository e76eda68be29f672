package sim

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// TrafficQuery asks for points of cross-chain messages: those from one moment on and before another, after a point that
// was read before, at most so many, the newest.
type TrafficQuery struct {
	metric.Lanes
	Scope    metric.Scope // a network, or all
	Interval metric.Interval
	From, To int64            // Unix seconds
	After    metric.LanePoint // the zero one on the first page
	Limit    int
}

// Traffic reads how many messages were sent, the newest intervals first, and says whether there are older points. There
// is a point for each lane along which a message ever went and each interval from that of the first message on.
func (w *World) Traffic(ctx context.Context, q TrafficQuery) (points []metric.LanePoint, more bool, err error) {
	span, err := w.trafficRange(ctx, q)
	if err != nil || span.Empty() {
		return nil, false, err
	}
	lanes, err := w.lanes(ctx, q.Scope, q.Lanes)
	if err != nil || len(lanes) == 0 {
		return nil, false, err
	}
	oldest := max(span.Oldest, span.Interval.Back(span.Newest, q.Limit/len(lanes)+1))
	rows, err := w.DB.Traffic(ctx, q.Scope, q.Interval, oldest, span.Interval.Next(span.Newest))
	if err != nil {
		return nil, false, err
	}
	type place struct {
		start int64
		lane  metric.Lane
	}
	counts := map[place]int64{}
	for i := range rows {
		if lane, ok := q.Of(&rows[i]); ok {
			counts[place{rows[i].Start, lane}] += rows[i].Messages
		}
	}
	for start := span.Newest; start >= oldest; start = span.Interval.Previous(start) {
		for _, lane := range lanes {
			p := metric.LanePoint{Lane: lane, Start: start, Messages: counts[place{start, lane}]}
			switch {
			case q.After.Start > 0 && !q.After.Before(p):
				continue
			case len(points) == q.Limit:
				return points, true, nil
			}
			points = append(points, p)
		}
	}
	return points, false, nil
}

// trafficRange is which intervals there are, from that of the page before on.
func (w *World) trafficRange(ctx context.Context, q TrafficQuery) (metric.Range, error) {
	oldest, newest, err := w.DB.TrafficSpan(ctx, q.Scope, q.Interval)
	if errors.Is(err, store.ErrNotFound) {
		return metric.Range{Oldest: 1}, nil
	}
	newest = max(newest, q.Interval.Start(w.Clock.Unix()))
	if newest >= q.To {
		newest = q.Interval.Start(q.To - 1)
	}
	if q.After.Start > 0 {
		newest = min(newest, q.After.Start)
	}
	return metric.Range{Interval: q.Interval, Oldest: oldest, Newest: newest}.Since(q.From), err
}

// lanes are all along which messages ever went: a month knows each by a row.
func (w *World) lanes(ctx context.Context, scope metric.Scope, l metric.Lanes) ([]metric.Lane, error) {
	months, err := w.DB.Traffic(ctx, scope, metric.Month, 0, math.MaxInt64)
	return l.All(months), err
}

// TrafficSummary counts the messages of each lane in each of the windows that end at the clock.
func (w *World) TrafficSummary(ctx context.Context, scope metric.Scope, l metric.Lanes) (lanes []metric.Lane, counts map[metric.Lane][]int64, err error) {
	days, err := w.DB.Traffic(ctx, scope, metric.Day, 0, math.MaxInt64)
	if err != nil {
		return nil, nil, err
	}
	lanes, counts = l.All(days), map[metric.Lane][]int64{}
	for _, lane := range lanes {
		counts[lane] = make([]int64, len(metric.Windows))
	}
	for i, window := range metric.Windows {
		from := window.From(w.Clock.Unix())
		whole := metric.Day.From(from)
		traffic := days[:sort.Search(len(days), func(i int) bool { return days[i].Start < whole })]
		if from < whole {
			hours, err := w.DB.Traffic(ctx, scope, metric.Hour, from, whole)
			if err != nil {
				return nil, nil, err
			}
			traffic = slices.Concat(traffic, hours)
		}
		for t := range traffic {
			if lane, ok := l.Of(&traffic[t]); ok {
				counts[lane][i] += traffic[t].Messages
			}
		}
	}
	return lanes, counts, nil
}
