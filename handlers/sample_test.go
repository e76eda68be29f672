package handlers_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim"
)

// The operations of these tests: one for each thing that the contract promises.

type echo struct {
	Values []string `json:"values" doc:"What the handler saw."`
}

type price struct {
	CurrencyCode string           `json:"currencyCode" enum:"usd,eur"`
	Value        handlers.Decimal `json:"value"`
}

type token struct {
	Address string               `json:"address" format:"address"`
	Status  handlers.IndexStatus `json:"indexStatus"`
	Price   *price               `json:"price,omitempty"`
	Owner   *string              `json:"owner"`
}

type numberPage struct {
	NextPageToken string `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Numbers       []int  `json:"numbers"`
	URL           string `json:"url" format:"url"`
}

type export struct {
	Type     string        `json:"type" enum:"TRANSACTION_EXPORT_EVM"`
	LastDate string        `json:"lastDate,omitempty" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"`
	Quorum   int           `json:"quorum,omitempty" min:"0" max:"100"`
	Options  exportOptions `json:"options"`
}

type exportOptions struct {
	Addresses []string `json:"addresses" format:"address"`
}

const lastNumber = 95

func listNumbers(r *handlers.Request) (any, error) {
	after, _ := r.PositionNumber()
	page := numberPage{Numbers: []int{}, URL: r.BaseURL() + "/docs"}
	for n := int(after) + 1; n <= lastNumber && len(page.Numbers) < r.PageSize(); n++ {
		page.Numbers = append(page.Numbers, n)
	}
	if end := int(after) + len(page.Numbers); end < lastNumber {
		page.NextPageToken = r.NextPageToken(handlers.Position(uint64(end)))
	}
	return page, nil
}

func sampleToken(r *handlers.Request) (any, error) {
	d := r.Dialect()
	return token{
		Address: r.Address("address").Hex(),
		Status:  d.IndexStatus("INDEXED"),
		Price:   &price{"usd", d.Decimal("42.42")},
	}, nil
}

func echoKinds(r *handlers.Request) (any, error) {
	v := []string{r.Chain("chainId").String(), r.Block("blockId").String()}
	for _, a := range handlers.List[common.Address](r, "contracts") {
		v = append(v, a.Hex())
	}
	v = append(v, handlers.List[string](r, "nodeIds")...)
	for _, a := range handlers.List[handlers.PrimaryAddress](r, "addresses") {
		v = append(v, a.String())
	}
	if n := r.Amount("capacity"); n != nil {
		v = append(v, n.String())
	}
	if n := r.Number("fee"); n != nil {
		v = append(v, n.FloatString(3))
	}
	if id := handlers.Value[ids.ID](r, "subnetId"); id != ids.Empty {
		v = append(v, id.String())
	}
	if r.Given("network") {
		v = append(v, r.Text("network"))
	}
	if r.Given("strict") {
		v = append(v, map[bool]string{true: "strict", false: "lax"}[r.Bool("strict")])
	}
	return echo{v}, nil
}

var chainID = handlers.Param{Name: "chainId", Kind: handlers.KindChain}

