package rest_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

// answering returns an operation that answers with a text.
func answering(id, method, path string, params ...rest.Param) rest.Operation {
	return rest.Operation{ID: id, Method: method, Path: path, Params: params, Live: true, Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
		return rest.Raw{Type: "text/plain", Body: []byte(id)}, nil
	}}
}

func text(name string) rest.Param { return rest.Param{Name: name, Kind: schema.KindText} }

// newBare serves some operations of the Data API.
func newBare(t *testing.T, change func(*rest.Options), ops ...rest.Operation) *rest.Server {
	t.Helper()
	o := rest.Options{Clock: sim.NewClock(noon), WorldKey: worldKey('k')}
	if change != nil {
		change(&o)
	}
	s, err := rest.New(o)
	if err == nil {
		err = s.Register(rest.Data, ops...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSuggestions have the fewest changes: segments first, then letters, then the method.
func TestSuggestions(t *testing.T) {
	s := newBare(t, nil, answering("cats", "", "/v1/cats"), answering("cars", "", "/v1/cars"), answering("long", "", "/v1/world/numbers"), answering("putLong", "PUT", "/v1/world/numbers"),
		answering("twice", "", "/v1/same/numbers"), answering("post", "POST", "/v1/lights"), answering("put", "PUT", "/v1/nights"),
		answering("bats", "", "/v1/many/bats"), answering("hats", "", "/v1/many/hats"), answering("mats", "", "/v1/many/mats"), answering("rats", "", "/v1/more/rats"),
		answering("value", "", "/v1/value/{text}", text("text")), answering("short", "", "/v1/numbers"))
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/v1/caps", "GET /v1/cars or GET /v1/cats"},
		{"GET", "/v1/worl/number", "GET /v1/world/numbers"}, // two letters of two segments, rather than one segment less
		{"GET", "/v1/numbers/world", "GET /v1/numbers"},
		{"GET", "/v1/same/same/numbers", "GET /v1/same/numbers"},
		{"PUT", "/v1/rights", "PUT /v1/nights"},
		{"POST", "/v1/rights", "POST /v1/lights"},
		{"GET", "/v1/many/cats", "GET /v1/many/bats or GET /v1/many/hats or GET /v1/many/mats"},
		{"PUT", "/v1/world/number", "PUT /v1/world/numbers"},
		{"DELETE", "/v1/world/number", "GET /v1/world/numbers"},
		{"GET", "/v1/valu/" + strings.Repeat("a", 200), "GET /v1/value/" + strings.Repeat("a", 200)},
		{"GET", "/v1/valu/" + strings.Repeat("a", 300), ""}, // fits no text
		{"GET", "/v2/elephants", ""},
	} {
		_, got, _ := strings.Cut(ask(t, s, c.method, c.path, "").Body.String(), "did you mean ")
		if got, _, _ = strings.Cut(got, "?"); got != c.want {
			t.Errorf("%s %s: suggested is %q: want %q", c.method, c.path, got, c.want)
		}
	}
	s = newBare(t, nil, answering("bats", "", "/v1/bats"), answering("hats", "", "/v1/hats"), answering("mats", "", "/v1/mats"), answering("rats", "", "/v1/rats"))
	if w := get(t, s, "/v1/cats"); strings.Contains(w.Body.String(), "did you mean") {
		t.Errorf("four are suggested: %s", w.Body)
	}
	spec := newServer(t, func(o *rest.Options) { o.Dialect = rest.DialectMode(schema.Spec) })
	expect(t, get(t, spec, "/upstream/v1/number"), 404, "Cannot GET /upstream/v1/number: did you mean GET /upstream/v1/numbers?")
}

// TestLiteralPathsComeFirst, in whatever order they are declared, then variables with a literal after them.
func TestLiteralPathsComeFirst(t *testing.T) {
	s := newBare(t, nil, answering("bare", "", "/v1/things/{id}", text("id")), answering("action", "", "/v1/things/{id}:do", text("id")),
		answering("latest", "", "/v1/things/latest"), answering("all", "", "/v1/things"), answering("putAll", "PUT", "/v1/things"), answering("root", "", "/"))
	for path, want := range map[string]string{"/v1/things/7": "bare", "/v1/things/7:do": "action", "/v1/things/latest": "latest", "/v1/things/": "all", "//v1///things//": "all", "/": "root", "//": "root"} {
		if w := get(t, s, path); w.Body.String() != want {
			t.Errorf("%s is answered by %s", path, w.Body)
		}
	}
	for _, path := range []string{"/v1/things/7:undo", "/v1/things/:do", "/v1/things/a:b:do", "/upstreamv1/things", "/v1/things/7%2F8/9"} {
		if w := get(t, s, path); w.Code != 404 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := get(t, s, "/upstream"); w.Body.String() != "root" {
		t.Errorf("the root of the dialect: %d %s", w.Code, w.Body)
	}
	var order []string
	for _, o := range s.Outlines() {
		order = append(order, o.ID)
	}
	if want := "[root all putAll latest action bare]"; fmt.Sprint(order) != want {
		t.Errorf("the order is %v: want %s", order, want)
	}
	var got string
	s = newBare(t, nil, rest.Operation{ID: "segment", Path: "/v1/{text}", Params: []rest.Param{text("text")}, Produces: "text/plain", Handle: func(r *rest.Request) (any, error) {
		got = r.Text("text")
		return rest.Raw{}, nil
	}})
	if get(t, s, "/v1/a%2Fb%20c"); got != "a%2Fb c" {
		t.Errorf("a segment with an escaped slash is %q", got)
	}
}

// TestExamplesAreShown in the document, as JSON of the parameters' types, with links to this server.
func TestExamplesAreShown(t *testing.T) {
	list := rest.Param{Name: "ids", Kind: schema.KindInteger, List: true, MaxItems: 9}
	size := rest.Param{Name: "size", Kind: schema.KindInteger, Min: "1", Default: "5", NotAbove: "most", Doc: "How many."}
	flag := rest.Param{Name: "flag", Kind: schema.KindBoolean}
	word := rest.Param{Name: "word", Kind: schema.KindText, Default: "snow"}
	most := rest.Param{Name: "most", Kind: schema.KindInteger, NotAbove: "size"}
	s := newBare(t, nil, answering("one", "", "/v1/both", list, size, flag, word, most),
		rest.Operation{ID: "two", Method: "POST", Path: "/v1/both", Body: reflect.TypeFor[export](), Answer: reflect.TypeFor[echo](), Handle: func(*rest.Request) (any, error) { return echo{}, nil }})
	if err := s.Register(rest.Sim, answering("three", "", "/sim/three")); err != nil {
		t.Fatal(err)
	}
	var asked []string
	s.Illustrate(func(id, method, path string, d schema.Dialect) rest.Example {
		if id == "one" {
			return rest.Example{Params: map[string]any{"ids": "1,2", "size": 7, "flag": true, "word": "x"}, Answer: json.RawMessage(`"` + rest.ExampleURL + `/x"`)}
		}
		if id == "two" {
			asked = append(asked, fmt.Sprint(id, " ", method, " ", path, " ", d))
			return rest.Example{Body: map[string]int{"a": 1}}
		}
		return rest.Example{}
	})
	var doc struct {
		Tags  []struct{ Name string }
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In, Description string
				Schema                struct {
					Type     string
					Items    struct{ Type string }
					MaxItems int
					Default  any
				}
				Example any
			}
			RequestBody *struct {
				Required bool
				Content  map[string]struct {
					Examples map[string]struct{ Value any }
				}
			}
			Responses map[string]struct {
				Content map[string]struct {
					Examples map[string]struct{ Value any }
				}
			}
		}
	}
	read := func(target string) {
		t.Helper()
		doc.Paths = nil
		if err := json.Unmarshal(get(t, s, target).Body.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
	}
	read("/openapi.json")
	if fmt.Sprint(doc.Tags) != "[{Simulator} {Data API}]" || fmt.Sprint(asked) != "[two POST /v1/both spec]" {
		t.Errorf("tags are %v, asked was for %v", doc.Tags, asked)
	}
	one := doc.Paths["/v1/both"]["get"]
	var params []string
	for _, p := range one.Parameters {
		params = append(params, fmt.Sprint(p.Name, " ", p.In, " ", p.Schema.Type, " ", p.Schema.Items.Type, " ", p.Schema.MaxItems, " ", p.Schema.Default, " ", p.Example, " ", p.Description))
	}
	want := []string{"ids query array integer 9 <nil> [1 2] ", "size query integer  0 5 7 How many. At most most.", "flag query boolean  0 <nil> true ", "word query string  0 snow x ", "most query integer  0 <nil> <nil> At most size."}
	if !slices.Equal(params, want) {
		t.Errorf("parameters are %q", params)
	}
	if got := one.Responses["200"].Content["text/plain"].Examples["inThisWorld"].Value; got != "http://example.com/x" || one.RequestBody != nil {
		t.Errorf("the example of the answer is %v", got)
	}
	two := doc.Paths["/v1/both"]["post"]
	if two.RequestBody == nil || !two.RequestBody.Required || fmt.Sprint(two.RequestBody.Content["application/json"].Examples) != "map[inThisWorld:{map[a:1]}]" || len(two.Responses["200"].Content["application/json"].Examples) > 0 {
		t.Errorf("the other operation is %+v", two)
	}
	read("/openapi.json?operation=two")
	if len(doc.Paths) != 1 || len(doc.Paths["/v1/both"]) != 1 || doc.Paths["/v1/both"]["post"].RequestBody == nil {
		t.Errorf("of the second operation of a path: %+v", doc.Paths)
	}
}

// TestAnswersAreChecked against the document: tests of the whole server rely on it.
func TestAnswersAreChecked(t *testing.T) {
	s := newServer(t, nil)
	for _, c := range []struct {
		method, target string
		status         int
		body, want     string
	}{
		{"GET", "/v1/numbers", 200, `{"numbers":[1],"url":"http://a/b"}`, ""},
		{"GET", "/v1/numbers", 200, `{"numbers":["1"],"url":"http://a/b"}`, "listNumbers: "},
		{"GET", "/v1/numbers", 200, `oops`, "is not JSON"},
		{"GET", "/v1/numbers", 201, `{"numbers":[1],"url":"http://a/b"}`, "status is 201: the document says 200"},
		{"GET", "/v1/numbers", 400, `{"numbers":[1]}`, "does not fit"},
		{"GET", "/v1/numbers", 400, `{"message":"m","error":"e","statusCode":400}`, ""},
		{"GET", "/v1/numbers", 304, ``, ""},
		{"HEAD", "/v1/numbers", 200, ``, ""},
		{"GET", "/v1/logo", 200, `<svg/>`, ""},
		{"GET", "/openapi.json", 200, `x`, ""},
		{"POST", "/upstream/v1/operations/transactions:export", 200, `{"values":[]}`, "the document says 201"},
		{"GET", "/v1/nowhere", 200, `x`, ""},
	} {
		err := s.CheckAnswer(httptest.NewRequest(c.method, c.target, nil), c.status, []byte(c.body))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s, %d %s: %v: want %q", c.method, c.target, c.status, c.body, err, c.want)
		}
	}
}

// TestTokensFitOneQuery: a page token is for the same operation, parameters and body, in whatever form these come.
func TestTokensFitOneQuery(t *testing.T) {
	page := func(r *rest.Request) (any, error) {
		at, resumed := r.PositionNumber()
		return echo{[]string{fmt.Sprint(at, " ", resumed), r.NextPageToken(rest.Position(1 << 60))}}, nil
	}
	upper := func(text string) string { return strings.ToUpper(text) }
	s := newBare(t, func(o *rest.Options) {
		o.Same = func(c schema.ChainID) schema.ChainID {
			if c.EVM == 43113 {
				return schema.ChainID{EVM: 43114}
			}
			return c
		}
	}, rest.Operation{ID: "paged", Path: "/v1/paged", Answer: reflect.TypeFor[echo](), Live: true, Params: append(rest.Paging(10, 100),
		text("a"), text("b"), rest.Param{Name: "same", Kind: schema.KindText, Same: upper}, rest.Param{Name: "chainId", Kind: schema.KindChain},
		rest.Param{Name: "list", Kind: schema.KindInteger, List: true, MaxItems: 5},
		rest.Param{Name: "from", Kind: schema.KindInteger, Default: "3", NotAbove: "to"}, rest.Param{Name: "to", Kind: schema.KindInteger, Default: "9"}, rest.Param{Name: "plain", Kind: schema.KindInteger, Default: "3"},
	), Handle: page})
	token := func(query string) string {
		t.Helper()
		var e echo
		if w := get(t, s, "/v1/paged?"+query); json.Unmarshal(w.Body.Bytes(), &e) != nil || w.Code != 200 {
			t.Fatalf("%s: %d %s", query, w.Code, w.Body)
		}
		return e.Values[1]
	}
	for _, c := range []struct {
		of, with string
		fits     bool
	}{
		{"", "", true}, {"a=x", "a=x", true}, {"a=x", "a=y", false}, {"a=x", "b=x", false}, {"a=x", "", false}, {"a=x&b=y", "b=y&a=x", true}, {"a=x&b=y", "a=xy", false},
		{"same=x", "same=X", true}, {"a=x", "a=X", false}, {"chainId=43114", "chainId=43113", true}, {"chainId=43114", "chainId=1", false},
		{"list=1,2", "list=2&list=1&list=1", true}, {"list=1,2", "list=1,3", false}, {"list=1,2", "list=1", false},
		{"plain=3", "", true}, {"plain=4", "", false}, {"to=9", "", false}, {"from=3", "", false}, {"from=3&to=9", "from=3&to=9", true}, {"from=2", "from=2", true}, {"pageSize=5", "pageSize=6", true},
	} {
		w := get(t, s, "/v1/paged?"+c.with+"&pageToken="+token(c.of))
		if c.fits {
			expect(t, w, 200, `"1152921504606846976 true"`)
		} else {
			expect(t, w, 400, "belongs to another query")
		}
	}
	expect(t, get(t, s, "/v1/paged"), 200, `"0 false"`)
	if len(rest.Position(0)) != 0 || !bytes.Equal(rest.Position(0x1234), []byte{0x12, 0x34}) {
		t.Errorf("positions are %x and %x", rest.Position(0), rest.Position(0x1234))
	}
	long := newBare(t, nil, rest.Operation{ID: "long", Path: "/v1/long", Answer: reflect.TypeFor[echo](), Live: true, Params: rest.Paging(10, 100), Handle: func(r *rest.Request) (any, error) {
		n, ok := r.PositionNumber()
		position, resumed := r.Position()
		return echo{[]string{fmt.Sprint(n, ok, len(position), resumed), r.NextPageToken(make([]byte, 9))}}, nil
	}})
	var e echo
	if err := json.Unmarshal(get(t, long, "/v1/long").Body.Bytes(), &e); err != nil {
		t.Fatal(err)
	}
	expect(t, get(t, long, "/v1/long?pageToken="+e.Values[1]), 200, "0 false 9 true")
}

// search is a body with pages.
type search struct {
	Word  string `json:"word"`
	Token string `json:"token,omitempty"`
}

func (s *search) Canonical() any { return strings.ToLower(s.Word) }

// TestTokensInBodies are bound to the rest of the body.
func TestTokensInBodies(t *testing.T) {
	s := newBare(t, nil, rest.Operation{ID: "search", Method: "POST", Path: "/v1/search", Body: reflect.TypeFor[search](), Answer: reflect.TypeFor[echo](), Handle: func(r *rest.Request) (any, error) {
		position, err := r.ResumeAt(rest.Body[search](r).Token)
		return echo{[]string{fmt.Sprintf("%q", position), r.NextPageToken([]byte("after"))}}, err
	}})
	var e echo
	w := ask(t, s, "POST", "/v1/search", `{"word":"snow"}`)
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Values[0] != `""` {
		t.Fatalf("%s %v", w.Body, err)
	}
	expect(t, ask(t, s, "POST", "/v1/search", `{"word":"SNOW","token":"`+e.Values[1]+`"}`), 200, `after`)
	expect(t, ask(t, s, "POST", "/v1/search", `{"word":"rain","token":"`+e.Values[1]+`"}`), 400, "belongs to another query")
	expect(t, ask(t, s, "POST", "/v1/search", `{"word":"snow","token":"7"}`), 400, `pageToken \"7\"`)
}

// TestAliasesStandForChains of the network in the path, wherever a chain may be named, except where the name is a value of its own.
func TestAliasesStandForChains(t *testing.T) {
	alias := func(network, name string) string {
		switch name {
		case "C", "total":
			return map[string]string{"fuji": "43113"}[network] + map[bool]string{true: "43114"}[network != "fuji"]
		}
		return name
	}
	tell := func(r *rest.Request) (any, error) {
		v := []string{}
		if c := r.Chain("chainId"); c != (schema.ChainID{}) {
			v = append(v, c.String())
		}
		for _, c := range rest.List[schema.ChainID](r, "chainIds") {
			v = append(v, c.String())
		}
		return echo{append(v, r.Text("blockchainId"), r.Text("other"))}, nil
	}
	s := newBare(t, func(o *rest.Options) { o.Alias = alias },
		rest.Operation{ID: "of", Path: "/v1/networks/{network}/of", Answer: reflect.TypeFor[echo](), Live: true, Params: []rest.Param{{Name: "network", Kind: schema.KindNetwork},
			{Name: "chainId", Kind: schema.KindChain}, {Name: "chainIds", Kind: schema.KindChain, List: true, MaxItems: 5}, text("blockchainId"), text("other")}, Handle: tell},
		rest.Operation{ID: "any", Path: "/v1/any", Answer: reflect.TypeFor[echo](), Live: true, Params: []rest.Param{{Name: "chainId", Kind: schema.KindChain, Enum: []string{"total"}}}, Handle: tell})
	for target, want := range map[string]string{
		"/v1/networks/fuji/of?chainId=C":               `["43113","",""]`,
		"/v1/networks/testnet/of?chainId=C":            `["43113","",""]`,
		"/v1/networks/mainnet/of?chainId=C":            `["43114","",""]`,
		"/v1/networks/fuji/of?chainIds=1,C&chainIds=C": `["1","43113","43113","",""]`,
		"/v1/networks/fuji/of?blockchainId=C&other=C":  `["43113","C"]`,
		"/v1/any?chainId=C":                            `["43114","",""]`,
		"/v1/any?chainId=total":                        `["total","",""]`,
	} {
		expect(t, get(t, s, target), 200, want)
	}
}

// TestRangesOfOtherParameters: a range is checked only if both ends are given, wherever they stand among the parameters.
func TestRangesOfOtherParameters(t *testing.T) {
	from, to := rest.Param{Name: "from", Kind: schema.KindInteger, Default: "4", NotAbove: "to"}, rest.Param{Name: "to", Kind: schema.KindInteger, Default: "9"}
	for _, params := range [][]rest.Param{{text("a"), from, to}, {to, text("a"), from}} {
		s := newBare(t, nil, answering("range", "", "/v1/range", params...))
		for query, status := range map[string]int{"from=10": 200, "to=3": 200, "": 200, "from=4&to=4": 200, "from=5&to=4": 400} {
			expect(t, get(t, s, "/v1/range?"+query), status, "")
		}
	}
	for _, params := range [][]rest.Param{{text("a"), from}, {text("a"), from, text("to")}, {from, {Name: "other", Kind: schema.KindInteger}}} {
		s := newBare(t, nil)
		if err := s.Register(rest.Data, answering("range", "", "/v1/range", params...)); err == nil || !strings.Contains(err.Error(), "parameter from has no to of its kind") {
			t.Errorf("%v is declared: %v", params, err)
		}
	}
}

// TestItemsOfBodies are read like parameters.
func TestItemsOfBodies(t *testing.T) {
	if n, problem := rest.ReadItem[int64]("size", schema.KindInteger, "7"); n != 7 || problem != "" {
		t.Errorf("%d %s", n, problem)
	}
	if n, problem := rest.ReadItem[int64]("size", schema.KindInteger, "seven"); n != 0 || problem != `size "seven" is not allowed: expected an integer` {
		t.Errorf("%d %s", n, problem)
	}
	if c, problem := rest.ReadItem[schema.ChainID]("chain", schema.KindChain, "total", "total"); c.String() != "total" || problem != "" {
		t.Errorf("%s %s", c, problem)
	}
	s := newServer(t, nil)
	w := get(t, s, "/v1/chains/43114/blocks/7?contracts=,,0x7")
	if expect(t, w, 400, `contracts \"0x7\" is not allowed`); !strings.Contains(w.Body.String(), "has an empty item") {
		t.Errorf("the answer is %s", w.Body)
	}
	if n := len(rest.BadRequest(make([]string, 100)...).Problems); n != 100 {
		t.Errorf("of a hundred problems, %d are told", n)
	}
	if p := rest.BadRequest(make([]string, 101)...).Problems; len(p) != 101 || p[100] != "and more of that kind" {
		t.Errorf("of more, %q", p)
	}
	r := httptest.NewRecorder()
	rest.Refuse(r, rest.NotFound("x"), func() {})
	expect(t, r, 404, "{}")
}

// TestCoresProxy serves the Data API below the paths of Core's proxy, where an application's AppCheck token counts as an API key.
func TestCoresProxy(t *testing.T) {
	s := newServer(t, func(o *rest.Options) { o.RequireKey = true })
	const proof = "X-Firebase-Appcheck"
	for _, c := range []struct {
		target string
		header []string
		status int
		text   string
	}{
		{"/proxy/glacier/v1/numbers", []string{proof, "token"}, 200, "numbers"},
		{"/v1/proxy/glacier/v1/numbers", []string{proof, "token"}, 200, "numbers"},
		{"/proxy/glacier/v1/numbers", nil, 401, "an API key is required"},
		{"/v1/numbers", []string{proof, "token"}, 401, "an API key is required"},
		{"/proxy/glacier/v1/numbers", []string{"x-core-api-key", "k"}, 200, "http://example.com/docs"}, // links lead past the proxy
		{"/v1/numbers", []string{"x-core-api-key", "k"}, 200, "numbers"},
		{"/proxy/glacier/v1/chains/43114/tokens/" + alice, []string{proof, "token"}, 200, `"INDEXED"`},
		{"/proxy/glacierv1/numbers", nil, 404, "Cannot GET /proxy/glacierv1/numbers"},
		{"/proxy/glacier", nil, 404, "Cannot GET /proxy/glacier"},
		{"/proxy/glacier/v1/chains%2F43114/tokens/" + alice, nil, 404, "Cannot GET"},
		{"/proxy/glacier/v1/chains/43114/tokens/0xab%2Fcd", []string{proof, "token"}, 400, "0xab%2Fcd"},
	} {
		expect(t, get(t, s, c.target, c.header...), c.status, c.text)
	}
}

// TestHostsAndSchemes: links begin with the host that the client named, if valid, and with the scheme that it used.
func TestHostsAndSchemes(t *testing.T) {
	local := context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9650}))
	request := func(ctx context.Context, host string) *http.Request {
		r := httptest.NewRequestWithContext(ctx, "GET", "/v1/numbers", nil)
		r.Host, r.RemoteAddr = host, "127.0.0.1:5"
		return r
	}
	for host, want := range map[string]string{"a.example:80": "http://a.example:80", "": "http://127.0.0.1:9650", "a b": "http://127.0.0.1:9650", "a/@x": "http://127.0.0.1:9650"} {
		if got := rest.BaseURL(request(local, host)); got != want {
			t.Errorf("%q: %s", host, got)
		}
	}
	if got := rest.BaseURL(request(t.Context(), "a b")); got != "http://a b" {
		t.Errorf("without a local address: %s", got)
	}
	secure := request(local, "a.example")
	secure.TLS = &tls.ConnectionState{}
	if got := rest.BaseURL(secure); got != "https://a.example" {
		t.Errorf("over TLS: %s", got)
	}
	for _, scheme := range []string{"http", "https"} {
		trusted := request(permit.TrustHost(local, scheme), "api.avax.network")
		if trusted.TLS = secure.TLS; rest.BaseURL(trusted) != scheme+"://api.avax.network" {
			t.Errorf("a host that the server was told of: %s", rest.BaseURL(trusted))
		}
	}
	all := request(local, "a.example")
	for name, value := range map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "b.example", "X-Forwarded-Prefix": "/p", "Forwarded": "host=c.example"} {
		all.Header.Set(name, value)
	}
	if got := rest.BaseURL(all); got != "https://b.example/p" {
		t.Errorf("with every header of a proxy: %s", got)
	}
	longest := strings.Repeat("/"+strings.Repeat("a", 63), 8)
	for prefix, want := range map[string]string{longest: longest, longest + "a": ""} {
		r := request(local, "a.example")
		r.Header.Set("X-Forwarded-Prefix", prefix)
		if got := rest.BasePath(r); got != want {
			t.Errorf("a prefix of %d bytes gives one of %d", len(prefix), len(got))
		}
	}
}

