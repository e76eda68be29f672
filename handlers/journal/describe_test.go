package journal_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/events"
	"snowglobe/handlers/journal"
)

// TestARequestIsDescribed has everything that the list and the page of a request show of it.
func TestARequestIsDescribed(t *testing.T) {
	j := journal.New(10, nil, events.NewHub())
	e := exchange("POST", "/w/copy/v1/chains/43114/tokens:reindex?pageSize=2&a=1&a=2", `{"address":"0x1","pageSize":9}`, `{"status":"ok"}`,
		"User-Agent", "viem/2", "Content-Type", "application/json", "Connection", "close", "X-Quote", "it's")
	e.URL.Path, e.Template = "/v1/chains/43114/tokens:reindex", "/v1/chains/{chainId}/{what}:reindex"
	e.Interface, e.Operation, e.RequestID, e.Fault = "data", "reindexTokens", "req-7", "late"
	e.Time, e.Took = time.Date(2026, 11, 1, 1, 2, 3, 4_000_000, time.FixedZone("", 3600)), 1_234_567*time.Nanosecond
	e.AnswerHeader = http.Header{"Etag": {`"x"`}}
	j.Add(e)
	d := j.Describe(e)
	want := journal.Summary{
		ID: 1, Time: "2026-11-01T00:02:03.004Z", World: "main", Client: "127.0.0.1", UserAgent: "viem/2", RequestID: "req-7", Interface: "data",
		Operation: "reindexTokens", Method: "POST", Path: "/w/copy/v1/chains/43114/tokens:reindex", Query: "pageSize=2&a=1&a=2", Status: 200,
		Duration: 1.234, Bytes: 15, Fault: "late",
		Parameters: map[string]any{"chainId": "43114", "what": "tokens", "pageSize": "2", "a": []string{"1", "2"}, "address": "0x1"},
	}
	if got, want := sprint(d.Summary), sprint(want); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if d.RequestBytes != 30 || d.RequestBody != `{"address":"0x1","pageSize":9}` || d.ResponseBody != `{"status":"ok"}` || d.ResponseHeaders["Etag"][0] != `"x"` || len(d.RequestHeaders) != 4 {
		t.Errorf("%+v", d)
	}
	if want := `curl -X POST 'http://127.0.0.1:9650/w/copy/v1/chains/43114/tokens:reindex?pageSize=2&a=1&a=2' -H 'content-type: application/json' -H 'user-agent: viem/2' ` +
		`-H 'x-quote: it'\''s' --data-raw '{"address":"0x1","pageSize":9}'`; d.Curl != want {
		t.Errorf("%s\nwant %s", d.Curl, want)
	}
}

// TestURLsOfTheRealNetwork are shown as the client has them, and those of this server are not.
func TestURLsOfTheRealNetwork(t *testing.T) {
	j := journal.New(10, nil, nil)
	for _, c := range []struct {
		scheme, target string
		webSocket      bool
		url, curl      string
	}{
		{"", "/v1/chains", false, "", "curl 'http://127.0.0.1:9650/v1/chains'"},
		{"https", "/v1/chains", false, "https://127.0.0.1:9650/v1/chains", "curl 'https://127.0.0.1:9650/v1/chains'"},
		{"https", "/v1/chains?rltoken=abcdefg&x=1", false, "https://127.0.0.1:9650/v1/chains?rltoken=[redacted]&x=1", "curl 'https://127.0.0.1:9650/v1/chains?rltoken=[redacted]&x=1'"},
		{"https", "/ext/bc/C/ws", true, "wss://127.0.0.1:9650/ext/bc/C/ws", `printf '%s\n' '{"a":1}' | websocat 'wss://127.0.0.1:9650/ext/bc/C/ws'`},
		{"", "/ext/bc/C/ws", true, "", `printf '%s\n' '{"a":1}' | websocat 'ws://127.0.0.1:9650/ext/bc/C/ws'`},
	} {
		e := exchange("GET", c.target, "", "")
		if e.Scheme, e.WebSocket = c.scheme, c.webSocket; c.webSocket {
			e.Request = journal.Keep([]byte(`{"a":1}`))
		}
		if d := j.Describe(e); d.URL != c.url || d.Curl != c.curl {
			t.Errorf("%s %s: %q, %s", c.scheme, c.target, d.URL, d.Curl)
		}
	}
	for host, want := range map[string]string{"API.Avax.network:443": "api.avax.network", "Localhost": "localhost", "[::1]:80": "::1"} {
		if got := journal.HostName(host); got != want {
			t.Errorf("%s is called %s", host, got)
		}
	}
}

