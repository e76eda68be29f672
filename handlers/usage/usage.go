package usage

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// Metric holds the figures of an interval.
type Metric struct {
	Timestamp int64   `json:"timestamp" doc:"Where the interval begins, Unix seconds."`
	Values    []Value `json:"values"`
}

// Value holds the figures of a group.
type Value struct {
	GroupedBy               string  `json:"groupedBy"`
	GroupValue              any     `json:"groupValue,omitempty" doc:"A string or a number; absent when nothing is grouped."`
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
	ChainID           string   `json:"chainId" doc:"all without a chain that is asked for."`
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

// dimension is a grouping of requests under the live service's name.
var dimensions = map[string]func(*Dimensions) any{
	"requestPath":   func(d *Dimensions) any { return d.Path },
	"responseCode":  func(d *Dimensions) any { return d.Status },
	"chainId":       func(d *Dimensions) any { return d.ChainID },
	"apiKeyId":      func(d *Dimensions) any { return cmp.Or(d.Key, noKey) },
	"requestType":   func(d *Dimensions) any { return d.RequestType },
	"rpcMethod":     func(d *Dimensions) any { return d.Method },
	"rlBypassToken": func(d *Dimensions) any { return strconv.FormatBool(d.Bypass) },
	"country":       func(d *Dimensions) any { return d.Country },
	"continent":     func(d *Dimensions) any { return d.Continent },
	"userAgent":     func(d *Dimensions) any { return d.UserAgent },
}

// filters lists the parameters that select requests, and the dimensions they filter by.
var filters = map[string]string{
	"chainId": "chainId", "responseCode": "responseCode", "requestType": "requestType", "apiKeyId": "apiKeyId", "requestPath": "requestPath",
	"rpcMethod": "rpcMethod", "rlBypassApiToken": "rlBypassToken", "country": "country", "continent": "continent", "userAgent": "userAgent",
}

// timeParams select the days.
var timeParams = []rest.Param{
	{Name: "startTimestamp", Kind: schema.KindTimestamp, NotAbove: "endTimestamp", Doc: "Counts from 00:00 UTC of its day. A week before the end unless given."},
	{Name: "endTimestamp", Kind: schema.KindTimestamp, Doc: "Its day is the last. That of the world's clock unless given."},
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
		rest.Operation{ID: "getApiUsageMetrics", Path: "/v1/apiUsageMetrics", Summary: "Count the requests that this server got", Live: true,
			Doc: fmt.Sprintf("At the world's time, since the server was started; before the end of the generated history there are made-up ones. The first %d API keys are told apart; those that come later are counted together, as %s.", maxKeys, other),
			Params: data.JoinParams(timeParams, grouping(append([]string{"minute"}, longIntervals...), "requestPath", "responseCode", "chainId", "apiKeyId", "requestType"),
				texts("orgId", "chainId", "responseCode", "apiKeyId", "requestPath"), requestType), Answer: reflect.TypeFor[apiUsage](), Handle: r.apiUsage},
		rest.Operation{ID: "getApiLogs", Path: "/v1/apiLogs", Summary: "List the requests that this server got, the newest first", Live: true,
			Doc:    "At most the latest 10,000 since the server was started, then those that are made up for the days before the end of the generated history.",
			Params: data.JoinParams(timeParams, texts("orgId", "chainId", "responseCode", "apiKeyId", "requestPath"), requestType, rest.Paging(10, 100)),
			Answer: reflect.TypeFor[logList](), Handle: r.listLogs},
		rest.Operation{ID: "getSubnetRpcUsageMetrics", Path: "/v1/subnetRpcUsageMetrics", Summary: "Count the JSON-RPC requests to EVM chains", Live: true,
			Params: subnet, Answer: reflect.TypeFor[subnetUsage](), Handle: r.subnetUsage},
		rest.Operation{ID: "getRpcUsageMetrics", Path: "/v1/rpcUsageMetrics", Summary: "The same under its deprecated path", Deprecated: true, Live: true,
			Params: subnet, Answer: reflect.TypeFor[subnetUsage](), Handle: r.subnetUsage},
		rest.Operation{ID: "getPrimaryNetworkRpcUsageMetrics", Path: "/v1/primaryNetworkRpcUsageMetrics", Summary: "Count the requests to the node of a network", Live: true,
			Params: data.JoinParams(rest.Param{Name: "network", Kind: schema.KindNetwork, Required: true}, timeParams,
				grouping(longIntervals, "rpcMethod", "requestPath", "responseCode", "country", "continent", "userAgent"),
				texts("responseCode", "requestPath", "country", "continent", "userAgent", "rpcMethod")),
			Answer: reflect.TypeFor[primaryUsage](), Handle: r.primaryUsage},
	)
}

func (r *Recorder) apiUsage(q *rest.Request) (any, error) {
	metrics, err := r.metrics(q, func(*Dimensions) bool { return true })
	return &apiUsage{q.Text("timeInterval"), orgID, metrics}, err
}

func (r *Recorder) subnetUsage(q *rest.Request) (any, error) {
	metrics, err := r.metrics(q, func(d *Dimensions) bool { return d.RequestType == "rpc" && d.ChainID != "" })
	return &subnetUsage{q.Text("timeInterval"), cmp.Or(q.Text("chainId"), allChains), metrics}, err
}