// TestFewIgnoredParametersAreLogged: each under its name, once, and not so many that a client could fill the log.
func TestFewIgnoredParametersAreLogged(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, func(o *rest.Options) { o.Log, _ = rest.NewLogger(&log, "json", false) })
	logged := func(ctx context.Context, query string) (names []string) {
		log.Reset()
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/v1/numbers?"+query, nil))
		for line := range strings.Lines(log.String()) {
			var l struct{ Parameter string }
			if err := json.Unmarshal([]byte(line), &l); err == nil && l.Parameter != "" {
				names = append(names, l.Parameter)
			}
		}
		return names
	}
	long := strings.Repeat("n", 100)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", nil}, {"page%53ize=3", nil}, {"pagesiz%65=3", []string{"pagesize"}}, {"pagesize=3&after=4", []string{"after"}}, {"pageSize=3&then=4&then=5&last", []string{"then", "last"}},
		{long + "=1&" + long + "n=1", []string{long}}, {"&&=3&rltoken=x&really=1", []string{"really"}},
	} {
		if got := logged(t.Context(), c.query); !slices.Equal(got, c.want) {
			t.Errorf("%s: logged are %q", c.query, got)
		}
	}
	if got := logged(rest.Inside(t.Context()), "unheard=1"); got != nil {
		t.Errorf("of a page's own request %q is logged", got)
	}
	var many strings.Builder
	for i := range 600 {
		fmt.Fprintf(&many, "p%d=1&", i)
	}
	if got := logged(t.Context(), many.String()); len(got) != 500-6 {
		t.Errorf("of many parameters, %d are logged after six others", len(got))
	}
}