// TestParametersOfARequest come from the path, from the query and from a body that is an object, in this order.
func TestParametersOfARequest(t *testing.T) {
	j := journal.New(10, nil, nil)
	for _, c := range []struct {
		template, target, body string
		want                   map[string]any
	}{
		{"/v1/chains/{chainId}", "/v1/chains/1?chainId=2", `{"chainId":3,"b":4}`, map[string]any{"chainId": "1", "b": 4.0}},
		{"/v1/chains/{chainId}/blocks", "/v1/chains/1", "", map[string]any{}}, // another path
		{"/v1/chains", "/v1/chains", "null", map[string]any{}},
		{"/v1/chains", "/v1/chains", "[1]", map[string]any{}},
		{"/v1/chains", "/v1/chains?a=%zz&b=1", "", map[string]any{"b": "1"}},
		{"/v1/webhooks", "/v1/webhooks?api_key=abc", `{"secret":"abcdefgh"}`, map[string]any{"api_key": "[redacted]", "secret": "[redacted]"}},
	} {
		e := exchange("GET", c.target, c.body, "")
		e.Template = c.template
		if got := j.Summarize(e).Parameters; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %v, want %v", c.target, c.body, got, c.want)
		}
	}
	e := exchange("GET", "/v1/chains", `{"a":1}`, "")
	e.URL = nil
	if got := j.Summarize(e).Parameters; len(got) != 1 {
		t.Errorf("without a URL: %v", got)
	}
	e.Calls = []journal.CallRecord{{}} // not a call
	if s := j.Summarize(e); len(s.Calls) != 0 || len(s.Parameters) != 1 {
		t.Errorf("%+v", s)
	}
}

// TestCallsAreShown with their parameters, what artifacts know of them, and what contracts logged.
func TestCallsAreShown(t *testing.T) {
	j := journal.New(10, nil, nil)
	j.Decode = func(method string, params []byte) string { return method + " of " + string(params) }
	e := exchange("POST", "/ext/bc/C/rpc", `[{"method":"eth_call","params":[1]}]`, "")
	calling(e, "eth_call", "[1]")
	e.Calls[0].Console, e.Calls[0].Stack = []string{"hello"}, []string{"Token.mint", "Shop.buy"}
	e.Calls = append(e.Calls, journal.CallRecord{Method: "eth_chainId"}, journal.CallRecord{Error: &journal.CallError{Code: -32600, Message: "invalid request"}})
	want := []journal.Call{
		{Method: "eth_call", Params: []any{1.0}, Decoded: "eth_call of [1]", Console: []string{"hello"}, Stack: []string{"Token.mint", "Shop.buy"}},
		{Method: "eth_chainId"}, {Error: &journal.CallError{Code: -32600, Message: "invalid request"}},
	}
	s := j.Summarize(e)
	if got := s.Calls; !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nwant %s", sprint(got), sprint(want))
	}
	if s.Parameters != nil || s.Cause != "-32600 invalid request" {
		t.Errorf("parameters %v, cause %s", s.Parameters, s.Cause)
	}
}

// TestCausesOfFailures are what the answer says, in one line.
func TestCausesOfFailures(t *testing.T) {
	j := journal.New(10, []string{"known-key"}, nil)
	for _, c := range []struct {
		status      int
		answer      string
		cause       string
		alsoInALine string // of the log
	}{
		{200, `{"message":"all is well"}`, "", ""},
		{399, `{"message":"elsewhere"}`, "", ""},
		{400, `{"message":"no such chain"}`, "no such chain", "no such chain"},
		{404, `{"message":["a is wrong","b is, too"]}`, "a is wrong; b is, too", "a is wrong; b is, too"},
		{401, `{"message":"known-key is unknown"}`, "[redacted] is unknown", "[redacted] is unknown"},
		{500, " first line\nsecond line", "first line", "first line"},
		{503, strings.Repeat("x", 300), strings.Repeat("x", 200), strings.Repeat("x", 200)},
		{413, `{"message":1}`, `{"message":1}`, `{"message":1}`},
	} {
		e := exchange("GET", "/v1/chains", "", c.answer)
		e.Status = c.status
		members, line := j.Outcome(e)
		if cause := j.Summarize(e).Cause; cause != c.cause || line != c.alsoInALine || members != nil {
			t.Errorf("%d %.50s: %q, in the log %q %q", c.status, c.answer, cause, members, line)
		}
	}
	e := exchange("POST", "/ext/bc/C/rpc", "", `{"message":"not read"}`)
	e.Calls = []journal.CallRecord{{Method: "eth_call", Error: &journal.CallError{Code: 3, Message: "execution reverted: known-key"}}}
	if members, cause := j.Outcome(e); members != nil || cause != "3 execution reverted: [redacted]" {
		t.Errorf("a call that failed: %q, %q", members, cause)
	}
	e.Calls[0].Error = nil
	if members, cause := j.Outcome(e); members != nil || cause != "" {
		t.Errorf("a call that succeeded: %q, %q", members, cause)
	}
	e.Operation = "batch"
	e.Calls = []journal.CallRecord{{Method: "eth_chainId"}, {Method: strings.Repeat("m", 400)}, {Method: "eth_call", Error: &journal.CallError{Code: 3, Message: "known-key"}},
		{Error: &journal.CallError{Code: -32600, Message: "invalid request"}}}
	if members, cause := j.Outcome(e); cause != "" || !slices.Equal(members, []string{"eth_chainId", strings.Repeat("m", 300), "eth_call: 3 [redacted]", "-32600 invalid request"}) {
		t.Errorf("a batch: %q, %q", members, cause)
	}
	for target, want := range map[string]string{"/v1": "", "/v1?a=1&rltoken=x": "a=1&rltoken=[redacted]", "/v1?": ""} {
		if got := j.Query(exchange("GET", target, "", "")); got != want {
			t.Errorf("the query of %s is logged as %q", target, got)
		}
	}
}

