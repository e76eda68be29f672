package usage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
)

// reported is a recorder whose figures are served.
type reported struct {
	*testing.T
	*Recorder
	server *rest.Server
	today  string // the query for the day of the clock
}

func newReported(t *testing.T, w *sim.World) *reported {
	t.Helper()
	s, err := rest.New(rest.Options{Clock: w.Clock, WorldKey: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	r := New(w)
	if err := Register(s, r); err != nil {
		t.Fatal(err)
	}
	return &reported{t, r, s, fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", w.Clock.Unix(), w.Clock.Unix())}
}

// get reads an answer with the operation's shape.
func get[T any](r *reported, path string) (answer T) {
	r.Helper()
	q, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
	r.server.ServeHTTP(w, q)
	if err := r.server.CheckAnswer(q, w.Code, w.Body.Bytes()); err != nil || w.Code != http.StatusOK {
		r.Fatalf("%s is %d %s: %v", path, w.Code, w.Body, err)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		r.Fatal(err)
	}
	return answer
}

// TestFiguresAddUp draws requests, and compares every operation's figures, for every grouping and every filter, with sums over the requests.
func TestFiguresAddUp(t *testing.T) {
	r := newReported(t, seedtest.Shared(t, "tiny", 1))
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var all []kind
	var took []time.Duration
	for range 400 {
		u := rest.Use{Status: []int{200, 200, 201, 399, 400, 404, 499, 500}[random.IntN(8)], Took: time.Duration(random.IntN(5000)) * time.Microsecond,
			Key: pick("", "key-a", "key-b"), Bypass: random.IntN(2) == 0, UserAgent: pick("axios/1", "viem/2 linux"), Client: "127.0.0.1:80"}
		if u.Interface = "data"; random.IntN(2) == 0 {
			u.Interface, u.Path, u.Operation = "node", pick("/ext/bc/C/rpc", "/fuji/ext/bc/C/ws", "/fuji/ext/bc/P", "/ext/info"), pick("eth_call", "debug_traceCall")
		} else {
			chain := pick("43114", "43113")
			u.Template, u.Path = "/v1/chains/{chainId}/blocks", "/v1/chains/"+chain+"/blocks"
			if random.IntN(2) == 0 {
				u.Template, u.Path = "/v1/networks/{network}/validators", "/v1/networks/fuji/validators"
			}
		}
		r.Add(&u)
		all, took = append(all, r.kindOf(&u)), append(took, u.Took)
	}
	for _, o := range []struct {
		path   string
		groups []string
		of     func(k *kind) bool
	}{
		{"/v1/apiUsageMetrics?", []string{"", "requestPath", "responseCode", "chainId", "apiKeyId", "requestType"}, func(*kind) bool { return true }},
		{"/v1/subnetRpcUsageMetrics?", []string{"", "rpcMethod", "responseCode", "rlBypassToken"}, func(k *kind) bool { return k.Method != "" && k.ChainID != "" }},
		{"/v1/rpcUsageMetrics?", []string{"", "rpcMethod", "responseCode", "rlBypassToken"}, func(k *kind) bool { return k.Method != "" && k.ChainID != "" }},
		{"/v1/primaryNetworkRpcUsageMetrics?network=fuji&", []string{"", "rpcMethod", "requestPath", "responseCode", "country", "continent", "userAgent"},
			func(k *kind) bool { return k.Method != "" && k.Network == "fuji" }},
	} {
		for _, group := range o.groups {
			for _, filter := range append(o.groups, "unknown") {
				value := ""
				if filter != "" && filter != "unknown" {
					value = fmt.Sprint(dimension(&all[random.IntN(len(all))], filter))
				}
				query := o.path + r.today + "&timeInterval=daily"
				if group != "" {
					query += "&groupBy=" + group
				}
				if param := map[string]string{"rlBypassToken": "rlBypassApiToken"}[filter]; value != "" && filter != "chainId" || value != "" && strings.Contains(o.path, "api") {
					query += "&" + cmp.Or(param, filter) + "=" + url.QueryEscape(value)
				} else {
					value = ""
				}
				want := map[string]Value{}
				times := map[string][]time.Duration{}
				for i := range all {
					k := &all[i]
					if !o.of(k) || value != "" && fmt.Sprint(dimension(k, filter)) != value {
						continue
					}
					name := ""
					if group != "" {
						name = fmt.Sprint(dimension(k, group))
					}
					v := want[name]
					v.TotalRequests++
					v.APICreditsUsed += credits(k)
					if k.Status < 400 {
						v.SuccessRatePercent++
					} else if k.Status < 500 {
						v.InvalidRequests, v.APICreditsWasted = v.InvalidRequests+1, v.APICreditsWasted+credits(k)
					}
					want[name], times[name] = v, append(times[name], took[i])
				}
				answer := get[apiUsage](r, query)
				if len(want) == 0 && len(answer.Metrics) == 0 {
					continue
				}
				if len(answer.Metrics) != 1 || len(answer.Metrics[0].Values) != len(want) || answer.Metrics[0].Timestamp != r.world.Clock.Unix()/86400*86400 {
					t.Fatalf("%s: %+v, want %d groups of one day", query, answer, len(want))
				}
				before := int64(len(all))
				for _, have := range answer.Metrics[0].Values {
					name := ""
					if group != "" {
						name = fmt.Sprint(have.GroupValue)
					}
					v := want[name]
					slices.Sort(times[name])
					v.SuccessRatePercent *= 100 / float64(v.TotalRequests)
					v.GroupedBy, v.GroupValue, v.RequestsPerSecond = cmp.Or(group, "None"), have.GroupValue, float64(v.TotalRequests)/86400
					v.MedianResponseTimeMsecs = float64(times[name][len(times[name])/2]/time.Microsecond) / 1000
					if difference := have.SuccessRatePercent - v.SuccessRatePercent; difference < 1e-9 && difference > -1e-9 {
						v.SuccessRatePercent = have.SuccessRatePercent
					}
					if !reflect.DeepEqual(have, v) || have.TotalRequests > before {
						t.Errorf("%s: %+v, want %+v", query, have, v)
					}
					before = have.TotalRequests
				}
			}
		}
	}
	for _, query := range []string{"/v1/apiUsageMetrics?orgId=other&" + r.today, "/v1/apiUsageMetrics?chainId=1&" + r.today} {
		if other := get[apiUsage](r, query); other.Metrics == nil || len(other.Metrics) > 0 || other.OrgID != "snowglobe" || other.AggregateDuration != "daily" {
			t.Errorf("%s: %+v", query, other)
		}
	}
	if own := get[apiUsage](r, "/v1/apiUsageMetrics?orgId=snowglobe&"+r.today); len(own.Metrics) != 1 {
		t.Errorf("of the server's own organisation: %+v", own)
	}
	if s := get[subnetUsage](r, "/v1/subnetRpcUsageMetrics?chainId=43113&"+r.today); s.ChainID != "43113" || get[subnetUsage](r, "/v1/rpcUsageMetrics?"+r.today).ChainID != "all" {
		t.Errorf("of one chain: %+v", s)
	}
	for network, named := range map[string]string{"mainnet": "mainnet", "fuji": "testnet", "testnet": "testnet"} {
		if p := get[primaryUsage](r, "/v1/primaryNetworkRpcUsageMetrics?network="+network+"&"+r.today); p.Network != named || len(p.Metrics) != 1 {
			t.Errorf("of %s: %+v", network, p)
		}
	}
}

// dimension reads what requests are grouped by.
func dimension(k *kind, name string) any {
	switch name {
	case "requestPath":
		return k.Path
	case "responseCode":
		return k.Status
	case "chainId":
		return k.ChainID
	case "apiKeyId":
		if k.Key == "" {
			return "none"
		}
		return k.Key
	case "requestType":
		return k.RequestType
	case "rpcMethod":
		return k.Method
	case "rlBypassToken":
		return k.Bypass
	case "country":
		return k.Country
	case "continent":
		return k.Continent
	}
	return k.UserAgent
}

// TestKinds: a request counts for the chain and network that its path names, by the path of its operation or below /ext.
func TestKinds(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	r := New(w)
	l1 := w.Chains[slices.IndexFunc(w.Chains, func(c *reader.Chain) bool { return c.Row.EVMID != 43114 && c.Row.EVMID != 43113 })].Row
	id := ids.ID(w.Chains[0].Row.BlockchainID)
	long := strings.Repeat("a", 255) + "éé"
	for _, c := range []struct {
		use  rest.Use
		want kind
	}{
		{rest.Use{Interface: "data", Template: "/v1/chains/{chainId}/blocks", Path: "/v1/chains/43114/blocks", Status: 200, Key: "k", Bypass: true},
			kind{Path: "/v1/chains/{chainId}/blocks", ChainID: "43114", Network: "mainnet", Status: 200, Key: "k", Bypass: true}},
		{rest.Use{Interface: "metrics", Template: "/v2/chains/{chainId}", Path: "/v2/chains/43113"}, kind{Path: "/v2/chains/{chainId}", ChainID: "43113", Network: "fuji"}},
		{rest.Use{Interface: "data", Template: "/v1/chains/{chainId}", Path: "/v1/chains/7"}, kind{Path: "/v1/chains/{chainId}"}},
		{rest.Use{Interface: "data", Template: "/v1/networks/{network}", Path: "/v1/networks/" + long}, kind{Path: "/v1/networks/{network}", Network: long[:255]}},
		{rest.Use{Interface: "node", Path: "/ext/bc/C/rpc", Operation: "eth_call"}, kind{Path: "/ext/bc/C/rpc", Method: "eth_call", ChainID: "43114", Network: "mainnet"}},
		{rest.Use{Interface: "node", Path: "/mainnet/ext/bc/C/ws"}, kind{Path: "/ext/bc/C/ws", ChainID: "43114", Network: "mainnet"}},
		{rest.Use{Interface: "node", Path: "/v1/ext/bc/C/avax"}, kind{Path: "/ext/bc/C/avax", ChainID: "43114", Network: "mainnet"}},
		{rest.Use{Interface: "node", Path: "/fuji/ext/bc/C/rpc"}, kind{Path: "/ext/bc/C/rpc", ChainID: "43113", Network: "fuji"}},
		{rest.Use{Interface: "node", Path: "/fuji/ext/bc/C/wallet"}, kind{Path: "/ext/bc/C/wallet", ChainID: "43113", Network: "fuji"}},
		{rest.Use{Interface: "node", Path: "/ext/bc/C/anything"}, kind{Path: "/ext/bc/C", ChainID: "43114", Network: "mainnet"}},
		{rest.Use{Interface: "node", Path: "/ext/bc/P/validators"}, kind{Path: "/ext/bc/P/validators", Network: "mainnet"}},
		{rest.Use{Interface: "node", Path: "/fuji/ext/bc/X"}, kind{Path: "/ext/bc/X", Network: "fuji"}},
		{rest.Use{Interface: "node", Path: "/ext/bc/" + id.String() + "/proposervm"}, kind{Path: "/ext/bc/43114/proposervm", ChainID: "43114", Network: "mainnet"}},
		{rest.Use{Interface: "node", Path: fmt.Sprintf("/ext/bc/%d/rpc", l1.EVMID)},
			kind{Path: fmt.Sprintf("/ext/bc/%d/rpc", l1.EVMID), ChainID: fmt.Sprint(l1.EVMID), Network: l1.Network}},
		{rest.Use{Interface: "node", Path: "/ext/bc/nothing/rpc", Status: 404}, kind{Path: "/ext", Network: "mainnet", Status: 404}},
		{rest.Use{Interface: "node", Path: "/ext/info", Status: 200}, kind{Path: "/ext/info", Network: "mainnet", Status: 200}},
		{rest.Use{Interface: "node", Path: "/ext/info", Status: 400}, kind{Path: "/ext", Network: "mainnet", Status: 400}},
		{rest.Use{Interface: "node", Path: "/ext/" + long[:59], Status: 399}, kind{Path: "/ext/" + long[:59], Network: "mainnet", Status: 399}},
		{rest.Use{Interface: "node", Path: "/ext/" + long[:60], Status: 200}, kind{Path: "/ext", Network: "mainnet", Status: 200}},
		{rest.Use{Interface: "node", Path: "/ext/info", Operation: long}, kind{Path: "/ext/info", Network: "mainnet", Method: long[:255]}},
	} {
		want := c.want
		want.RequestType, want.Country, want.Continent = "data", "XX", "XX"
		if c.use.Interface == "node" {
			want.RequestType = "rpc"
		}
		if have := r.kindOf(&c.use); have != want {
			t.Errorf("%s: %+v, want %+v", c.use.Path, have, want)
		}
	}
	for client, ip := range map[string]string{"127.0.0.1:80": "127.0.0.1", "[::1]:80": "::1", "pipe": "pipe"} {
		have := r.kindOf(&rest.Use{Interface: "data", Template: "/", Client: client, Host: long, UserAgent: "viem/2.21.0 (" + long})
		if want := (LogMetadata{ip, long[:255], ("viem/2.21.0 (" + long)[:256]}); have.UserAgent != "viem/2.21.0" || have.caller != want {
			t.Errorf("%s: %s %+v, want %+v", client, have.UserAgent, have.caller, want)
		}
	}
}

// TestIntervals: minutes to months begin where the calendar begins them, a week on Monday.
func TestIntervals(t *testing.T) {
	at := func(text string) int64 {
		u, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return u.Unix()
	}
	for _, c := range []struct {
		interval, at, begin, end string
	}{
		{"minute", "2026-03-01 10:59:59", "2026-03-01 10:59:00", "2026-03-01 11:00:00"},
		{"hourly", "2026-03-01 10:59:59", "2026-03-01 10:00:00", "2026-03-01 11:00:00"},
		{"daily", "2026-03-01 23:59:59", "2026-03-01 00:00:00", "2026-03-02 00:00:00"},
		{"weekly", "2026-03-01 23:59:59", "2026-02-23 00:00:00", "2026-03-02 00:00:00"},
		{"weekly", "2026-03-02 00:00:00", "2026-03-02 00:00:00", "2026-03-09 00:00:00"},
		{"monthly", "2026-02-28 23:59:59", "2026-02-01 00:00:00", "2026-03-01 00:00:00"},
		{"monthly", "2026-12-01 00:00:00", "2026-12-01 00:00:00", "2027-01-01 00:00:00"},
	} {
		if begin, seconds := span(c.interval, at(c.at)); begin != at(c.begin) || begin+seconds != at(c.end) {
			t.Errorf("%s at %s: %s for %d s, want %s to %s", c.interval, c.at, time.Unix(begin, 0).UTC(), seconds, c.begin, c.end)
		}
	}
}

// TestDays: a range covers whole days; it ends today and is a week long unless the client says otherwise. Made-up requests fill it up to the end of
// the history, from a month before.
func TestDays(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	r, now, end := newReported(t, w), w.Clock.Unix(), w.Meta.Until
	for query, want := range map[string][]int64{
		"": {now/day - 6, now / day},
		fmt.Sprintf("endTimestamp=%d", end-10*day):                                    {end/day - 16, end/day - 10},
		fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", end-10*day+5, end-9*day-5):   {(end - 10*day + 5) / day, (end - 9*day - 5) / day},
		fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", end-10*day, end-10*day):      {end/day - 10, end/day - 10},
		fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", end-100*day, end-29*day):     {end/day - 30, end/day - 29},
		fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", end-3*day, end+400*day):      {end/day - 3, end / day},
		fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", end-100*day, end-31*day-day): nil,
	} {
		metrics := get[apiUsage](r, "/v1/apiUsageMetrics?"+query).Metrics
		if len(want) == 0 {
			if len(metrics) > 0 {
				t.Errorf("%s: %d days, want none", query, len(metrics))
			}
			continue
		}
		last := min(want[1], (end/3600*3600-1)/day) // with made-up requests
		if len(metrics) != int(last-want[0]+1) || metrics[0].Timestamp != last*day || metrics[len(metrics)-1].Timestamp != want[0]*day {
			t.Errorf("%s: %d days from %v, want %d to %d", query, len(metrics), metrics, want[0], last)
		}
	}
}

// TestThePast: the made-up requests are the same each time, more by day than by night, and the log, read page by page, lists what the figures count,
// newest first.
func TestThePast(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	r, again := newReported(t, w), newReported(t, w)
	from := w.Meta.Until/day*day - 3*day
	past := fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", from, from)
	hours := get[apiUsage](r, "/v1/apiUsageMetrics?timeInterval=hourly&"+past)
	if other := get[apiUsage](again, "/v1/apiUsageMetrics?timeInterval=hourly&"+past); !reflect.DeepEqual(hours, other) {
		t.Errorf("the past is %+v and %+v", hours, other)
	}
	total := int64(0)
	for i, m := range hours.Metrics {
		hour := 23 - i
		want := int64(60 - 4*max(hour-12, 12-hour))
		if v := m.Values[0]; m.Timestamp != from+int64(hour)*3600 || v.TotalRequests != want || v.SuccessRatePercent < 75 || v.MedianResponseTimeMsecs < 4 || v.MedianResponseTimeMsecs > 32 {
			t.Errorf("at %d: %+v, want %d requests", hour, m, want)
		}
		total += m.Values[0].TotalRequests
	}
	var logged []LogEntry
	for token := ""; ; {
		page := get[logList](r, "/v1/apiLogs?pageSize=17&pageToken="+token+"&"+past)
		logged = append(logged, page.Logs...)
		if token = page.NextPageToken; token == "" {
			break
		}
		if len(page.Logs) != 17 {
			t.Fatalf("a page has %d requests", len(page.Logs))
		}
	}
	seen := map[string]bool{}
	failed, chains := 0, map[string]bool{}
	for i, l := range logged {
		if seen[l.LogID] || i > 0 && l.EventTimestamp > logged[i-1].EventTimestamp || l.EventTimestamp < from*1000 || l.EventTimestamp >= (from+day)*1000 {
			t.Errorf("request %d of the log: %+v", i, l)
		}
		if seen[l.LogID], chains[l.ChainID] = true, true; l.ResponseCode == 400 {
			failed++
		} else if l.ResponseCode != 200 {
			t.Errorf("a response code is %d", l.ResponseCode)
		}
		if l.APIKeyID == "none" || l.APIKeyAlias != l.APIKeyID || l.OrgID != "snowglobe" || l.HostRegion != "local" || l.Metadata.Host != "localhost" ||
			(l.RequestType == "rpc") != (l.RPCMethod != "") || strings.HasPrefix(l.RequestPath, "/ext/bc/C") || l.ChainID == "" && strings.HasPrefix(l.RPCMethod, "eth_") {
			t.Errorf("request %d of the log: %+v", i, l)
		}
	}
	if int64(len(logged)) != total || failed < len(logged)/40 || failed > len(logged)/10 || len(chains) != len(w.Chains)+1 {
		t.Errorf("the log has %d requests, %d of them failed, on %d chains; the figures count %d", len(logged), failed, len(chains), total)
	}
}

// TestTheLog: it lists requests with what they cost and where they came from, the filtered ones only, and nothing of another organisation.
func TestTheLog(t *testing.T) {
	r := newReported(t, seedtest.Shared(t, "tiny", 1))
	if page := get[logList](r, "/v1/apiLogs?"+r.today); page.Logs == nil || len(page.Logs) > 0 || page.NextPageToken != "" {
		t.Errorf("before any request: %+v", page)
	}
	for i := range 3 {
		r.Add(&rest.Use{Interface: "node", Path: "/ext/bc/C/rpc", Operation: "eth_call", Status: 200 + i, Took: 1500 * time.Microsecond, Client: "10.0.0.1:7", Host: "h", UserAgent: "a b"})
	}
	r.Add(&rest.Use{Interface: "data", Template: "/v1/chains/{chainId}", Path: "/v1/chains/43114", Status: 200, Key: "key-1"})
	page := get[logList](r, "/v1/apiLogs?requestType=rpc&pageSize=2&"+r.today)
	if len(page.Logs) != 2 || page.Logs[0].ResponseCode != 202 || page.Logs[1].ResponseCode != 201 || page.OrgID != "snowglobe" {
		t.Errorf("the first page: %+v", page)
	}
	want := page.Logs[0]
	want.LogID, want.EventTimestamp = "", 0
	if !reflect.DeepEqual(want, LogEntry{OrgID: "snowglobe", APIKeyID: "none", APIKeyAlias: "none", HostRegion: "local", RequestType: "rpc", RequestPath: "/ext/bc/C/rpc",
		APICreditsConsumed: 20, RequestDurationMsecs: 1.5, ResponseCode: 202, ChainID: "43114", RPCMethod: "eth_call", Metadata: LogMetadata{"10.0.0.1", "h", "a b"}}) ||
		page.Logs[0].LogID == page.Logs[1].LogID || page.Logs[0].EventTimestamp > r.world.Clock.UnixMilli() || page.Logs[0].EventTimestamp < r.world.Clock.UnixMilli()-60_000 {
		t.Errorf("the newest request: %+v", page.Logs[0])
	}
	r.Add(&rest.Use{Interface: "node", Path: "/ext/bc/C/rpc", Status: 299}) // after the first page
	if page = get[logList](r, "/v1/apiLogs?requestType=rpc&pageSize=2&pageToken="+page.NextPageToken+"&"+r.today); len(page.Logs) != 1 || page.Logs[0].ResponseCode != 200 || page.NextPageToken != "" {
		t.Errorf("the second page: %+v", page)
	}
	for query, n := range map[string]int{"orgId=other": 0, "orgId=snowglobe": 5, "apiKeyId=key-1": 1, "apiKeyId=none": 4, "responseCode=200": 2, "chainId=43113": 0,
		"requestPath=/v1/chains/{chainId}": 1, "requestType=data": 1} {
		if page := get[logList](r, "/v1/apiLogs?pageSize=100&"+query+"&"+r.today); page.Logs == nil || len(page.Logs) != n {
			t.Errorf("%s: %d requests, want %d", query, len(page.Logs), n)
		}
	}
}

// TestCredits: requests cost what the live service says (its list of weights), all others 20.
func TestCredits(t *testing.T) {
	for path, want := range map[string]int64{
		"/v1/avax/supply": 0, "/v1/health-check": 0, "/v2/live-check": 0, "/v1/chains": 0, "/v1/chains/{chainId}": 0, "/v2/chains": 0, "/v2/chains/{chainId}": 0,
		"/v1/chains/address/{address}": 0, "/v1/chains/allBlocks": 0, "/v1/apiUsageMetrics": 200, "/v1/apiLogs": 200, "/v1/subnetRpcUsageMetrics": 200,
		"/v1/rpcUsageMetrics": 200, "/v1/primaryNetworkRpcUsageMetrics": 200, "/v1/networks/{network}/blockchains/{blockchainId}/utxos": 100,
		"/v1/networks/{network}/rewards:listPending": 100, "/v1/networks/{network}/addresses:listChainIds": 100, "/v1/networks/{network}/blockchains": 20,
		"/v1/chains/{chainId}/blocks/{blockId}": 10, "/v1/operations/{operationId}": 10, "/v1/webhooks/{id}": 10, "/v2/chains/{chainId}/metrics/{metric}": 10,
		"/v2/chains/{chainId}/rollingWindowMetrics/{metric}": 10, "/v2/networks/{network}/metrics/{metric}": 10, "/v1/chains/{chainId}/transactions": 20,
	} {
		if have := credits(&kind{Path: path}); have != want {
			t.Errorf("%s costs %d, want %d", path, have, want)
		}
	}
	for method, want := range map[string]int64{"eth_call": 20, "debug_traceCall": 200, "trace_block": 200} {
		if have := credits(&kind{Path: "/ext/bc/C/rpc", Method: method}); have != want {
			t.Errorf("%s costs %d, want %d", method, have, want)
		}
	}
}

// TestTheLatestAreRemembered: beyond ten thousand requests the oldest are forgotten, one for each new one.
func TestTheLatestAreRemembered(t *testing.T) {
	r := newReported(t, seedtest.Shared(t, "tiny", 1))
	for i := range mostRequests + 3 {
		r.Add(&rest.Use{Interface: "data", Template: "/", Path: "/", Status: 200 + i%mostRequests})
	}
	if m := get[apiUsage](r, "/v1/apiUsageMetrics?"+r.today).Metrics; len(m) != 1 || m[0].Values[0].TotalRequests != 10_000 {
		t.Errorf("counted are %+v", m)
	}
	want := 200 + 2
	for l, k := range r.requests(0, 1<<40) {
		if k.Status != want || l.number < firstNumber {
			t.Fatalf("the next request has the status %d, want %d", k.Status, want)
		}
		if want--; want < 200 {
			want = 200 + mostRequests - 1
		}
		if want == 200+2 {
			break
		}
	}
}

// TestRefusals: an unknown network or grouping, a range that ends before it begins and one with more intervals than anyone plots are refused.
func TestRefusals(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	r := newReported(t, w)
	for path, text := range map[string]string{
		"/v1/primaryNetworkRpcUsageMetrics":                                                           "network",
		"/v1/apiUsageMetrics?groupBy=country":                                                         "groupBy",
		"/v1/apiUsageMetrics?startTimestamp=2&endTimestamp=1":                                         "startTimestamp",
		fmt.Sprintf("/v1/apiUsageMetrics?timeInterval=minute&startTimestamp=%d", w.Meta.Until-40*day): "choose a shorter one",
	} {
		q, rec := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
		if r.server.ServeHTTP(rec, q); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), text) {
			t.Errorf("%s: %d %.200s", path, rec.Code, rec.Body)
		}
	}
	get[apiUsage](r, fmt.Sprintf("/v1/apiUsageMetrics?timeInterval=minute&startTimestamp=%d", w.Clock.Unix()-day))
}