func (r *Recorder) primaryUsage(q *rest.Request) (any, error) {
	network := q.Text("network")
	metrics, err := r.metrics(q, func(d *Dimensions) bool { return d.RequestType == "rpc" && d.Network == network })
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
func chooses(q *rest.Request) func(*Dimensions) bool {
	wanted := map[string]string{}
	for param, dimension := range filters {
		if text := q.Text(param); text != "" {
			wanted[dimension] = text
		}
	}
	return func(d *Dimensions) bool {
		for name, text := range wanted {
			if dimensionText(dimensions[name](d)) != text {
				return false
			}
		}
		return true
	}
}

// dimensionText formats a dimension's value as a parameter does.
func dimensionText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return fmt.Sprint(value)
}

// mostIntervals bounds a response: more days than that in minutes are more than anyone plots.
const mostIntervals = 20_000

// metrics sums up the counts by interval and group.
func (r *Recorder) metrics(q *rest.Request, of func(*Dimensions) bool) ([]Metric, error) {
	if id := q.Text("orgId"); id != "" && id != orgID {
		return []Metric{}, nil
	}
	from, to := r.days(q)
	interval, group := q.Text("timeInterval"), q.Text("groupBy")
	chosen := chooses(q)
	sums := map[int64]map[any]*Figures{}
	add := func(s slot, f *Figures) {
		if s.start < from || s.start >= to || !of(&s.Dimensions) || !chosen(&s.Dimensions) {
			return
		}
		begin, _ := span(interval, s.start)
		var value any
		if group != "" {
			value = dimensions[group](&s.Dimensions)
		}
		if sums[begin] == nil {
			sums[begin] = map[any]*Figures{}
		}
		if sums[begin][value] == nil {
			sums[begin][value] = &Figures{}
		}
		sums[begin][value].add(f)
	}
	r.past(r.pastKinds(), from, to, add)
	r.mu.Lock()
	for s, f := range r.slots {
		add(s, f)
	}
	r.mu.Unlock()
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

func values(group string, sums map[any]*Figures, seconds int64) []Value {
	all := make([]Value, 0, len(sums))
	for value, f := range sums {
		all = append(all, Value{
			GroupedBy: cmp.Or(group, none), GroupValue: value, TotalRequests: f.Requests, RequestsPerSecond: float64(f.Requests) / float64(seconds),
			SuccessRatePercent: 100 * float64(f.Requests-f.Failed) / float64(f.Requests), MedianResponseTimeMsecs: f.median(),
			InvalidRequests: f.Invalid, APICreditsUsed: f.Credits, APICreditsWasted: f.Wasted,
		})
	}
	slices.SortFunc(all, func(a, b Value) int {
		return cmp.Or(cmp.Compare(b.TotalRequests, a.TotalRequests), cmp.Compare(fmt.Sprint(a.GroupValue), fmt.Sprint(b.GroupValue)))
	})
	return all
}

// median returns the time within which half of the requests finished.
func (f *Figures) median() float64 {
	passed := int64(0)
	for class, n := range f.Latency {
		if passed += int64(n); 2*passed >= f.Requests {
			return latency(class)
		}
	}
	return 0
}

// listLogs lists the latest remembered requests, then those of the history.
func (r *Recorder) listLogs(q *rest.Request) (any, error) {
	answer := &logList{OrgID: orgID, Logs: []LogEntry{}}
	if id := q.Text("orgId"); id != "" && id != orgID {
		return answer, nil
	}
	from, to := r.days(q)
	before, resumed := q.PositionNumber()
	chosen := chooses(q)
	for l := range r.logsBetween(from, to, chosen) {
		if resumed && l.Number >= int64(before) || l.Time/1000 < from || l.Time/1000 >= to || !chosen(l.Dimensions) {
			continue
		}
		if len(answer.Logs) == q.PageSize() {
			answer.NextPageToken = q.NextPageToken(rest.Position(uint64(l.Number) + 1))
			break
		}
		answer.Logs = append(answer.Logs, LogEntry{
			OrgID: orgID, LogID: fmt.Sprintf("log-%x", l.Number), EventTimestamp: l.Time, APIKeyID: cmp.Or(l.Key, noKey), APIKeyAlias: cmp.Or(l.Key, noKey),
			HostRegion: region, RequestType: l.RequestType, RequestPath: l.Path, APICreditsConsumed: l.Credits,
			RequestDurationMsecs: float64(l.Took.Microseconds()) / 1000, ResponseCode: l.Status, ChainID: l.ChainID, RPCMethod: l.Method,
			Metadata: LogMetadata{l.From.IP, l.From.Host, l.From.UserAgent},
		})
	}
	return answer, nil
}

// logsBetween returns the remembered requests, newest first, then those of the history, between two times. It includes every matching
// request.
func (r *Recorder) logsBetween(from, to int64, chosen func(*Dimensions) bool) iter.Seq[*Log] {
	return func(yield func(*Log) bool) {
		for _, l := range r.latest() {
			if !yield(&l) {
				return
			}
		}
		r.pastLogs(from, to, chosen, yield)
	}
}

// latest returns the remembered requests, newest first.
func (r *Recorder) latest() []Log {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Log, 0, len(r.logs))
	for number := r.counted; number > r.counted-int64(len(r.logs)); number-- {
		all = append(all, r.logs[(number-1)%maxLogs])
	}
	return all
}
