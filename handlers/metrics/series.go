package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/metric"
	"snowglobe/sim/query"
)

// Point is the value of a metric over an interval.
type Point struct {
	Value     json.Number `json:"value" doc:"An integer, or the nearest float to a fraction."`
	Timestamp int64       `json:"timestamp" doc:"When the interval begins, Unix seconds."`
}

// Series is a page of points, newest first.
type Series struct {
	Results       []Point `json:"results"`
	NextPageToken string  `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
}

// AverageTPS is a page of points in the first version's form.
type AverageTPS struct {
	Results       []Point `json:"results"`
	Status        int     `json:"status" doc:"200."`
	LastRun       int64   `json:"lastRun" doc:"Time up to which the points are complete: the world's clock, Unix seconds."`
	NextPageToken string  `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
}

const (
	pageSize = 100
	mostSize = 2160
)

func (a *api) series() []rest.Operation {
	points := []rest.Param{
		anyScope,
		{Name: "metric", Kind: schema.KindEnum, Enum: metricNames(func(*metric.Metric) bool { return true }),
			Doc: "avgGps and avgTps divide by the time since the last block before the interval, and treat the blocks of several chains as one stream. " +
				"maxGps and maxTps compare each block with the one before it on its own chain. contracts and deployers leave out failed creations, " +
				"addresses counts the zero address, and avgGasPrice is the mean over transactions, whatever gas they used."},
		timeRange[0], timeRange[1],
		{Name: "timeInterval", Kind: schema.KindEnum, Enum: metric.Intervals, Default: "day",
			Doc: "Only activeAddresses, activeSenders, gasUsed and txCount have intervals other than day."},
	}
	return []rest.Operation{
		{ID: "getEvmChainMetrics", Path: "/v2/chains/{chainId}/metrics/{metric}", Summary: "Get metrics for EVM chains",
			Spec: "Metrics API, Metric definitions", Params: append(points, rest.Paging(pageSize, mostSize)...),
			Answer: reflect.TypeFor[Series](), Handle: a.metric},
		{ID: "getAverageTps", Path: "/v1/avg_tps/{chainId}", Summary: "Get the average transactions per second, by day",
			Spec:   "Metrics API, Average TPS response",
			Params: []rest.Param{anyScope, rest.Paging(pageSize, mostSize)[0]},
			Answer: reflect.TypeFor[AverageTPS](), Handle: a.averageTPS},
	}
}

func (a *api) metric(r *rest.Request) (any, error) {
	m := metric.ByName(r.Text("metric"))
	i := metric.Interval(slices.Index(metric.Intervals, r.Text("timeInterval")))
	if i != metric.Day && !m.Long {
		return nil, rest.BadRequest(fmt.Sprintf("timeInterval %q is not allowed: expected day, the only interval of %s",
			r.Text("timeInterval"), m.Name))
	}
	return a.points(r, query.SeriesQuery{Metric: m, Interval: i, From: r.Int("startTimestamp"), To: end(r), Limit: r.PageSize()})
}

func (a *api) averageTPS(r *rest.Request) (any, error) {
	page, err := a.points(r, query.SeriesQuery{Metric: metric.ByName("avgTps"), Interval: metric.Day, To: math.MaxInt64, Limit: pageSize})
	page.lastRun = a.world.Clock.Unix()
	return page, err
}

func (a *api) points(r *rest.Request, q query.SeriesQuery) (page pointPage, err error) {
	if q.Scope, err = a.scope(r); err != nil {
		return page, err
	}
	q.To = before(r, q.To)
	points, more, err := query.Series(r.Context(), a.world, q)
	return series(r, points, more), err
}

// before returns the time at which a page must end: where the previous page began, or where the series ends.
func before(r *rest.Request, end int64) int64 {
	if oldest, resumed := r.PositionNumber(); resumed {
		return min(end, int64(oldest))
	}
	return end
}

// pointPage is a [Series], or an [AverageTPS] if it has a lastRun, and encodes itself point by point, as there are many.
type pointPage struct {
	points  []metric.Point
	lastRun int64
	next    string // token
}

// series returns a page of points. The next page continues from its oldest point.
func series(r *rest.Request, points []metric.Point, more bool) pointPage {
	page := pointPage{points: points}
	if more {
		page.next = r.NextPageToken(rest.Position(uint64(points[len(points)-1].Start)))
	}
	return page
}

// pointText exceeds the length of most points in JSON.
const pointText = 48

// WriteJSON writes the page in the shape of its type.
func (p pointPage) WriteJSON(w *bytes.Buffer) error {
	w.Grow(pointText * (len(p.points) + 4))
	b := append(w.AvailableBuffer(), `{"results":[`...)
	for i := range p.points {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"value":`...)
		b = p.points[i].Value.Append(b)
		b = append(b, `,"timestamp":`...)
		b = strconv.AppendInt(b, p.points[i].Start, 10)
		b = append(b, '}')
	}
	b = append(b, ']')
	if p.lastRun > 0 {
		b = fmt.Appendf(b, `,"status":%d,"lastRun":%d`, http.StatusOK, p.lastRun)
	}
	if p.next != "" {
		b = fmt.Appendf(b, `,"nextPageToken":%q`, p.next)
	}
	_, err := w.Write(append(b, '}'))
	return err
}
