package rest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// node is a mounted handler that reads its requests like a node: each line is a call.
type node struct{ failing map[int]*fault.Action }

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	n.failing = fault.Failing(r.Context())
	m := rest.Mounted(r.Context())
	m.KeepBody(body)
	m.Operation, m.Calls = "echo", []journal.CallRecord{{Method: "echo"}}
	fmt.Fprintf(w, "%s %t", body, m.Recorded)
}

func (*node) Locate(r *http.Request) (*http.Request, string, string) {
	if network, found := strings.CutPrefix(r.URL.Path, "/fuji"); found {
		return r, "fuji", network
	}
	return r, "", "C"
}

func (*node) Read(r *http.Request, body []byte) (*http.Request, []fault.Call) {
	var calls []fault.Call
	for line := range strings.Lines(string(body)) {
		calls = append(calls, fault.Call{Method: strings.TrimSpace(line)})
	}
	return r, calls
}

func (*node) Endpoints() []rest.Endpoint {
	return []rest.Endpoint{{Interface: "node", Methods: []string{"POST"}, Paths: []string{"/ext/bc/C/rpc"}, Operations: []string{"eth_call", "echo", "echo"}}}
}

// faulty is a server whose requests rules apply to, with everything it records.
type faulty struct {
	*rest.Server
	node    *node
	set     *fault.Set
	journal *journal.Journal
	used    []*rest.Use
	seen    []string
	log     bytes.Buffer
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	f := &faulty{node: &node{}, set: fault.NewSet(1, "main", time.Now, events.NewHub()), journal: journal.New(50, nil, nil)}
	f.Server = newServer(t, func(o *rest.Options) {
		o.Faults, o.Journal, o.World = f.set, f.journal, "side"
		o.Log, _ = rest.NewLogger(&f.log, "json", false)
		o.ChainNames = func(network, name string) (string, []string) {
			if (name == "C" || name == "43114") && network == "" {
				return "mainnet", []string{"C", "43114"}
			}
			return "", nil
		}
		o.Usage = func(u *rest.Use) { f.used = append(f.used, u) }
		o.Observe = func(operation string, status int, _ time.Duration) {
			f.seen = append(f.seen, fmt.Sprint(operation, " ", status))
		}
	})
	f.Mount("node", "/ext", f.node)
	f.Mount("node", "/fuji/ext", f.node)
	f.MountPages("/pages", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, rest.Mounted(r.Context()).Recorded) }))
	return f
}

