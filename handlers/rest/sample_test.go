package rest_test

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

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

// The operations of these tests: one for each promise of the contract.

type echo struct {
	Values []string `json:"values" doc:"What the handler saw."`
}

type price struct {
	CurrencyCode string         `json:"currencyCode" enum:"usd,eur"`
	Value        schema.Decimal `json:"value"`
}

type token struct {
	Address string             `json:"address" format:"address"`
	Status  schema.IndexStatus `json:"indexStatus"`
	Price   *price             `json:"price,omitempty"`
	Owner   *string            `json:"owner"`
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

func listNumbers(r *rest.Request) (any, error) {
	after, _ := r.PositionNumber()
	page := numberPage{Numbers: []int{}, URL: r.BaseURL() + "/docs"}
	for n := int(after) + 1; n <= lastNumber && len(page.Numbers) < r.PageSize(); n++ {
		page.Numbers = append(page.Numbers, n)
	}
	if end := int(after) + len(page.Numbers); end < lastNumber {
		page.NextPageToken = r.NextPageToken(rest.Position(uint64(end)))
	}
	return page, nil
}

func sampleToken(r *rest.Request) (any, error) {
	d := r.Dialect()
	return token{
		Address: r.Address("address").Hex(),
		Status:  d.IndexStatus("INDEXED"),
		Price:   &price{"usd", d.Decimal("42.42")},
	}, nil
}

func echoKinds(r *rest.Request) (any, error) {
	v := []string{r.Chain("chainId").String(), r.Block("blockId").String()}
	for _, a := range rest.List[common.Address](r, "contracts") {
		v = append(v, a.Hex())
	}
	v = append(v, rest.List[string](r, "nodeIds")...)
	for _, a := range rest.List[schema.PrimaryAddress](r, "addresses") {
		v = append(v, a.String())
	}
	if n := r.Amount("capacity"); n != nil {
		v = append(v, n.String())
	}
	if n := r.Number("fee"); n != nil {
		v = append(v, n.FloatString(3))
	}
	if id := rest.Value[ids.ID](r, "subnetId"); id != ids.Empty {
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

var chainID = rest.Param{Name: "chainId", Kind: schema.KindChain}

var dataOperations = []rest.Operation{
	{ID: "listNumbers", Path: "/v1/numbers", Summary: "List numbers", Answer: reflect.TypeFor[numberPage](),
		Params: append(rest.Paging(10, 100), rest.Param{Name: "status", Kind: schema.KindEnum, Enum: []string{"failed", "success"}}),
		Handle: listNumbers},
	{ID: "listOtherNumbers", Path: "/v1/others", Deprecated: true, Answer: reflect.TypeFor[numberPage](), Params: rest.Paging(10, 100), Handle: listNumbers},
	{ID: "kinds", Path: "/v1/chains/{chainId}/blocks/{blockId}", Answer: reflect.TypeFor[echo](), Params: []rest.Param{
		chainID,
		{Name: "blockId", Kind: schema.KindBlock},
		{Name: "contracts", Kind: schema.KindAddress, List: true, MaxItems: 3},
		{Name: "nodeIds", Kind: schema.KindNodeIDPart, List: true, MaxItems: 64},
		{Name: "addresses", Kind: schema.KindPrimaryAddress, List: true, MaxItems: 64},
		{Name: "capacity", Kind: schema.KindAmount, Min: "0", Max: "720000000000000000"},
		{Name: "fee", Kind: schema.KindNumber, Min: "2", Max: "100"},
		{Name: "startTimestamp", Kind: schema.KindTimestamp},
		{Name: "startBlock", Kind: schema.KindInteger, Min: "0"},
		{Name: "subnetId", Kind: schema.KindID},
		{Name: "network", Kind: schema.KindNetwork},
		{Name: "strict", Kind: schema.KindBoolean},
		{Name: "currency", Kind: schema.KindCurrency, Default: "usd"},
		{Name: "sortOrder", Kind: schema.KindEnum, Enum: []string{"asc", "desc"}},
		{Name: "operationId", Kind: schema.KindUUID},
		{Name: "nodeId", Kind: schema.KindNodeID},
	}, Handle: echoKinds},
	{ID: "token", Path: "/v1/chains/{chainId}/tokens/{address}", Answer: reflect.TypeFor[token](),
		Params: []rest.Param{chainID, {Name: "address", Kind: schema.KindAddress}}, Handle: sampleToken},
	{ID: "reindex", Method: http.MethodPost, Path: "/v1/chains/{chainId}/tokens/{address}:reindex", Status: 201, Answer: reflect.TypeFor[token](),
		Params: []rest.Param{chainID, {Name: "address", Kind: schema.KindAddress}}, Handle: sampleToken},
	{ID: "listNative", Path: "/v1/chains/{chainId}/addresses/{address}/transactions:listNative", Answer: reflect.TypeFor[token](),
		Params: []rest.Param{chainID, {Name: "address", Kind: schema.KindAddress}}, Handle: sampleToken},
	{ID: "export", Method: http.MethodPost, Path: "/v1/operations/transactions:export", UpstreamStatus: 201,
		Body: reflect.TypeFor[export](), Answer: reflect.TypeFor[echo](),
		Handle: func(r *rest.Request) (any, error) { return echo{rest.Body[export](r).Options.Addresses}, nil }},
	{ID: "required", Path: "/v1/networks/{network}/addresses:listChainIds", Answer: reflect.TypeFor[echo](), Params: []rest.Param{
		{Name: "network", Kind: schema.KindNetwork}, {Name: "addresses", Kind: schema.KindPrimaryAddress, List: true, MaxItems: 64, Required: true}},
		Handle: func(*rest.Request) (any, error) { return echo{[]string{}}, nil }},
	{ID: "missing", Path: "/v1/missing", Handle: func(*rest.Request) (any, error) { return nil, rest.NotFound("block %d does not exist", 7) }},
	{ID: "live", Path: "/v1/live", Keyless: true, Produces: "text/plain",
		Handle: func(*rest.Request) (any, error) { return rest.Raw{Type: "text/plain", Body: []byte("ok")}, nil }},
	{ID: "broken", Path: "/v1/broken", Handle: func(*rest.Request) (any, error) { return nil, errors.New("secret table is locked") }},
	{ID: "panics", Path: "/v1/panics", Handle: func(*rest.Request) (any, error) { panic("secret index out of range") }},
	{ID: "logo", Path: "/v1/logo", Produces: "image/svg+xml",
		Handle: func(*rest.Request) (any, error) {
			return rest.Raw{Type: "image/svg+xml", Body: []byte("<svg/>")}, nil
		}},
	{ID: "large", Path: "/v1/large", Answer: reflect.TypeFor[echo](),
		Handle: func(*rest.Request) (any, error) { return echo{[]string{strings.Repeat("snow ", 1000)}}, nil }},
}

var metricsOperations = []rest.Operation{
	{ID: "metric", Path: "/v2/chains/{chainId}/metrics/{metric}", Answer: reflect.TypeFor[echo](), Params: append([]rest.Param{
		{Name: "chainId", Kind: schema.KindChain, Enum: []string{"total", "mainnet", "testnet"}},
		{Name: "metric", Kind: schema.KindEnum, Enum: []string{"txCount", "gasUsed"}},
		{Name: "startTimestamp", Kind: schema.KindTimestamp},
	}, rest.Paging(100, 2160)...),
		Handle: func(r *rest.Request) (any, error) {
			return echo{[]string{r.Chain("chainId").String(), r.Text("metric")}}, nil
		}},
}

var simOperations = []rest.Operation{
	{ID: "setClock", Method: http.MethodPost, Path: "/sim/clock", Class: permit.Control, Answer: reflect.TypeFor[echo](),
		Handle: func(*rest.Request) (any, error) { return echo{[]string{}}, nil }},
}

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func worldKey(b byte) []byte { return []byte(strings.Repeat(string(rune(b)), 32)) }

// newServer serves the sample operations; change adjusts the options.
func newServer(t testing.TB, change func(*rest.Options)) *rest.Server {
	t.Helper()
	o := rest.Options{Clock: sim.NewClock(noon), WorldKey: worldKey('k'), Revision: func() int64 { return 0 }}
	if change != nil {
		change(&o)
	}
	s, err := rest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(s.Register(rest.Data, dataOperations...), s.Register(rest.Metrics, metricsOperations...), s.Register(rest.Sim, simOperations...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends one request; headers are pairs of name and value. Every JSON answer is compared with the document.
func ask(t testing.TB, s *rest.Server, method, target, body string, headers ...string) *httptest.ResponseRecorder {
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

func get(t testing.TB, s *rest.Server, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, s, http.MethodGet, target, "", headers...)
}

// expect compares the status, and searches the body for a text.
func expect(t testing.TB, w *httptest.ResponseRecorder, status int, text string) {
	t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), text) {
		t.Errorf("answer is %d %s: want %d with %s", w.Code, w.Body, status, text)
	}
}