// TestCriteriaNameEveryDifference, and find what has none.
func TestCriteriaNameEveryDifference(t *testing.T) {
	j := journal.New(10, nil, nil)
	e := exchange("GET", "/v1/chains/43114?pageSize=2", "", "", "User-Agent", "viem/2.1")
	e.Template, e.Interface, e.Operation, e.Host = "/v1/chains/{chainId}", "data", "getChain", "Api.Avax.Network:443"
	j.Add(e)
	for _, c := range []struct {
		criteria journal.Criteria
		want     string // the difference; empty if it matches
	}{
		{journal.Criteria{}, ""},
		{journal.Criteria{Operation: "getChain", Interface: "DATA", Method: "get", World: "Main", Status: 200, Client: "127.0.0.1"}, ""},
		{journal.Criteria{Operation: "GETCHAIN"}, ""},
		{journal.Criteria{Operation: "getChains"}, `operation is "getChain", not "getChains"`},
		{journal.Criteria{Interface: "node"}, `interface is "data", not "node"`},
		{journal.Criteria{Method: "POST"}, `method is "GET", not "POST"`},
		{journal.Criteria{World: "copy"}, `world is "main", not "copy"`},
		{journal.Criteria{Path: "/v1/*/43114"}, ""},
		{journal.Criteria{Path: "/v1/*"}, `path is "/v1/chains/43114", which "/v1/*" does not match`},
		{journal.Criteria{Path: "["}, `path is "/v1/chains/43114", which "[" does not match`},
		{journal.Criteria{Host: "*.AVAX.network"}, ""},
		{journal.Criteria{Host: "localhost"}, `host is "api.avax.network", which "localhost" does not match`},
		{journal.Criteria{Host: "["}, `host is "api.avax.network", which "[" does not match`},
		{journal.Criteria{Status: 404}, "status is 200, not 404"},
		{journal.Criteria{Client: "VIEM"}, ""},
		{journal.Criteria{Client: "ethers"}, `client is 127.0.0.1 "viem/2.1", not "ethers"`},
		{journal.Criteria{Fault: new(false)}, ""},
		{journal.Criteria{Fault: new(true)}, "no fault was applied"},
		{journal.Criteria{Failed: new(false)}, ""},
		{journal.Criteria{Failed: new(true)}, "it did not fail"},
		{journal.Criteria{Parameters: map[string]string{"chainId": "43114", "pageSize": "2"}}, ""},
		{journal.Criteria{Parameters: map[string]string{"blockId": "1"}}, "parameter blockId is not there"},
		{journal.Criteria{Parameters: map[string]string{"pageSize": "3"}}, `parameter pageSize is "2", not "3"`},
	} {
		found, more := j.List(&c.criteria, 0, 10)
		near := j.NearMisses(&c.criteria)
		switch {
		case more || len(found)+len(near) != 1 || j.Count(&c.criteria) != len(found):
			t.Errorf("%+v: found %d, counted %d, nearly %d", c.criteria, len(found), j.Count(&c.criteria), len(near))
		case c.want == "" && len(found) != 1, c.want != "" && !slices.Equal(near[0].Differences, []string{c.want}):
			t.Errorf("%+v: %+v", c.criteria, near)
		}
	}
	e = exchange("GET", "/v1/chains/1", "", "")
	e.Status, e.Fault = 400, "late"
	j.Add(e)
	for want, c := range map[string]journal.Criteria{"a fault was applied": {Fault: new(false), Status: 400}, "it failed": {Failed: new(false), Status: 400}} {
		if near := j.NearMisses(&c); near[0].Request.ID != 2 || !slices.Equal(near[0].Differences, []string{want}) {
			t.Errorf("%s: %+v", want, near)
		}
	}
}

// TestListsArePaged returns the newest first, and says whether there are more.
func TestListsArePaged(t *testing.T) {
	j := journal.New(10, nil, nil)
	for i := range 8 {
		e := exchange("GET", "/v1/chains", "", "")
		e.Operation = []string{"listChains", "getChain"}[i%2]
		j.Add(e)
	}
	c := &journal.Criteria{Operation: "getChain"} // 8, 6, 4, 2
	var got []int64
	for _, page := range []struct {
		before int64
		more   bool
	}{{0, true}, {4, false}, {2, false}} {
		found, more := j.List(c, page.before, 2)
		if more != page.more {
			t.Errorf("before %d: more %t", page.before, more)
		}
		for _, s := range found {
			got = append(got, s.ID)
		}
	}
	if !slices.Equal(got, []int64{8, 6, 2}) {
		t.Error(got)
	}
	if near := j.NearMisses(&journal.Criteria{Operation: "getChains", Status: 404}); len(near) != 5 || near[0].Request.Operation != "getChain" || near[3].Request.Operation != "getChain" || near[4].Request.Operation != "listChains" {
		t.Errorf("%+v", near)
	}
}