// TestRulesApplyToRequests: each rule sees what a request concerns, and alters its answer as its interface would.
func TestRulesApplyToRequests(t *testing.T) {
	f := newFaulty(t)
	closed := fault.Action{Status: 503, RetryAfter: 4}
	for _, c := range []struct {
		rule         fault.Rule
		method, path string
		status       int
		text, header string
	}{
		{fault.Rule{Match: fault.Match{Operation: "listNumbers"}, Action: closed}, "GET", "/v1/numbers", 503, `{"message":"Service Unavailable","error":"Service Unavailable","statusCode":503}`, "Retry-After: 4"},
		{fault.Rule{Match: fault.Match{Operation: "listNumbers"}, Action: closed}, "GET", "/v1/others", 200, "numbers", ""},
		{fault.Rule{Match: fault.Match{Network: "fuji"}, Action: closed}, "GET", "/v1/networks/testnet/addresses:listChainIds?addresses=x", 503, "", ""},
		{fault.Rule{Match: fault.Match{Network: "fuji"}, Action: closed}, "GET", "/v1/networks/mainnet/addresses:listChainIds?addresses=P-avax1x", 400, "", ""},
		{fault.Rule{Match: fault.Match{Chain: "C", Network: "mainnet"}, Action: closed}, "GET", "/v1/chains/43114/blocks/7", 503, "", ""},
		{fault.Rule{Match: fault.Match{Chain: "C"}, Action: closed}, "GET", "/v1/chains/43113/blocks/7", 200, "", ""},
		{fault.Rule{Match: fault.Match{Chain: "C"}, Action: closed}, "GET", "/v1/numbers?chainIds=1,43114", 503, "", ""},
		{fault.Rule{Match: fault.Match{Chain: "C"}, Action: closed}, "GET", "/v1/numbers?status=43114", 400, "", ""},
		{fault.Rule{Match: fault.Match{Address: "0xAbCdEf0123"}, Action: closed}, "GET", "/v1/numbers?who=0xabcdef0123", 503, "", ""},
		{fault.Rule{Match: fault.Match{APIKey: "mine"}, Action: closed}, "GET", "/v1/numbers?rltoken=mine", 503, "", ""},
		{fault.Rule{Match: fault.Match{Chain: "43114", Interface: "node", Network: "mainnet"}, Action: closed}, "POST", "/ext/bc/C/rpc", 503, "Service Unavailable\n", "Retry-After: 4"},
		{fault.Rule{Match: fault.Match{Network: "fuji"}, Action: closed}, "POST", "/fuji/ext/info", 503, "", ""},
		{fault.Rule{Match: fault.Match{Network: "fuji"}, Action: closed}, "POST", "/ext/info", 200, "echo\neth_call true", ""},
		{fault.Rule{Match: fault.Match{Address: "ETH_CALL"}, Action: closed}, "POST", "/ext/info", 503, "", ""},
		{fault.Rule{Match: fault.Match{Interface: "metrics"}, Action: closed}, "GET", "/v2/chains/total/metrics/txCount", 503, "", ""},
		{fault.Rule{Action: closed}, "GET", "/v1/nowhere", 503, "", ""},
		{fault.Rule{Action: closed}, "GET", "/sim/nowhere", 404, "", ""},
		{fault.Rule{Action: closed}, "POST", "/sim/clock", 200, "", ""},
		{fault.Rule{Action: closed}, "GET", "/pages/x", 200, "", ""},
		{fault.Rule{Action: closed}, "OPTIONS", "/v1/nowhere", 404, "", ""},
		{fault.Rule{Action: fault.Action{Status: 502}}, "GET", "/v1/numbers", 502, fault.GatewayBody, "Content-Type: text/html"},
		{fault.Rule{Action: fault.Action{Status: 502, Message: "away"}}, "GET", "/v1/numbers", 502, `"message":"away"`, "Content-Type: application/json"},
		{fault.Rule{Action: fault.Action{Status: 401}}, "GET", "/v1/numbers", 401, "the API key is not known", ""},
		{fault.Rule{Action: fault.Action{Status: 403}}, "GET", "/v1/numbers", 403, "the API key is not for this", ""},
		{fault.Rule{Action: fault.Action{Status: 404}}, "GET", "/v1/numbers?a", 404, `"Cannot GET /v1/numbers"`, ""},
		{fault.Rule{Action: fault.Action{Status: 404}}, "GET", "/ext/info", 404, "Not Found\n", ""},
		{fault.Rule{Action: fault.Action{Status: 500}}, "GET", "/v1/numbers", 500, `"Internal server error"`, ""},
		{fault.Rule{Action: fault.Action{Status: 429}}, "GET", "/v1/numbers", 429, "the limit of 60 requests per minute is used up: try again in 1 seconds", "Ratelimit-Reset: 1"},
		{fault.Rule{Action: fault.Action{Status: 429, RetryAfter: 9}}, "GET", "/v1/numbers", 429, "in 9 seconds", "Ratelimit-Policy: 60;w=60"},
		{fault.Rule{Action: fault.Action{EmptyPage: true}}, "GET", "/v1/numbers", 200, `"numbers":[]`, ""},
		{fault.Rule{Action: fault.Action{ContentType: "text/html"}}, "GET", "/ext/info", 200, "echo\neth_call true", "Content-Type: text/html"},
		{fault.Rule{Action: fault.Action{Delay: &fault.Delay{Fixed: 1}}}, "GET", "/v1/numbers", 200, "numbers", ""},
	} {
		rule := f.set.Add(&c.rule)
		r := httptest.NewRequest(c.method, c.path, strings.NewReader("echo\neth_call"))
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		name, value, _ := strings.Cut(c.header, ": ")
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.text) || !strings.HasPrefix(w.Header().Get(name), value) {
			t.Errorf("%+v: %s %s answers %d %s %v", c.rule.Match, c.method, c.path, w.Code, w.Body, w.Header())
		}
		applied := f.set.List()[0].Applied > 0
		e := f.journal.Latest(0)
		if recorded := len(e) > 0; recorded != !strings.HasPrefix(c.path, "/pages") || recorded && (e[0].Fault != "") != applied || recorded && strings.Contains(e[0].Fault, "rule "+rule.ID) != applied {
			t.Errorf("%s %s is recorded as %+v", c.method, c.path, e)
		}
		if c.rule.Action.EmptyPage && !bytes.Equal(e[0].Answer.Kept, w.Body.Bytes()) {
			t.Errorf("the altered answer is recorded as %s", e[0].Answer.Kept)
		}
		f.journal.Clear()
		f.set.Delete("")
	}
}

