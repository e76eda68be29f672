package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/rest"
)

// explorer is a mounted handler shaped like Etherscan's API, which names the action of a request when it is located.
type explorer struct{}

func (explorer) ServeHTTP(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "explored") }

func (explorer) Locate(r *http.Request) (*http.Request, string, string) {
	rest.Mounted(r.Context()).Operation = "account." + r.URL.Query().Get("action")
	return r, "", ""
}

func (explorer) Endpoints() []rest.Endpoint {
	return []rest.Endpoint{{Interface: rest.Etherscan, Paths: []string{"/api"}, Operations: []string{"account.balance"}}}
}

func pageOf(t *testing.T, w *httptest.ResponseRecorder) (p numberPage) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return p
}

// TestShortPages have half of the items, and the next page continues after them.
func TestShortPages(t *testing.T) {
	f := newFaulty(t)
	f.set.Add(&fault.Rule{Action: fault.Action{ShortPage: true}})
	for query, want := range map[string]int{"": 5, "?pageSize=20": 10, "?pageSize=3&status=failed": 1, "?pageSize=1": 1} {
		r := httptest.NewRequest("GET", "/v1/numbers"+query, nil)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		p := pageOf(t, w)
		if len(p.Numbers) != want || p.NextPageToken == "" || strings.TrimPrefix(query, "?") != r.URL.RawQuery {
			t.Errorf("%s: %v, and the request is %s", query, p, r.URL)
		}
		f.set.Delete("")
		next := "?pageToken=" + p.NextPageToken
		if strings.Contains(query, "status") {
			next += "&status=failed"
		}
		if next := pageOf(t, get(t, f.Server, "/v1/numbers"+next)); len(next.Numbers) == 0 || next.Numbers[0] != want+1 {
			t.Errorf("after %v come %v", p.Numbers, next.Numbers)
		}
		f.set.Add(&fault.Rule{Action: fault.Action{ShortPage: true}})
	}
	expect(t, get(t, f.Server, "/v1/numbers?status=oops"), 400, "status")
	expect(t, get(t, f.Server, "/v1/nowhere"), 404, "")
	f.log.Reset()
	if expect(t, get(t, f.Server, "/v1/chains/43114/blocks/7?strict=true"), 200, "strict"); strings.Contains(f.log.String(), "pageSize") {
		t.Errorf("an operation without pages gets a page size: %s", &f.log)
	}
}

// TestExpiredPages: a request with a page token is refused as if the token were too old.
func TestExpiredPages(t *testing.T) {
	f := newFaulty(t)
	f.set.Add(&fault.Rule{Action: fault.Action{PageToken: "expired"}})
	expect(t, get(t, f.Server, "/v1/numbers"), 200, "[1,")
	w := get(t, f.Server, "/v1/numbers?pageToken=abc")
	if expect(t, w, 400, `"message":"pageToken \"abc\" has expired`); w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers are %v", w.Header())
	}
	expect(t, get(t, f.Server, "/v2/chains/total/metrics/txCount?pageToken=abc"), 400, `"message":["pageToken`)
	expect(t, get(t, f.Server, "/v1/nowhere?pageToken=abc"), 400, `"message":"pageToken`)
	if w := get(t, f.Server, "/ext/info?pageToken=abc"); w.Code != 400 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("of a node: %d %v", w.Code, w.Header())
	}
}

