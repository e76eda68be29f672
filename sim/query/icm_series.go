package query

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// ICMQuery asks for the newest ICM message counts in [From, To), at most Limit, after the last of the previous page.
type ICMQuery struct {
	metric.RouteFilter
	Scope    metric.Scope // a network, or all
	Interval metric.Interval
	From, To int64             // Unix seconds
	After    metric.RoutePoint // zero on the first page
	Limit    int
}

// ICMSeries counts the messages sent, newest intervals first, and reports whether there are older points. Every route that ever had a
// message has a point in each interval from the first message's on.
func ICMSeries(ctx context.Context, w *sim.World, q ICMQuery) (points []metric.RoutePoint, more bool, err error) {
	span, err := icmRange(ctx, w, q)
	if err != nil || span.Empty() {
		return nil, false, err
	}
	months, err := w.DB.ICMCounts(ctx, q.Scope, metric.Month, 0, math.MaxInt64) // each route that ever had a message has a row in some month
	used := q.Routes(months)
	if err != nil || len(used) == 0 {
		return nil, false, err
	}
	oldest := max(span.Oldest, span.Interval.Back(span.Newest, q.Limit/len(used)+1))
	rows, err := w.DB.ICMCounts(ctx, q.Scope, q.Interval, oldest, span.Interval.Next(span.Newest))
	if err != nil {
		return nil, false, err
	}
	type key struct {
		start int64
		route metric.Route
	}
	counts := map[key]int64{}
	for i := range rows {
		if route, ok := q.Route(&rows[i]); ok {
			counts[key{rows[i].Start, route}] += rows[i].Messages
		}
	}
	for start := span.Newest; start >= oldest; start = span.Interval.Previous(start) {
		for _, route := range used {
			p := metric.RoutePoint{Route: route, Start: start, Messages: counts[key{start, route}]}
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

// icmRange returns the intervals with points, from the previous page's on.
func icmRange(ctx context.Context, w *sim.World, q ICMQuery) (metric.Range, error) {
	oldest, newest, err := w.DB.ICMCountSpan(ctx, q.Scope, q.Interval)
	if errors.Is(err, store.ErrNotFound) {
		return metric.Range{Oldest: 1}, nil
	}
	newest = max(newest, q.Interval.Begun(w.Clock.Unix()))
	if newest >= q.To {
		newest = q.Interval.Start(q.To - 1)
	}
	if q.After.Start > 0 {
		newest = min(newest, q.After.Start)
	}
	return metric.Range{Interval: q.Interval, Oldest: oldest, Newest: newest}.Since(q.From), err
}

// ICMSummary counts the messages of each route in each window that ends at the clock.
func ICMSummary(ctx context.Context, w *sim.World, scope metric.Scope, l metric.RouteFilter) (used []metric.Route, counts map[metric.Route][]int64, err error) {
	days, err := w.DB.ICMCounts(ctx, scope, metric.Day, 0, math.MaxInt64)
	if err != nil {
		return nil, nil, err
	}
	used, counts = l.Routes(days), map[metric.Route][]int64{}
	for _, route := range used {
		counts[route] = make([]int64, len(metric.Windows))
	}
	for i, window := range metric.Windows {
		from := window.From(w.Clock.Unix())
		whole := metric.Day.From(from)
		traffic := days[:sort.Search(len(days), func(i int) bool { return days[i].Start < whole })]
		if from < whole {
			hours, err := w.DB.ICMCounts(ctx, scope, metric.Hour, from, whole)
			if err != nil {
				return nil, nil, err
			}
			traffic = slices.Concat(traffic, hours)
		}
		for t := range traffic {
			if route, ok := l.Route(&traffic[t]); ok {
				counts[route][i] += traffic[t].Messages
			}
		}
	}
	return used, counts, nil
}