var dataOperations = []handlers.Operation{
	{ID: "listNumbers", Path: "/v1/numbers", Summary: "List numbers", Answer: reflect.TypeFor[numberPage](),
		Params: append(handlers.Paging(10, 100), handlers.Param{Name: "status", Kind: handlers.KindEnum, Enum: []string{"failed", "success"}}),
		Handle: listNumbers},
	{ID: "listOtherNumbers", Path: "/v1/others", Deprecated: true, Answer: reflect.TypeFor[numberPage](), Params: handlers.Paging(10, 100), Handle: listNumbers},
	{ID: "kinds", Path: "/v1/chains/{chainId}/blocks/{blockId}", Answer: reflect.TypeFor[echo](), Params: []handlers.Param{
		chainID,
		{Name: "blockId", Kind: handlers.KindBlock},
		{Name: "contracts", Kind: handlers.KindAddress, List: true, MaxItems: 3},
		{Name: "nodeIds", Kind: handlers.KindNodeIDPart, List: true},
		{Name: "addresses", Kind: handlers.KindPrimary, List: true},
		{Name: "capacity", Kind: handlers.KindAmount, Min: "0", Max: "720000000000000000"},
		{Name: "fee", Kind: handlers.KindNumber, Min: "2", Max: "100"},
		{Name: "startTimestamp", Kind: handlers.KindTimestamp},
		{Name: "startBlock", Kind: handlers.KindInteger, Min: "0"},
		{Name: "subnetId", Kind: handlers.KindID},
		{Name: "network", Kind: handlers.KindNetwork},
		{Name: "strict", Kind: handlers.KindBoolean},
		{Name: "currency", Kind: handlers.KindCurrency, Default: "usd"},
		{Name: "sortOrder", Kind: handlers.KindEnum, Enum: []string{"asc", "desc"}},
		{Name: "operationId", Kind: handlers.KindUUID},
		{Name: "nodeId", Kind: handlers.KindNodeID},
	}, Handle: echoKinds},
	{ID: "token", Path: "/v1/chains/{chainId}/tokens/{address}", Answer: reflect.TypeFor[token](),
		Params: []handlers.Param{chainID, {Name: "address", Kind: handlers.KindAddress}}, Handle: sampleToken},
	{ID: "reindex", Method: http.MethodPost, Path: "/v1/chains/{chainId}/tokens/{address}:reindex", Status: 201, Answer: reflect.TypeFor[token](),
		Params: []handlers.Param{chainID, {Name: "address", Kind: handlers.KindAddress}}, Handle: sampleToken},
	{ID: "listNative", Path: "/v1/chains/{chainId}/addresses/{address}/transactions:listNative", Answer: reflect.TypeFor[token](),
		Params: []handlers.Param{chainID, {Name: "address", Kind: handlers.KindAddress}}, Handle: sampleToken},
	{ID: "export", Method: http.MethodPost, Path: "/v1/operations/transactions:export", UpstreamStatus: 201,
		Body: reflect.TypeFor[export](), Answer: reflect.TypeFor[echo](),
		Handle: func(r *handlers.Request) (any, error) { return echo{handlers.Body[export](r).Options.Addresses}, nil }},
	{ID: "required", Path: "/v1/networks/{network}/addresses:listChainIds", Answer: reflect.TypeFor[echo](), Params: []handlers.Param{
		{Name: "network", Kind: handlers.KindNetwork}, {Name: "addresses", Kind: handlers.KindPrimary, List: true, Required: true}},
		Handle: func(*handlers.Request) (any, error) { return echo{[]string{}}, nil }},
	{ID: "missing", Path: "/v1/missing", Handle: func(*handlers.Request) (any, error) { return nil, handlers.NotFound("block %d does not exist", 7) }},
	{ID: "live", Path: "/v1/live", Keyless: true, Produces: "text/plain",
		Handle: func(*handlers.Request) (any, error) { return handlers.Raw{Type: "text/plain", Body: []byte("ok")}, nil }},
	{ID: "broken", Path: "/v1/broken", Handle: func(*handlers.Request) (any, error) { return nil, errors.New("secret table is locked") }},
	{ID: "panics", Path: "/v1/panics", Handle: func(*handlers.Request) (any, error) { panic("secret index out of range") }},
	{ID: "logo", Path: "/v1/logo", Produces: "image/svg+xml",
		Handle: func(*handlers.Request) (any, error) {
			return handlers.Raw{Type: "image/svg+xml", Body: []byte("<svg/>")}, nil
		}},
	{ID: "large", Path: "/v1/large", Answer: reflect.TypeFor[echo](),
		Handle: func(*handlers.Request) (any, error) { return echo{[]string{strings.Repeat("snow ", 1000)}}, nil }},
}

var metricsOperations = []handlers.Operation{
	{ID: "metric", Path: "/v2/chains/{chainId}/metrics/{metric}", Answer: reflect.TypeFor[echo](), Params: append([]handlers.Param{
		{Name: "chainId", Kind: handlers.KindChain, Enum: []string{"total", "mainnet", "testnet"}},
		{Name: "metric", Kind: handlers.KindEnum, Enum: []string{"txCount", "gasUsed"}},
		{Name: "startTimestamp", Kind: handlers.KindTimestamp},
	}, handlers.Paging(100, 2160)...),
		Handle: func(r *handlers.Request) (any, error) {
			return echo{[]string{r.Chain("chainId").String(), r.Text("metric")}}, nil
		}},
}

var simOperations = []handlers.Operation{
	{ID: "setClock", Method: http.MethodPost, Path: "/sim/clock", SameOrigin: true, Answer: reflect.TypeFor[echo](),
		Handle: func(*handlers.Request) (any, error) { return echo{[]string{}}, nil }},
}

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func worldKey(b byte) []byte { return []byte(strings.Repeat(string(rune(b)), 32)) }

// newServer serves the sample operations; change adjusts the options.
func newServer(t testing.TB, change func(*handlers.Options)) *handlers.Server {
	t.Helper()
	o := handlers.Options{Clock: sim.NewClock(noon), WorldKey: worldKey('k'), Revision: func() int64 { return 0 }}
	if change != nil {
		change(&o)
	}
	s, err := handlers.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for in, ops := range map[*handlers.Interface][]handlers.Operation{
		handlers.Data: dataOperations, handlers.Metrics: metricsOperations, handlers.Sim: simOperations,
	} {
		if err := s.Register(in, ops...); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// ask sends one request; headers are pairs of name and value. Every JSON answer is compared with the document.
func ask(t testing.TB, s *handlers.Server, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Body.Len() > 0 && w.Header().Get("Content-Encoding") == "" {
		if err := s.CheckAnswer(r, w.Code, w.Body.Bytes()); err != nil {
			t.Errorf("%s %s: %v", method, target, err)
		}
	}
	return w
}

func get(t testing.TB, s *handlers.Server, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, s, http.MethodGet, target, "", headers...)
}

// expect compares the status, and looks for a text in the body.
func expect(t testing.TB, w *httptest.ResponseRecorder, status int, text string) {
	t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), text) {
		t.Errorf("answer is %d %s: want %d with %s", w.Code, w.Body, status, text)
	}
}