// TestCallsThatFail reach the mounted handler by position.
func TestCallsThatFail(t *testing.T) {
	f := newFaulty(t)
	f.set.Add(&fault.Rule{Match: fault.Match{RPCMethod: "eth_*"}, Action: fault.Action{RPCError: &fault.RPCError{Code: -1}}})
	expect(t, ask(t, f.Server, "POST", "/ext/bc/C/rpc", "echo\neth_call"), 200, "echo\neth_call")
	if len(f.node.failing) != 1 || f.node.failing[1] == nil {
		t.Errorf("failing are %v", f.node.failing)
	}
	f.set.Delete("")
	expect(t, ask(t, f.Server, "POST", "/ext/bc/C/rpc", "echo", "x-sim-fault", "rpc-error=7"), 200, "echo")
	if len(f.node.failing) != 1 || f.node.failing[0].RPCError.Code != 7 {
		t.Errorf("failing are %v", f.node.failing)
	}
	expect(t, ask(t, f.Server, "POST", "/ext/bc/C/rpc", "echo", "x-sim-fault", "oops"), 400, `fault \"oops\" is not known`)
	expect(t, get(t, f.Server, "/v1/numbers", "x-sim-fault", "503"), 503, "")
	expect(t, get(t, f.Server, "/v1/numbers"), 200, "")
}

// TestNamesForRules are the server's; a rule with a path that no operation has is reported.
func TestNamesForRules(t *testing.T) {
	f := newFaulty(t)
	operations, methods := f.FaultNames()
	if !slices.Contains(operations, "listNumbers") || !slices.Contains(operations, "metric") || slices.Contains(operations, "setClock") || fmt.Sprint(methods) != "[echo eth_call]" {
		t.Errorf("the names are %v and %v", operations, methods)
	}
	if all := f.OperationNames(); !slices.IsSorted(all) || !slices.Contains(all, "setClock") || len(slices.Compact(slices.Clone(all))) != len(all) || !slices.Contains(all, "eth_call") {
		t.Errorf("all names are %v", all)
	}
	for path, want := range map[string]string{
		"/v1/numbers": "", "/v1/number": `no operation has the path "/v1/number": did you mean GET /v1/numbers?`, "/v1/chains/*/blocks/nothing": "", "/v1/ext/anything": "", "/elsewhere": "",
		"/v1/chains/43114/blocks/7": "", "/v2/unlike/everything/else": `no operation has the path "/v2/unlike/everything/else"`,
	} {
		if got := f.WrongPath(path); got != want {
			t.Errorf("%s: %s: want %s", path, got, want)
		}
	}
	pages := slices.IndexFunc(f.Endpoints(), func(e rest.Endpoint) bool { return slices.Contains(e.Paths, "/docs") })
	if all := f.Endpoints(); pages < 0 || len(all) != pages+2 || all[pages+1].Interface != "node" || all[0].Interface != "data" || !slices.IsSortedFunc(all[:pages], func(a, b rest.Endpoint) int {
		return strings.Compare(a.Interface+a.Paths[0], b.Interface+b.Paths[0])
	}) {
		t.Errorf("the endpoints are %v", all)
	}
}

