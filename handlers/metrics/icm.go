package metrics

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/metric"
	"snowglobe/sim/query"
)

// Ends names the source and destination of cross-chain messages.
type Ends struct {
	Source      string `json:"srcBlockchainId" doc:"total, mainnet or testnet if messages of several chains count together."`
	Destination string `json:"destBlockchainId" doc:"Like srcBlockchainId."`
}

// IcmPoint counts the cross-chain messages sent in an interval.
type IcmPoint struct {
	Value     int64 `json:"value"`
	Timestamp int64 `json:"timestamp" doc:"When the interval begins, Unix seconds."`
	Ends
}

// IcmSeries is a page of points, newest first, and by chain within an interval.
type IcmSeries struct {
	Results       []IcmPoint `json:"results"`
	NextPageToken string     `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
}

// IcmSummary counts the messages sent in windows that end at the world's clock. The published SDKs expect an object, so groups are in a
// separate field.
type IcmSummary struct {
	Result IcmRolling   `json:"result" doc:"Totals of all counted messages."`
	Groups []IcmRolling `json:"groups,omitzero" doc:"With groupBy, the messages of each group separately."`
}

// IcmRolling counts messages by window.
type IcmRolling struct {
	LastHour   int64 `json:"lastHour"`
	LastDay    int64 `json:"lastDay"`
	LastWeek   int64 `json:"lastWeek"`
	LastMonth  int64 `json:"lastMonth" doc:"30 days."`
	Last90Days int64 `json:"last90Days"`
	LastYear   int64 `json:"lastYear" doc:"365 days."`
	AllTime    int64 `json:"allTime"`
	Ends
}

const (
	bySource      = "srcBlockchainId"
	byDestination = "destBlockchainId"
)

func (a *api) icm() []rest.Operation {
	chains := []rest.Param{
		{Name: bySource, Kind: schema.KindChain, Doc: "Only messages from this chain, by blockchain id or EVM chain id."},
		{Name: byDestination, Kind: schema.KindChain, Doc: "Only messages to this chain."},
		{Name: "groupBy", Kind: schema.KindEnum, Enum: []string{bySource, byDestination, bySource + "," + byDestination},
			Doc: "Count the messages of each chain separately."},
		{Name: "network", Kind: schema.KindNetwork, Doc: "Only messages of this network."},
	}
	interval := rest.Param{Name: "timeInterval", Kind: schema.KindEnum, Enum: metric.Intervals, Default: "day"}
	return []rest.Operation{
		{ID: "getICMTimeseries", Path: "/v2/icm/timeseries", Summary: "Get ICM timeseries metrics", Answer: reflect.TypeFor[IcmSeries](), Handle: a.icmSeries,
			Params: slices.Concat(timeRange, chains, []rest.Param{interval}, rest.Paging(pageSize, mostSize))},
		{ID: "getICMSummary", Path: "/v2/icm/summary", Summary: "Get ICM summary metrics", Answer: reflect.TypeFor[IcmSummary](), Handle: a.icmSummary,
			Params: chains},
	}
}

// routes reads the parameters about chains; all names the messages of several chains together.
func (a *api) routes(r *rest.Request) (l metric.RouteFilter, scope metric.Scope, all string, err error) {
	scope, all = metric.Total, total
	switch r.Text("network") {
	case fixtures.MainnetName:
		scope, all = metric.Mainnet, mainnet
	case fixtures.FujiName:
		scope, all = metric.Testnet, testnet
	}
	for _, chain := range []struct {
		name string
		id   *string
	}{{bySource, &l.From}, {byDestination, &l.To}} {
		if !r.Given(chain.name) {
			continue
		}
		named := r.Chain(chain.name)
		*chain.id = string(named.Blockchain[:])
		if named.EVM != 0 {
			c, err := a.chain(named)
			if err != nil {
				return l, scope, all, err
			}
			*chain.id = string(c.Row.BlockchainID)
		}
	}
	for name := range strings.SplitSeq(r.Text("groupBy"), ",") {
		l.BySource, l.ByDestination = l.BySource || name == bySource, l.ByDestination || name == byDestination
	}
	return l, scope, all, nil
}

// ends names the chains of a route.
func ends(l metric.RouteFilter, route metric.Route, all string) Ends {
	name := func(group, only string) string {
		if id := cmp.Or(group, only); id != "" {
			return ids.ID([]byte(id)).String()
		}
		return all
	}
	return Ends{name(route.Source, l.From), name(route.Destination, l.To)}
}

func (a *api) icmSeries(r *rest.Request) (any, error) {
	l, scope, all, err := a.routes(r)
	if err != nil {
		return nil, err
	}
	q := query.ICMQuery{RouteFilter: l, Scope: scope, Interval: metric.Interval(slices.Index(metric.Intervals, r.Text("timeInterval"))),
		From: r.Int("startTimestamp"), To: end(r), Limit: r.PageSize(), After: lastPoint(r, l)}
	points, more, err := query.ICMSeries(r.Context(), a.world, q)
	page, named := IcmSeries{Results: []IcmPoint{}}, map[metric.Route]Ends{}
	for _, p := range points {
		if _, known := named[p.Route]; !known {
			named[p.Route] = ends(l, p.Route, all)
		}
		page.Results = append(page.Results, IcmPoint{p.Messages, p.Start, named[p.Route]})
	}
	if more {
		last := points[len(points)-1]
		page.NextPageToken = r.NextPageToken(append([]byte(last.Source+last.Destination), rest.Position(uint64(last.Start))...))
	}
	return page, err
}

// lastPoint marks the end of the previous page: the chains it counted, and its interval.
func lastPoint(r *rest.Request, l metric.RouteFilter) (p metric.RoutePoint) {
	at, _ := r.Position()
	for _, part := range []struct {
		there bool
		id    *string
	}{{l.BySource, &p.Source}, {l.ByDestination, &p.Destination}} {
		if part.there {
			*part.id, at = string(at[:min(ids.IDLen, len(at))]), at[min(ids.IDLen, len(at)):]
		}
	}
	for _, b := range at {
		p.Start = p.Start<<8 | int64(b)
	}
	return p
}

func (a *api) icmSummary(r *rest.Request) (any, error) {
	l, scope, all, err := a.routes(r)
	if err != nil {
		return nil, err
	}
	routes, counts, err := query.ICMSummary(r.Context(), a.world, scope, l)
	if err != nil {
		return nil, err
	}
	sum, groups := make([]int64, len(metric.Windows)), []IcmRolling{}
	for _, route := range routes {
		groups = append(groups, rollingOf(counts[route], ends(l, route, all)))
		for i, n := range counts[route] {
			sum[i] += n
		}
	}
	summary := IcmSummary{Result: rollingOf(sum, ends(l, metric.Route{}, all))}
	if r.Given("groupBy") {
		summary.Groups = groups
	}
	return summary, nil
}

func rollingOf(n []int64, e Ends) IcmRolling {
	return IcmRolling{LastHour: n[0], LastDay: n[1], LastWeek: n[2], LastMonth: n[3], Last90Days: n[4], LastYear: n[5], AllTime: n[6], Ends: e}
}