// TestNetworksOfKeys: a key for one network is refused for requests that span both, or use the other.
func TestNetworksOfKeys(t *testing.T) {
	keys, err := rest.ReadKeys([]byte("- key: ours\n  networks: [mainnet]\n"))
	if err != nil {
		t.Fatal(err)
	}
	spans, uses := answering("spans", "", "/v1/spans"), answering("uses", "", "/v1/uses", text("of"))
	spans.AllNetworks = true
	uses.Networks = func(r *rest.Request) []string { return []string{r.Text("of")} }
	s := newBare(t, func(o *rest.Options) { o.Keys = keys }, spans, uses, answering("none", "", "/v1/none"))
	for path, status := range map[string]int{"/v1/none": 200, "/v1/spans": 403, "/v1/uses?of=mainnet": 200, "/v1/uses?of=fuji": 403} {
		expect(t, get(t, s, path, "x-service-api-key", "ours"), status, "")
	}
	if texts := keys.Texts(); !slices.Equal(texts, []string{"ours"}) || (*rest.Keys)(nil).Texts() != nil {
		t.Errorf("the keys are %v", texts)
	}
	for text, want := range map[string]string{"- key: a\n  limits: 3": "line 2: field limits is not known", "- key: a\n  limit: x": "`x` is no whole number", "key: a": "a mapping is not a list", "- a": "`a` is not a key"} {
		if _, err := rest.ReadKeys([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "rest.Key") {
			t.Errorf("%q: %v: want %s", text, err, want)
		}
	}
}

// TestAllowances are each client's own, and return after their period.
func TestAllowances(t *testing.T) {
	w := &wall{noon}
	allowance := rest.NewAllowance(2, time.Hour, "payments per hour")
	op := answering("pay", "", "/v1/pay")
	op.Handle = func(r *rest.Request) (any, error) {
		return rest.Raw{Type: "text/plain", Body: []byte("paid")}, allowance.Spend(r)
	}
	s := newBare(t, func(o *rest.Options) { o.Now = w.read }, op)
	for range 2 {
		expect(t, get(t, s, "/v1/pay"), 200, "paid")
	}
	w.now = noon.Add(30*time.Minute + 1)
	expect(t, get(t, s, "/v1/pay"), 429, "the limit of 2 payments per hour is used up: try again in 1800 seconds")
	if other := serve(s, "/v1/pay", "203.0.113.9:1", nil); other.Code != 200 {
		t.Errorf("another client: %d", other.Code)
	}
	w.now = noon.Add(time.Hour)
	expect(t, get(t, s, "/v1/pay"), 200, "paid")
}

// TestLimitsAreExact for the head of a request, for a request id, and for cached answers.
func TestLimitsAreExact(t *testing.T) {
	s := newServer(t, func(o *rest.Options) { o.MaxHead = 1000 })
	head := len("/v1/numbers") + len("X-Note")
	expect(t, get(t, s, "/v1/numbers", "X-Note", strings.Repeat("a", 1000-head)), 200, "")
	expect(t, get(t, s, "/v1/numbers", "X-Note", strings.Repeat("a", 1001-head)), 431, "")
	for id, want := range map[string]bool{strings.Repeat("i", 128): true, strings.Repeat("i", 129): false, "a b": false, "": false, "a.b:c-d_1": true} {
		if got := get(t, s, "/v1/numbers", "X-Request-Id", id).Header().Get("X-Request-Id"); (got == id) != want || got == "" {
			t.Errorf("the request id %q became %q", id, got)
		}
	}
	c := newCounted(t)
	if err := c.Register(rest.Data, rest.Operation{ID: "sized", Path: "/v1/sized/{text}", Answer: reflect.TypeFor[echo](), Params: []rest.Param{text("text")}, Handle: func(r *rest.Request) (any, error) {
		c.calls++
		return echo{[]string{r.Text("text")}}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	twice := func(target string) int {
		before := c.calls
		get(t, c.Server, target)
		get(t, c.Server, target)
		return c.calls - before
	}
	for more, want := range []int{1, 2} {
		target := "/v1/sized/" + strings.Repeat("p", 200) + "?none="
		if got := twice(target + strings.Repeat("q", 1024+1+more-len("http://example.com")-len(target))); got != want {
			t.Errorf("a URL of %d bytes is carried out %d times", 1024+more, got)
		}
	}
	if twice("/v1/sized/last") != 1 {
		t.Error("a small answer is not kept")
	}
	c.Close()
	if twice("/v1/sized/last") != 2 {
		t.Error("a closed server keeps answers")
	}
}

// TestMountsOfTheRoot serve the path / alone.
func TestMountsOfTheRoot(t *testing.T) {
	s := newServer(t, nil)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "home") })
	s.Mount("home", "/", page)
	s.Mount("docs", "/docs/", page)
	for path, status := range map[string]int{"/": 200, "//": 200, "/docs": 200, "/docs/a": 200, "/docsa": 404, "/a": 404} {
		if w := get(t, s, path); w.Code != status || status == 200 && w.Body.String() != "home" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestPreflights are cached for two hours, and must be what a browser sends before a request.
func TestPreflights(t *testing.T) {
	s := newServer(t, nil)
	control, read := answering("change", "POST", "/sim/both"), answering("read", "", "/sim/both")
	control.Class = permit.Control
	if err := s.Register(rest.Sim, control, read); err != nil {
		t.Fatal(err)
	}
	h := ask(t, s, "OPTIONS", "/v1/numbers", "", "Origin", "http://a.example", "Access-Control-Request-Method", "GET").Header()
	if h.Get("Access-Control-Max-Age") != "7200" || h.Get("Vary") != "Access-Control-Request-Method, Access-Control-Request-Headers" || h["Access-Control-Allow-Headers"] != nil {
		t.Errorf("headers are %v", h)
	}
	for _, headers := range [][]string{nil, {"Origin", "http://a.example"}, {"Access-Control-Request-Method", "GET"}} {
		h := ask(t, s, "OPTIONS", "/v1/numbers", "", headers...).Header()
		if h["Access-Control-Allow-Methods"] != nil || h.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%v: headers are %v", headers, h)
		}
	}
	if h := get(t, s, "/v1/numbers", "Origin", "http://a.example", "Access-Control-Request-Method", "GET").Header(); h["Access-Control-Allow-Methods"] != nil {
		t.Errorf("a GET is answered as a preflight: %v", h)
	}
	w := ask(t, s, "OPTIONS", "/sim/both", "", "Origin", "http://a.example", "Access-Control-Request-Method", "GET")
	if got := w.Header().Get("Access-Control-Allow-Methods"); got != "GET, HEAD, OPTIONS" {
		t.Errorf("a page of another origin may send %s", got)
	}
	for _, accept := range []string{"gzip;x=1", "gzip; q", "gzip;q=0x"} {
		if h := get(t, s, "/v1/large", "Accept-Encoding", accept).Header(); h["Content-Encoding"] != nil {
			t.Errorf("%s: headers are %v", accept, h)
		}
	}
	if tag := get(t, s, "/v1/large", "Accept-Encoding", "gzip").Header().Get("Etag"); !strings.HasSuffix(tag, `-gzip"`) {
		t.Errorf("the compressed answer's tag is %s", tag)
	}
}