// TestFailuresOfInterfaces: a failure has the body and the headers of its interface.
func TestFailuresOfInterfaces(t *testing.T) {
	f := newFaulty(t)
	f.Mount(rest.Etherscan, "/api", explorer{})
	failed := func(a fault.Action, target string) *httptest.ResponseRecorder {
		f.set.Delete("")
		f.set.Add(&fault.Rule{Action: a})
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		return w
	}
	for _, c := range []struct {
		action  fault.Action
		target  string
		body    string
		headers string
	}{
		{fault.Action{Status: 429}, "/api", `{"status":"0","message":"NOTOK","result":"Max rate limit reached, please use API Key for higher rate limit"}`, "Retry-After: 1; Content-Type: application/json; charset=utf-8"},
		{fault.Action{Status: 429, Message: "slow \"down\""}, "/api", `{"status":"0","message":"NOTOK","result":"slow \"down\""}`, ""},
		{fault.Action{Status: 503, RetryAfter: 3}, "/api", `{"status":"0","message":"NOTOK","result":"Service Unavailable"}`, "Retry-After: 3"},
		{fault.Action{Status: 503}, "/ext/info", "Service Unavailable\n", "Retry-After: ; Access-Control-Allow-Origin: *"},
		{fault.Action{Status: 429, RetryAfter: -1}, "/v1/numbers", "", "Retry-After: ; Ratelimit-Limit: 60; Ratelimit-Remaining: 0; Ratelimit-Policy: 60;w=60"},
		{fault.Action{Status: 429}, "/v1/numbers", "", "Retry-After: 1; Ratelimit-Limit: 60"},
	} {
		w := failed(c.action, c.target)
		if w.Code != c.action.Status || c.body != "" && w.Body.String() != c.body {
			t.Errorf("%+v of %s: %d %q", c.action, c.target, w.Code, w.Body)
		}
		for pair := range strings.SplitSeq(c.headers, "; ") {
			if name, value, found := strings.Cut(pair, ": "); found && !strings.HasPrefix(w.Header().Get(name), value) || found && value == "" && w.Header().Get(name) != "" {
				t.Errorf("%+v of %s: %v: want %s", c.action, c.target, w.Header(), pair)
			}
		}
	}
	f.set.Delete("")
	f.set.Add(&fault.Rule{Match: fault.Match{Operation: "account.balance"}, Action: fault.Action{Status: 500}})
	expect(t, get(t, f.Server, "/api?action=txlist"), 200, "explored")
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest("GET", "/api?action=balance", nil))
	if w.Code != 500 {
		t.Errorf("the action that a rule names is answered with %d", w.Code)
	}
	if operations, _ := f.FaultNames(); !slices.Contains(operations, "account.balance") {
		t.Errorf("rules may name %v", operations)
	}
	limited := newServer(t, func(o *rest.Options) {
		o.RateLimit, o.Faults = 7, fault.NewSet(1, "main", time.Now, events.NewHub())
	})
	expect(t, get(t, limited, "/v1/numbers", "x-sim-fault", "429"), 429, "the limit of 7 requests per minute is used up")
}

// TestFaultsSurviveHandlers: a response to alter may be the server's own failure, and a dropped one is no response at all.
func TestFaultsSurviveHandlers(t *testing.T) {
	f := newFaulty(t)
	f.set.Add(&fault.Rule{Action: fault.Action{ContentType: "text/plain"}})
	expect(t, get(t, f.Server, "/v1/panics"), 500, "the simulator failed")
	f.set.Delete("")
	f.set.Add(&fault.Rule{Action: fault.Action{Drop: fault.Drop{When: "before"}}})
	live := httptest.NewServer(f)
	defer live.Close()
	if r, err := http.Get(live.URL + "/v1/numbers"); err == nil {
		r.Body.Close()
		t.Errorf("a dropped request is answered with %s", r.Status)
	}
	if last := f.journal.Latest(0); len(last) != 2 || !strings.Contains(last[0].Fault, "drop") {
		t.Errorf("recorded are %+v", last)
	}
}

// TestRulesReadBodies as far as the handler may, and leave it a body that fails as the client's does.
func TestRulesReadBodies(t *testing.T) {
	f := newFaulty(t)
	f.set.Add(&fault.Rule{Match: fault.Match{RPCMethod: "eth_*"}, Action: fault.Action{RPCError: &fault.RPCError{Code: -1}}})
	var failed error
	f.Mount("node", "/broken/ext", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, failed = io.ReadAll(r.Body) }))
	r := httptest.NewRequest("POST", "/broken/ext", io.MultiReader(strings.NewReader("eth_call"), iotest.ErrReader(errors.New("gone"))))
	f.ServeHTTP(httptest.NewRecorder(), r)
	if failed == nil || failed.Error() != "gone" {
		t.Errorf("the handler reads a body that fails with %v", failed)
	}
	r = httptest.NewRequest("POST", "/ext/info", io.MultiReader(strings.NewReader("eth_call"), iotest.ErrReader(errors.New("gone"))))
	if f.ServeHTTP(httptest.NewRecorder(), r); len(f.node.failing) != 0 {
		t.Error("a call in a part of a body fails")
	}
	const most = 8 << 20
	for size, want := range map[int]int{most - 1: 1, most: 0} {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest("POST", "/ext/info", strings.NewReader("eth_call\n"+strings.Repeat(" ", size-9))))
		if len(f.node.failing) != want || w.Body.Len() < size {
			t.Errorf("of %d bytes, %d calls fail, and the handler gets %d", size, len(f.node.failing), w.Body.Len())
		}
	}
	bare, err := http.NewRequest("GET", "/ext/info", nil)
	if err != nil {
		t.Fatal(err)
	}
	bare.Body = nil
	w := httptest.NewRecorder()
	f.Mount("node", "/none/ext", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") }))
	bare.URL.Path = "/none/ext"
	f.ServeHTTP(w, bare)
	expect(t, w, 200, "here")
}