// TestRequestsAreCounted by operation, for usage figures and for the journal.
func TestRequestsAreCounted(t *testing.T) {
	f := newFaulty(t)
	for _, target := range []string{"/v1/numbers?rltoken=mine", "/v2/chains/total/metrics/txCount", "/v1/missing", "/sim/clock", "/ext/info", "/pages/x"} {
		r := httptest.NewRequest(map[bool]string{true: "POST", false: "GET"}[target == "/sim/clock"], target, strings.NewReader("text"))
		if target == "/v1/missing" {
			r.Header.Set("x-service-api-key", "mine")
		}
		r.Header.Set("User-Agent", "test")
		f.ServeHTTP(httptest.NewRecorder(), r)
	}
	var used []string
	for _, u := range f.used {
		used = append(used, fmt.Sprint(u.Interface, " ", u.Operation, " ", u.Template, " ", u.Path, " ", u.Status, " ", u.Bypass))
		if sum := sha256.Sum256([]byte("mine")); (u.Interface == "data") != (u.Key == fmt.Sprintf("key-%x", sum[:6])) || u.Client != "192.0.2.1:1234" || u.Host != "example.com" || u.UserAgent != "test" || u.Took < 0 || u.Took > time.Minute {
			t.Errorf("%+v", u)
		}
	}
	want := []string{"data listNumbers /v1/numbers /v1/numbers 200 true", "metrics metric /v2/chains/{chainId}/metrics/{metric} /v2/chains/total/metrics/txCount 200 false",
		"data missing /v1/missing /v1/missing 404 false", "node echo  /ext/info 200 false"}
	if !slices.Equal(used, want) {
		t.Errorf("used are %q", used)
	}
	if want := []string{"listNumbers 200", "metric 200", "missing 404", "setClock 200", "echo 200", "pages 200"}; !slices.Equal(f.seen, want) {
		t.Errorf("seen are %q", f.seen)
	}
	last := f.journal.Latest(0)
	if len(last) != 5 || last[0].Operation != "echo" || last[0].World != "side" || len(last[0].Calls) != 1 || last[1].Interface != "sim" || last[4].Template != "/v1/numbers" {
		t.Fatalf("recorded are %+v", last)
	}
	if d := f.journal.Describe(&last[0]); !strings.Contains(fmt.Sprintf("%+v", d), "text true") {
		t.Errorf("the exchange is %+v", d)
	}
	for _, c := range []struct {
		headers  [2]string
		recorded bool
	}{{[2]string{"image", "same-origin"}, false}, {[2]string{"image", "cross-site"}, true}, {[2]string{"empty", "same-origin"}, true}} {
		f.journal.Clear()
		get(t, f.Server, "/v1/logo", "Sec-Fetch-Dest", c.headers[0], "Sec-Fetch-Site", c.headers[1])
		if recorded := len(f.journal.Latest(0)) > 0; recorded != c.recorded {
			t.Errorf("%v is recorded: %t", c.headers, recorded)
		}
	}
	f.used, f.seen = nil, nil
	f.Mount("silent", "/silent", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if get(t, f.Server, "/silent"); fmt.Sprint(f.seen) != "[silent 200]" {
		t.Errorf("an answer without a body is seen as %q", f.seen)
	}
	f.used, f.seen = nil, nil
	f.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(rest.Inside(t.Context()), "GET", "/v1/numbers", nil))
	if len(f.used)+len(f.seen) != 0 {
		t.Error("a request of the server's own is counted")
	}
}

