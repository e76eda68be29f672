package usage

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// Metric holds the figures of an interval.
type Metric struct {
	Timestamp int64   `json:"timestamp" doc:"When the interval begins, Unix seconds."`
	Values    []Value `json:"values"`
}

// Value holds the figures of a group.
type Value struct {
	GroupedBy               string  `json:"groupedBy"`
	GroupValue              any     `json:"groupValue,omitempty" doc:"A string or a number; absent without groupBy."`
	TotalRequests           int64   `json:"totalRequests"`
	RequestsPerSecond       float64 `json:"requestsPerSecond"`
	SuccessRatePercent      float64 `json:"successRatePercent"`
	MedianResponseTimeMsecs float64 `json:"medianResponseTimeMsecs"`
	InvalidRequests         int64   `json:"invalidRequests"`
	APICreditsUsed          int64   `json:"apiCreditsUsed"`
	APICreditsWasted        int64   `json:"apiCreditsWasted"`
}

type apiUsage struct {
	AggregateDuration string   `json:"aggregateDuration"`
	OrgID             string   `json:"orgId"`
	Metrics           []Metric `json:"metrics"`
}

type subnetUsage struct {
	AggregateDuration string   `json:"aggregateDuration"`
	ChainID           string   `json:"chainId" doc:"all if the request names no chain."`
	Metrics           []Metric `json:"metrics"`
}

type primaryUsage struct {
	AggregateDuration string   `json:"aggregateDuration"`
	Network           string   `json:"network" enum:"mainnet,testnet"`
	Metrics           []Metric `json:"metrics"`
}