// TestRulesNeedTheirParameters: only the network parameter names a network, and a server without chains matches none.
func TestRulesNeedTheirParameters(t *testing.T) {
	f := newFaulty(t)
	f.set.Add(&fault.Rule{Match: fault.Match{Network: "fuji"}, Action: fault.Action{Status: 503}})
	expect(t, get(t, f.Server, "/v1/numbers?status=fuji"), 400, "status")
	expect(t, get(t, f.Server, "/v1/chains/43114/blocks/7?network=fuji"), 503, "")
	set := fault.NewSet(1, "main", time.Now, events.NewHub())
	set.Add(&fault.Rule{Match: fault.Match{Chain: "C"}, Action: fault.Action{Status: 503}})
	s := newServer(t, func(o *rest.Options) { o.Faults = set })
	expect(t, get(t, s, "/v1/chains/43114/blocks/7"), 200, "")
}

// TestSchedulesSeePages: a schedule cuts the pages of operations that have some, and their requests know that a schedule decides.
func TestSchedulesSeePages(t *testing.T) {
	f := newFaulty(t)
	var indexed bool
	if err := f.Register(rest.Data, rest.Operation{ID: "indexed", Path: "/v1/indexed", Live: true, Produces: "text/plain", Handle: func(r *rest.Request) (any, error) {
		indexed = fault.Indexed(r.Context())
		return rest.Raw{Type: "text/plain", Body: []byte("x")}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	f.set.Add(&fault.Rule{Match: fault.Match{Operation: "nothing"}, Action: fault.Action{Status: 503}})
	if get(t, f.Server, "/v1/indexed"); !indexed {
		t.Error("without a schedule, no index lags")
	}
	f.set.Follow(fault.Repeat(nil), func() int64 { return 0 }, func(context.Context) {})
	if get(t, f.Server, "/v1/indexed"); indexed {
		t.Error("a lagging index answers although a schedule decides")
	}
	short := 0
	for number := range int64(200) {
		f := newFaulty(t)
		f.set.Follow(fault.Draw(number, nil, false), func() int64 { return 0 }, func(context.Context) {})
		for _, path := range []string{"/v1/numbers", "/v1/numbers?status=failed", "/v1/logo", "/v1/chains/43114/blocks/7"} {
			w := httptest.NewRecorder()
			func() {
				defer func() { _ = recover() }() // a dropped connection
				f.ServeHTTP(w, httptest.NewRequestWithContext(canceled(t), "GET", path, nil))
			}()
			if e := f.journal.Latest(0); len(e) > 0 && strings.Contains(e[0].Fault, "short") {
				short++
				if e[0].Operation != "listNumbers" {
					t.Errorf("%s has a short page", path)
				}
			}
		}
		if short > 0 {
			return
		}
	}
	t.Error("no schedule shortens a page")
}

// canceled is the context of a client that does not wait for delays.
func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestLaggingIndexes answer for the chains they index, and only while they lag.
func TestLaggingIndexes(t *testing.T) {
	var behind, done bool
	var asked []string
	var failed error
	stale := newServer(t, nil)
	if err := stale.Register(rest.Data, rest.Operation{ID: "old", Path: "/v1/old", Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
		return rest.Raw{Type: "text/plain", Body: []byte("old")}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	of := stale
	s := newServer(t, func(o *rest.Options) {
		o.Behind = func() bool { return behind }
		o.ChainNames = func(_, name string) (string, []string) { return "mainnet", []string{name} }
		o.Indexed = func(_ context.Context, path, network string, chains []string) (*rest.Server, func(), error) {
			asked = append(asked, fmt.Sprint(path, " ", network, " ", chains))
			return of, func() { done = true }, failed
		}
	})
	text := func(answer string) func(*rest.Request) (any, error) {
		return func(*rest.Request) (any, error) { return rest.Raw{Type: "text/plain", Body: []byte(answer)}, nil }
	}
	if err := errors.Join(s.Register(rest.Data, rest.Operation{ID: "old", Path: "/v1/old", Produces: "text/plain", Handle: text("new")},
		rest.Operation{ID: "own", Path: "/v1/own", Produces: "text/plain", Handle: text("own")},
		rest.Operation{ID: "now", Path: "/v1/now", Live: true, Produces: "text/plain", Handle: text("now")}),
		s.Register(rest.Sim, rest.Operation{ID: "sim", Path: "/sim/old", Produces: "text/plain", Handle: text("sim")})); err != nil {
		t.Fatal(err)
	}
	step := func(method, path, want string, status int, wantAsked string, wantDone bool) {
		t.Helper()
		asked, done = nil, false
		expect(t, ask(t, s, method, path, ""), status, want)
		if fmt.Sprint(asked) != "["+wantAsked+"]" || done != wantDone {
			t.Errorf("%s %s: it was asked for %v, and ended: %t", method, path, asked, done)
		}
	}
	step("GET", "/v1/old", "new", 200, "", false)
	behind = true
	step("GET", "/v1/old", "old", 200, "/v1/old  []", true)
	step("GET", "/v1/chains/43114/blocks/7?network=mainnet", "43114", 200, "/v1/chains/43114/blocks/7 mainnet [43114]", true)
	step("GET", "/v1/missing", "block 7", 404, "/v1/missing  []", true)
	step("GET", "/v1/own", "own", 200, "/v1/own  []", true)
	step("GET", "/v1/now", "now", 200, "", false)
	step("GET", "/sim/old", "sim", 200, "", false)
	step("POST", "/v1/chains/43114/tokens/"+alice+":reindex", alice, 201, "", false)
	of = nil
	step("GET", "/v1/old", "new", 200, "/v1/old  []", false)
	failed = rest.Unavailable("catching up")
	step("GET", "/v1/old", "catching up", 503, "/v1/old  []", false)
	of = stale
	step("GET", "/v1/old", "catching up", 503, "/v1/old  []", false)
}

// TestMessagesAndEventsFail by the rules for the request that opened their connection, their text and their calls.
func TestMessagesAndEventsFail(t *testing.T) {
	f := newFaulty(t)
	type outcome struct {
		plan   *fault.Plan
		action *fault.Action
		delay  time.Duration
	}
	try := func(ctx context.Context, message, method, event string) (o outcome) {
		o.plan = rest.MessageFault(ctx, []byte(message), func() []fault.Call { return []fault.Call{{Method: method}} })
		o.action, o.delay = rest.EventFault(ctx, &fault.Event{Subscription: "logs", Text: event})
		return o
	}
	var contexts []context.Context
	keep := func(_ http.ResponseWriter, r *http.Request) { contexts = append(contexts, r.Context()) }
	f.Mount("node", "/kept/ext", http.HandlerFunc(keep))
	if err := f.Register(rest.Data, rest.Operation{ID: "keep", Path: "/v1/keep", Live: true, Produces: "text/plain", Handle: func(r *rest.Request) (any, error) {
		keep(nil, r.HTTP)
		return rest.Raw{Type: "text/plain"}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/kept/ext/ws?who=0xaa", "/v1/keep"} {
		r := httptest.NewRequest("GET", target, nil)
		r.Header.Set("Upgrade", "websocket")
		f.ServeHTTP(httptest.NewRecorder(), r)
	}
	mounted, operation := contexts[0], contexts[1]
	if o := try(mounted, "0xbb", "eth_call", "0xcc"); o != (outcome{}) {
		t.Errorf("without rules: %+v", o)
	}
	f.set.Add(&fault.Rule{Match: fault.Match{RPCMethod: "eth_call", Address: "0xbb"}, Action: fault.Action{RPCError: &fault.RPCError{Code: 7}}})
	f.set.Add(&fault.Rule{Match: fault.Match{Subscription: "logs", Address: "0xcc"}, Action: fault.Action{Double: 1, Delay: &fault.Delay{Fixed: 5}}})
	for _, ctx := range []context.Context{t.Context(), operation} {
		if o := try(ctx, "0xbb", "eth_call", "0xcc"); o != (outcome{}) {
			t.Errorf("of no connection: %+v", o)
		}
	}
	o := try(mounted, "0xbb", "eth_call", "0xcc")
	if o.plan == nil || o.plan.Calls[0] == nil || o.plan.Calls[0].RPCError.Code != 7 || o.action == nil || o.action.Double != 1 || o.delay != 5 {
		t.Errorf("of a connection: %+v", o)
	}
	if o := try(mounted, "0xdd", "eth_call", "0xdd"); o != (outcome{}) {
		t.Errorf("of other texts: %+v", o)
	}
	if o := try(mounted, "0xbb", "eth_gasPrice", ""); o != (outcome{}) {
		t.Errorf("of another call: %+v", o)
	}
	f.set.Add(&fault.Rule{Match: fault.Match{Address: "0xaa", Interface: "node"}, Action: fault.Action{Status: 500}})
	if o := try(mounted, "", "", ""); o.plan == nil || o.plan.Whole == nil {
		t.Errorf("of the request that opened it: %+v", o)
	}
}