// TestFilesAndStreams are sent as ranges, compressed or piece by piece.
func TestFilesAndStreams(t *testing.T) {
	s := newServer(t, nil)
	text, proceed := strings.Repeat("0123456789", 500), make(chan bool, 2)
	err := s.Register(rest.Data, rest.Operation{ID: "file", Path: "/v1/file", Produces: "text/csv", Handle: func(*rest.Request) (any, error) {
		return rest.File{Type: "text/csv", Name: "a.csv", Tag: "one", Content: strings.NewReader(text)}, nil
	}}, rest.Operation{ID: "stream", Path: "/v1/stream", Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
		return rest.Stream{Type: "text/plain", Send: func(_ context.Context, write func([]byte) error) error {
			<-proceed
			err := write([]byte("one "))
			<-proceed
			return errors.Join(err, write([]byte("two")))
		}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	whole := get(t, s, "/v1/file")
	tag := whole.Header().Get("Etag")
	if whole.Code != 200 || whole.Body.String() != text || tag == "" || whole.Header().Get("Content-Disposition") != `attachment; filename="a.csv"` {
		t.Errorf("the file is %d %v", whole.Code, whole.Header())
	}
	zipped := get(t, s, "/v1/file", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(z); err != nil || string(plain) != text || zipped.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("compressed it is %d bytes, %v", len(plain), err)
	}
	for _, c := range []struct {
		name, value string
		status      int
		text        string
	}{
		{"Range", "bytes=5-9", 206, "56789"}, {"Range", "BYTES=5-9", 206, "56789"}, {"Range", "lines=5-9", 200, text}, {"Range", "bytes=9000-", 416, `"the range bytes=9000- is not in the file"`},
		{"If-None-Match", tag, 304, ""}, {"If-Match", `"other"`, 412, "the file does not match If-Match"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/v1/file", nil)
		r.Header.Set(c.name, c.value)
		if c.name == "Range" {
			r.Header.Set("Accept-Encoding", "gzip")
		}
		if s.ServeHTTP(w, r); c.text != text && (w.Code != c.status || !strings.Contains(w.Body.String(), c.text) || c.status == 206 && w.Body.String() != c.text || c.status > 400 && w.Header().Get("Content-Disposition") != "") {
			t.Errorf("%s: %s: %d %.100s %v", c.name, c.value, w.Code, w.Body, w.Header())
		}
	}
	proceed <- true
	proceed <- true
	if w := get(t, s, "/v1/stream"); w.Body.String() != "one two" || !w.Flushed || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the stream is %s %v", w.Body, w.Header())
	}
	if w := ask(t, s, "HEAD", "/v1/stream", ""); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("HEAD has %s", w.Body)
	}
	live := httptest.NewServer(s)
	defer live.Close()
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Get(live.URL + "/v1/stream") // it begins before its first piece
	if err != nil {
		close(proceed)
		t.Fatal(err)
	}
	defer answer.Body.Close()
	proceed <- true
	defer close(proceed)
	first := make([]byte, 4)
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "one " {
		t.Errorf("the stream begins with %q, %v", first, err)
	}
}

// TestWhereAClientReachesTheServer follows RFC 7239 and the older headers, if a proxy nearby sets them.
func TestWhereAClientReachesTheServer(t *testing.T) {
	for _, c := range []struct {
		remote    string
		headers   []string
		root      string
		forwarded bool
	}{
		{"127.0.0.1:1", nil, "http://a.example", false},
		{"127.0.0.1:1", []string{"X-Forwarded-Host", "b.example:8443", "X-Forwarded-Proto", "https"}, "https://b.example:8443", true},
		{"10.0.0.1:1", []string{"X-Forwarded-Prefix", "/globe/"}, "http://a.example/globe", true},
		{"127.0.0.1:1", []string{"X-Forwarded-Proto", "https"}, "https://a.example", false},
		{"203.0.113.9:1", []string{"X-Forwarded-Host", "b.example", "X-Forwarded-Prefix", "/globe"}, "http://a.example", false},
		{"127.0.0.1", []string{"Forwarded", `for=1; HOST="b.example" ;proto=https, host=c.example`}, "https://b.example", true},
		{"127.0.0.1:1", []string{"X-Forwarded-Host", "b.example/evil", "X-Forwarded-Proto", "ftp", "X-Forwarded-Prefix", "/../x y"}, "http://a.example", false},
		{"127.0.0.1:1", []string{"X-Forwarded-Host", " b.example , c.example"}, "http://b.example", true},
	} {
		r := httptest.NewRequest("GET", "http://a.example/w/x/a%2Fb/c", nil)
		r.RemoteAddr = c.remote
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Set(c.headers[i], c.headers[i+1])
		}
		below := rest.Below(r, "/w/x")
		if rest.RootURL(below) != c.root || rest.BaseURL(below) != c.root+"/w/x" || rest.Forwarded(r) != c.forwarded || !strings.HasSuffix(rest.BasePath(below), "/w/x") || rest.MountPath(below) != "/w/x" {
			t.Errorf("%v: %s, %s, %t", c, rest.RootURL(below), rest.BaseURL(below), rest.Forwarded(r))
		}
		if below.URL.Path != "/a/b/c" || below.URL.RawPath != "/a%2Fb/c" || r.URL.Path != "/w/x/a/b/c" {
			t.Errorf("below it asks for %s, %s", below.URL.Path, below.URL.RawPath)
		}
	}
}

// TestAccounts: a client is known by its key; keys that are not in the file count for nothing.
func TestAccounts(t *testing.T) {
	keys, err := rest.ReadKeys([]byte("- key: ours\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []*rest.Keys{nil, keys} {
		s := newServer(t, func(o *rest.Options) { o.Keys = known })
		var got [sha256.Size]byte
		err := s.Register(rest.Data, rest.Operation{ID: "account", Path: "/v1/account", Produces: "text/plain", Handle: func(r *rest.Request) (any, error) {
			got = r.Account()
			return rest.Raw{Type: "text/plain"}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, get(t, s, "/v1/chains/43114/blocks/7?network=mainnet", "x-service-api-key", "ours"), 200, "")
		for key, want := range map[string]string{"ours": "ours", "theirs": map[bool]string{true: "theirs", false: ""}[known == nil], "": ""} {
			if get(t, s, "/v1/account", "x-glacier-api-key", key); got != sha256.Sum256([]byte(want)) {
				t.Errorf("%q is not the account of %q", key, want)
			}
		}
	}
}

// TestRefusals outside any operation have the headers and the body of an error.
func TestRefusals(t *testing.T) {
	w := httptest.NewRecorder()
	rest.Refuse(w, rest.Starting("not yet", 7), nil)
	expect(t, w, 503, `{"message":"not yet","error":"Service Unavailable","statusCode":503}`)
	h := w.Header()
	if h.Get("Retry-After") != "7" || h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "application/json; charset=utf-8" || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers are %v", h)
	}
	w = httptest.NewRecorder()
	rest.Refuse(w, rest.NotFound("x"), map[string]int{"id": 7})
	expect(t, w, 404, `{"id":7}`)
	w = httptest.NewRecorder()
	rest.RefuseLarge(w, errors.New("too many"))
	if expect(t, w, 503, "too many; try again\n"); w.Header().Get("Retry-After") != "1" {
		t.Errorf("headers are %v", w.Header())
	}
	list, problems := rest.ReadList[schema.ChainID](rest.Param{Name: "chains", Kind: schema.KindChain, MaxItems: 2}, "43114,43113")
	if len(list) != 2 || len(problems) != 0 {
		t.Errorf("%v %v", list, problems)
	}
	for _, text := range []string{"43114,oops", "1,2,3"} {
		if list, problems := rest.ReadList[schema.ChainID](rest.Param{Name: "chains", Kind: schema.KindChain, MaxItems: 2}, text); list != nil || len(problems) != 1 {
			t.Errorf("%s: %v %v", text, list, problems)
		}
	}
	if _, problems := rest.ReadList[schema.ChainID](rest.Param{Name: "chains", Kind: schema.KindChain}, "1"); len(problems) != 1 || !strings.Contains(problems[0], "without a bound") {
		t.Errorf("a list without a bound: %v", problems)
	}
}

// TestDocumentShowsDescriptions: the document has what an operation says of itself, and the types that it sends.
func TestDocumentShowsDescriptions(t *testing.T) {
	s := newServer(t, nil)
	if err := s.Register(rest.Data, rest.Operation{ID: "told", Path: "/v1/told", Spec: "section 9", Doc: "Tells.", Answer: reflect.TypeFor[echo](),
		Handle: func(*rest.Request) (any, error) { return echo{[]string{}}, nil }}); err != nil {
		t.Fatal(err)
	}
	doc := get(t, s, "/openapi.json").Body.String()
	for _, want := range []string{`"description":"Specification: section 9.\n\nTells."`, `"image/svg+xml"`, `"text/plain"`} {
		if !strings.Contains(doc, want) {
			t.Errorf("the document lacks %s", want)
		}
	}
	if strings.Contains(doc, "octet-stream") != strings.Contains(doc, `"operationId":"missing"`) {
		t.Error("what an operation without a type produces")
	}
}

// TestSmallAnswersAreNotCompressed, and each answer has a tag of its own.
func TestSmallAnswersAreNotCompressed(t *testing.T) {
	s := newServer(t, nil)
	size := 0
	if err := s.Register(rest.Data, rest.Operation{ID: "sized", Path: "/v1/sized", Live: true, Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
		return rest.Raw{Type: "text/plain", Body: make([]byte, size)}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	tags := map[string]bool{}
	for _, c := range []struct {
		size   int
		zipped string
	}{{1023, ""}, {1024, "gzip"}, {1025, "gzip"}} {
		size = c.size
		h := get(t, s, "/v1/sized", "Accept-Encoding", "gzip").Header()
		if tags[get(t, s, "/v1/sized").Header().Get("Etag")] = true; h.Get("Content-Encoding") != c.zipped {
			t.Errorf("%d bytes have %v", c.size, h)
		}
	}
	if len(tags) != 3 || tags[""] {
		t.Errorf("the tags are %v", tags)
	}
}

// TestBodiesWithManyValues are refused before they are read.
func TestBodiesWithManyValues(t *testing.T) {
	s := newServer(t, nil)
	for commas, want := range map[int]string{20_000: "the body is not JSON", 20_001: "the body has more than 20000 values"} {
		expect(t, ask(t, s, "POST", "/v1/operations/transactions:export", strings.Repeat(",", commas), "Content-Type", "application/json"), 400, want)
	}
}

// TestSlashesInSegments do not divide a path if they are escaped.
func TestSlashesInSegments(t *testing.T) {
	s := newServer(t, nil)
	expect(t, get(t, s, "/v1/chains/43114/tokens/0xab%2Fcd"), 400, "address")
	expect(t, get(t, s, "/v1/chains/43114/tokens/0xab/cd"), 404, "Cannot GET")
	expect(t, get(t, s, "/v1/chains%2F43114/tokens/0x152b9d0FdC40C096757F570A51E494bd4b943E50"), 404, "Cannot GET")
}