type logList struct {
	NextPageToken string     `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	OrgID         string     `json:"orgId"`
	Logs          []LogEntry `json:"logs"`
}

// LogEntry is a logged request.
type LogEntry struct {
	OrgID                string      `json:"orgId"`
	LogID                string      `json:"logId"`
	EventTimestamp       int64       `json:"eventTimestamp" doc:"Unix milliseconds of the world's clock."`
	APIKeyID             string      `json:"apiKeyId"`
	APIKeyAlias          string      `json:"apiKeyAlias"`
	HostRegion           string      `json:"hostRegion"`
	RequestType          string      `json:"requestType" enum:"data,rpc"`
	RequestPath          string      `json:"requestPath"`
	APICreditsConsumed   int64       `json:"apiCreditsConsumed"`
	RequestDurationMsecs float64     `json:"requestDurationMsecs"`
	ResponseCode         int         `json:"responseCode"`
	ChainID              string      `json:"chainId,omitempty"`
	RPCMethod            string      `json:"rpcMethod,omitempty"`
	Metadata             LogMetadata `json:"metadata"`
}

// LogMetadata identifies the sender of a request.
type LogMetadata struct {
	IPAddress string `json:"ipAddress"`
	Host      string `json:"host"`
	UserAgent string `json:"userAgent"`
}

const (
	orgID     = "snowglobe"
	region    = "local"
	noKey     = "none" // the key id of requests without a key
	allChains = "all"
	none      = "None"
	testnet   = "testnet"
)

// dimensions lists the groupings of requests, under the live service's names.
var dimensions = map[string]func(*kind) any{
	"requestPath":   func(d *kind) any { return d.Path },
	"responseCode":  func(d *kind) any { return d.Status },
	"chainId":       func(d *kind) any { return d.ChainID },
	"apiKeyId":      func(d *kind) any { return cmp.Or(d.Key, noKey) },
	"requestType":   func(d *kind) any { return d.RequestType },
	"rpcMethod":     func(d *kind) any { return d.Method },
	"rlBypassToken": func(d *kind) any { return strconv.FormatBool(d.Bypass) },
	"country":       func(d *kind) any { return d.Country },
	"continent":     func(d *kind) any { return d.Continent },
	"userAgent":     func(d *kind) any { return d.UserAgent },
}

// timeParams select the days.
var timeParams = []rest.Param{
	{Name: "startTimestamp", Kind: schema.KindTimestamp, NotAbove: "endTimestamp", Doc: "Counts from 00:00 UTC of its day. Default: a week before the end."},
	{Name: "endTimestamp", Kind: schema.KindTimestamp, Doc: "The last day. Default: the day of the world's clock."},
}

func texts(names ...string) (all []rest.Param) {
	for _, name := range names {
		all = append(all, rest.Param{Name: name, Kind: schema.KindText})
	}
	return all
}

func grouping(intervals []string, by ...string) []rest.Param {
	return []rest.Param{
		{Name: "timeInterval", Kind: schema.KindEnum, Enum: intervals, Default: daily},
		{Name: "groupBy", Kind: schema.KindEnum, Enum: by},
	}
}

const daily = "daily"

var (
	longIntervals = []string{"hourly", daily, "weekly", "monthly"}
	requestType   = rest.Param{Name: "requestType", Kind: schema.KindEnum, Enum: []string{"data", "rpc"}}
)

// Register adds the operations on usage to a server.
func Register(s *rest.Server, r *Recorder) error {
	subnet := data.JoinParams(timeParams, grouping(longIntervals, "rpcMethod", "responseCode", "rlBypassToken"),
		texts("chainId", "responseCode", "rpcMethod", "rlBypassApiToken"))
	return s.Register(rest.Data,
		rest.Operation{ID: "getApiUsageMetrics", Path: "/v1/apiUsageMetrics", Summary: "Count the requests to this server", Live: true,
			Doc: "At the world's time, the latest 10,000 since the server was started; before the end of the generated history there are made-up ones.",
			Params: data.JoinParams(timeParams, grouping(append([]string{"minute"}, longIntervals...), "requestPath", "responseCode", "chainId", "apiKeyId", "requestType"),
				texts("orgId", "chainId", "responseCode", "apiKeyId", "requestPath"), requestType), Answer: reflect.TypeFor[apiUsage](), Handle: r.apiUsage},
		rest.Operation{ID: "getApiLogs", Path: "/v1/apiLogs", Summary: "List the requests to this server, newest first", Live: true,
			Doc:    "At most the latest 10,000 since the server was started, then made-up ones for the days before the end of the generated history.",
			Params: data.JoinParams(timeParams, texts("orgId", "chainId", "responseCode", "apiKeyId", "requestPath"), requestType, rest.Paging(10, 100)),
			Answer: reflect.TypeFor[logList](), Handle: r.listLogs},
		rest.Operation{ID: "getSubnetRpcUsageMetrics", Path: "/v1/subnetRpcUsageMetrics", Summary: "Count the JSON-RPC requests to EVM chains", Live: true,
			Params: subnet, Answer: reflect.TypeFor[subnetUsage](), Handle: r.subnetUsage},
		rest.Operation{ID: "getRpcUsageMetrics", Path: "/v1/rpcUsageMetrics", Summary: "The same, under its deprecated path", Deprecated: true, Live: true,
			Params: subnet, Answer: reflect.TypeFor[subnetUsage](), Handle: r.subnetUsage},
		rest.Operation{ID: "getPrimaryNetworkRpcUsageMetrics", Path: "/v1/primaryNetworkRpcUsageMetrics", Summary: "Count the requests to the node of a network", Live: true,
			Params: data.JoinParams(rest.Param{Name: "network", Kind: schema.KindNetwork, Required: true}, timeParams,
				grouping(longIntervals, "rpcMethod", "requestPath", "responseCode", "country", "continent", "userAgent"),
				texts("responseCode", "requestPath", "country", "continent", "userAgent", "rpcMethod")),
			Answer: reflect.TypeFor[primaryUsage](), Handle: r.primaryUsage},
	)
}

func (r *Recorder) apiUsage(q *rest.Request) (any, error) {
	metrics, err := r.metrics(q, func(*kind) bool { return true })
	return &apiUsage{q.Text("timeInterval"), orgID, metrics}, err
}

func (r *Recorder) subnetUsage(q *rest.Request) (any, error) {
	metrics, err := r.metrics(q, func(d *kind) bool { return d.RequestType == "rpc" && d.ChainID != "" })
	return &subnetUsage{q.Text("timeInterval"), cmp.Or(q.Text("chainId"), allChains), metrics}, err
}

func (r *Recorder) primaryUsage(q *rest.Request) (any, error) {
	network := q.Text("network")
	metrics, err := r.metrics(q, func(d *kind) bool { return d.RequestType == "rpc" && d.Network == network })
	if network != "mainnet" {
		network = testnet
	}
	return &primaryUsage{q.Text("timeInterval"), network, metrics}, err
}

const day = 24 * 3600

// days returns a request's range, from its first second up to its end.
func (r *Recorder) days(q *rest.Request) (from, to int64) {
	to = r.world.Clock.Unix()
	if q.Given("endTimestamp") {
		to = q.Int("endTimestamp")
	}
	to = to/day*day + day
	if from = to - 7*day; q.Given("startTimestamp") {
		from = q.Int("startTimestamp") / day * day
	}
	return from, to
}

// chooses reports whether the request's filters let a kind of requests through.
func chooses(q *rest.Request) func(*kind) bool {
	wanted := map[string]string{}
	for name := range dimensions {
		param := name
		if name == "rlBypassToken" {
			param = "rlBypassApiToken"
		}
		if text := q.Text(param); text != "" {
			wanted[name] = text
		}
	}
	return func(d *kind) bool {
		for name, text := range wanted {
			if fmt.Sprint(dimensions[name](d)) != text {
				return false
			}
		}
		return true
	}
}

// mostIntervals bounds a response: more days than that in minutes are more than anyone plots.
const mostIntervals = 20_000

// metrics sums up the counts by interval and group.
func (r *Recorder) metrics(q *rest.Request, of func(*kind) bool) ([]Metric, error) {
	if id := q.Text("orgId"); id != "" && id != orgID {
		return []Metric{}, nil
	}
	from, to := r.days(q)
	interval, group := q.Text("timeInterval"), q.Text("groupBy")
	chosen := chooses(q)
	sums := map[int64]map[any]*sum{}
	for l, d := range r.requests(from, to) {
		if !of(d) || !chosen(d) {
			continue
		}
		begin, _ := span(interval, l.time/1000)
		var value any
		if group != "" {
			value = dimensions[group](d)
		}
		if sums[begin] == nil {
			sums[begin] = map[any]*sum{}
		}
		if sums[begin][value] == nil {
			sums[begin][value] = &sum{}
		}
		sums[begin][value].add(l, d)
	}
	if len(sums) > mostIntervals {
		return nil, rest.BadRequest("the time range has too many intervals with requests: choose a shorter one, or a longer timeInterval")
	}
	all := []Metric{}
	for _, begin := range slices.Backward(slices.Sorted(maps.Keys(sums))) {
		_, seconds := span(interval, begin)
		all = append(all, Metric{begin, values(group, sums[begin], seconds)})
	}
	return all, nil
}

// span returns the start of the interval around a time, and its length in seconds.
func span(interval string, unix int64) (begin, seconds int64) {
	t := time.Unix(unix, 0).UTC()
	switch interval {
	case "minute":
		return unix / 60 * 60, 60
	case "hourly":
		return unix / 3600 * 3600, 3600
	case "weekly":
		monday := t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Unix() / day * day
		return monday, 7 * day
	case "monthly":
		first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
		return first.Unix(), first.AddDate(0, 1, 0).Unix() - first.Unix()
	}
	return unix / day * day, day
}

// sum adds up the requests of an interval and a group.
type sum struct {
	Value
	failed int64
	took   []time.Duration
}

func (s *sum) add(l request, d *kind) {
	s.TotalRequests++
	s.APICreditsUsed += credits(d)
	if d.Status >= 400 {
		s.failed++
	}
	if d.Status >= 400 && d.Status < 500 {
		s.InvalidRequests++
		s.APICreditsWasted += credits(d)
	}
	s.took = append(s.took, l.took)
}

func values(group string, sums map[any]*sum, seconds int64) []Value {
	all := make([]Value, 0, len(sums))
	for value, s := range sums {
		slices.Sort(s.took)
		s.GroupedBy, s.GroupValue, s.RequestsPerSecond = cmp.Or(group, none), value, float64(s.TotalRequests)/float64(seconds)
		s.SuccessRatePercent = 100 * float64(s.TotalRequests-s.failed) / float64(s.TotalRequests)
		s.MedianResponseTimeMsecs = milliseconds(s.took[len(s.took)/2])
		all = append(all, s.Value)
	}
	slices.SortFunc(all, func(a, b Value) int {
		return cmp.Or(cmp.Compare(b.TotalRequests, a.TotalRequests), cmp.Compare(fmt.Sprint(a.GroupValue), fmt.Sprint(b.GroupValue)))
	})
	return all
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// weights lists what requests cost in credits, by path prefix, as the live service weighs its operations. The first match counts; all others
// cost 20.
var weights = []struct {
	path    string
	credits int64
}{
	{"/v1/avax/", 0}, {"/v1/health-check", 0}, {"/v1/live-check", 0}, {"/v2/health-check", 0}, {"/v2/live-check", 0},
	{"/v1/chains/address/", 0}, {"/v1/chains/all", 0}, {"/v1/apiUsageMetrics", 200}, {"/v1/apiLogs", 200}, {"/v1/subnetRpc", 200}, {"/v1/rpcUsage", 200},
	{"/v1/primaryNetworkRpc", 200}, {"/v1/networks/{network}/blockchains/{blockchainId}/", 100}, {"/v1/networks/{network}/rewards", 100},
	{"/v1/networks/{network}/addresses", 100}, {"/v1/chains/{chainId}/blocks", 10}, {"/v1/operations/{operationId}", 10}, {"/v1/webhooks", 10},
	{"/v2/chains/{chainId}/metrics", 10}, {"/v2/chains/{chainId}/rolling", 10}, {"/v2/networks", 10},
}

func credits(d *kind) int64 {
	switch d.Path {
	case "/v1/chains", "/v1/chains/{chainId}", "/v2/chains", "/v2/chains/{chainId}":
		return 0
	}
	if strings.HasPrefix(d.Method, "debug_") || strings.HasPrefix(d.Method, "trace_") {
		return 200
	}
	for _, w := range weights {
		if strings.HasPrefix(d.Path, w.path) {
			return w.credits
		}
	}
	return 20
}

// listLogs lists the latest remembered requests, then the history's.
func (r *Recorder) listLogs(q *rest.Request) (any, error) {
	answer := &logList{OrgID: orgID, Logs: []LogEntry{}}
	if id := q.Text("orgId"); id != "" && id != orgID {
		return answer, nil
	}
	from, to := r.days(q)
	before, resumed := q.PositionNumber()
	chosen := chooses(q)
	for l, d := range r.requests(from, to) {
		if resumed && l.number >= int64(before) || !chosen(d) {
			continue
		}
		if len(answer.Logs) == q.PageSize() {
			answer.NextPageToken = q.NextPageToken(rest.Position(uint64(l.number) + 1))
			break
		}
		answer.Logs = append(answer.Logs, LogEntry{
			OrgID: orgID, LogID: fmt.Sprintf("log-%x", l.number), EventTimestamp: l.time, APIKeyID: cmp.Or(d.Key, noKey), APIKeyAlias: cmp.Or(d.Key, noKey),
			HostRegion: region, RequestType: d.RequestType, RequestPath: d.Path, APICreditsConsumed: credits(d),
			RequestDurationMsecs: milliseconds(l.took), ResponseCode: d.Status, ChainID: d.ChainID, RPCMethod: d.Method, Metadata: d.caller,
		})
	}
	return answer, nil
}
