package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/metric"
)

// Point is the value of a metric over an interval.
type Point struct {
	Value     json.Number `json:"value" doc:"An integer, or the nearest float to a fraction."`
	Timestamp int64       `json:"timestamp" doc:"Where the interval begins, Unix seconds."`
}

// Series is a page of points, the newest first.
type Series struct {
	Results       []Point `json:"results"`
	NextPageToken string  `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
}

// AverageTPS is a page of points of the first version's form.
type AverageTPS struct {
	Results       []Point `json:"results"`
	Status        int     `json:"status" doc:"200."`
	LastRun       int64   `json:"lastRun" doc:"Up to when the points are complete: the world's clock, Unix seconds."`
	NextPageToken string  `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
}

const (
	pageSize = 100
	mostSize = 2160
)

func (a *api) series() []handlers.Operation {
	points := []handlers.Param{
		anyScope,
		{Name: "metric", Kind: handlers.KindEnum, Enum: metricNames(func(*metric.Metric) bool { return true })},
		{Name: "startTimestamp", Kind: handlers.KindTimestamp, Doc: "Points from here on, included."},
		{Name: "endTimestamp", Kind: handlers.KindTimestamp, Doc: "Points up to here, not included."},
		{Name: "timeInterval", Kind: handlers.KindEnum, Enum: metric.Intervals, Default: "day",
			Doc: "Only activeAddresses, activeSenders, gasUsed and txCount have others than day."},
	}
	return []handlers.Operation{
		{ID: "getEvmChainMetrics", Path: "/v2/chains/{chainId}/metrics/{metric}", Summary: "Get metrics for EVM chains",
			Spec: "Metrics API, Metric definitions", Params: append(points, handlers.Paging(pageSize, mostSize)...),
			Answer: reflect.TypeFor[Series](), Handle: a.metric},
		{ID: "getAverageTps", Path: "/v1/avg_tps/{chainId}", Summary: "Get the average transactions per second, by day",
			Spec:   "Metrics API, Average TPS response",
			Params: []handlers.Param{anyScope, handlers.Paging(pageSize, mostSize)[0]},
			Answer: reflect.TypeFor[AverageTPS](), Handle: a.averageTPS},
	}
}

func (a *api) metric(r *handlers.Request) (any, error) {
	m := metric.Named(r.Text("metric"))
	i := metric.Interval(slices.Index(metric.Intervals, r.Text("timeInterval")))
	if i != metric.Day && !m.Long {
		return nil, handlers.BadRequest(fmt.Sprintf("timeInterval %q is not allowed: expected day, the only interval of %s",
			r.Text("timeInterval"), m.Name))
	}
	q := sim.SeriesQuery{Metric: m, Interval: i, From: r.Int("startTimestamp"), To: math.MaxInt64, Limit: r.PageSize()}
	if r.Given("endTimestamp") {
		q.To = r.Int("endTimestamp")
	}
	points, token, err := a.page(r, q)
	return Series{Results: points, NextPageToken: token}, err
}

func (a *api) averageTPS(r *handlers.Request) (any, error) {
	points, token, err := a.page(r, sim.SeriesQuery{Metric: metric.Named("avgTps"), Interval: metric.Day, To: math.MaxInt64, Limit: pageSize})
	return AverageTPS{Results: points, Status: http.StatusOK, LastRun: a.world.Clock.Unix(), NextPageToken: token}, err
}

// page reads the points of one page. The place from which the next one goes on is the oldest point of this one.
func (a *api) page(r *handlers.Request, q sim.SeriesQuery) (points []Point, token string, err error) {
	if q.Scope, err = a.scope(r); err != nil {
		return nil, "", err
	}
	if oldest, resumed := r.PositionNumber(); resumed {
		q.To = min(q.To, int64(oldest))
	}
	found, more, err := a.world.Series(r.Context(), q)
	points = make([]Point, len(found))
	for i, p := range found {
		points[i] = Point{json.Number(p.Value.String()), p.Start}
	}
	if more {
		token = r.NextPageToken(handlers.Position(uint64(found[len(found)-1].Start)))
	}
	return points, token, err
}
