package rest_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

func serve(s *rest.Server, path, remote string, headers map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr = remote
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func document(t *testing.T, path string) map[string]any {
	t.Helper()
	w := get(t, newServer(t, nil), path)
	var doc map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return doc
}

func TestDocumentHoldsEveryOperation(t *testing.T) {
	doc := document(t, "/openapi.json")
	if doc["openapi"] != "3.1.0" {
		t.Errorf("openapi is %v", doc["openapi"])
	}
	found := map[string]bool{}
	for _, calls := range doc["paths"].(map[string]any) {
		for _, call := range calls.(map[string]any) {
			found[call.(map[string]any)["operationId"].(string)] = true
		}
	}
	for _, ops := range [][]rest.Operation{dataOperations, metricsOperations, simOperations} {
		for _, op := range ops {
			if !found[op.ID] {
				t.Errorf("%s is not in the document", op.ID)
			}
		}
	}
	if text := fmt.Sprint(doc); !strings.Contains(text, "Absent on the last page.") || !strings.Contains(text, "x-service-api-key") {
		t.Errorf("document is %s", text)
	}
}

// TestDocumentNamesTheFailures compares each operation's documented statuses with the ones that a client can provoke.
func TestDocumentNamesTheFailures(t *testing.T) {
	doc := document(t, "/openapi.json")
	for path, want := range map[string]string{
		"get /v1/numbers": "200 400 401 403 429 500 default",
		"get /v1/live":    "200 400 500 default",
		"get /v1/chains/{chainId}/tokens/{address}": "200 400 401 403 404 429 500 default",
		"post /v1/operations/transactions:export":   "200 400 401 403 413 415 429 500 default",
		"get /v2/chains/{chainId}/metrics/{metric}": "200 400 404 429 500 default",
		"post /sim/clock":                           "200 400 403 500 default",
	} {
		method, path, _ := strings.Cut(path, " ")
		call := doc["paths"].(map[string]any)[path].(map[string]any)[method].(map[string]any)
		if got := strings.Join(slices.Sorted(maps.Keys(call["responses"].(map[string]any))), " "); got != want {
			t.Errorf("%s %s answers %s: want %s", method, path, got, want)
		}
	}
	schemes := fmt.Sprint(doc["components"].(map[string]any)["securitySchemes"])
	for _, place := range []string{"x-service-api-key", "x-glacier-api-key", "name:rltoken"} {
		if !strings.Contains(schemes, place) {
			t.Errorf("security schemes lack %s: %s", place, schemes)
		}
	}
}

func TestDocumentsReferencesResolve(t *testing.T) {
	for _, path := range []string{"/openapi.json", "/upstream/openapi.json"} {
		doc := document(t, path)
		schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
		count := 0
		walk(doc, func(key string, v any) {
			if key != "$ref" {
				return
			}
			count++
			name, ok := strings.CutPrefix(v.(string), "#/components/schemas/")
			if !ok || schemas[name] == nil {
				t.Errorf("%s: reference %v leads nowhere", path, v)
			}
		})
		if count == 0 {
			t.Errorf("%s has no references", path)
		}
	}
}

func walk(v any, visit func(key string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			visit(key, member)
			walk(member, visit)
		}
	case []any:
		for _, item := range v {
			walk(item, visit)
		}
	}
}

func TestDocumentFollowsDialect(t *testing.T) {
	value := func(path string) string {
		schemas := document(t, path)["components"].(map[string]any)["schemas"].(map[string]any)
		return fmt.Sprint(schemas["price"].(map[string]any)["properties"].(map[string]any)["value"])
	}
	if got := value("/openapi.json"); !strings.Contains(got, "type:string") {
		t.Errorf("price is %s", got)
	}
	if got := value("/upstream/openapi.json"); !strings.Contains(got, "type:number") {
		t.Errorf("upstream price is %s", got)
	}
}

func TestAnswersAreComparedWithTheDocument(t *testing.T) {
	s := newServer(t, nil)
	good := `{"address":"` + alice + `","indexStatus":"indexed","owner":null}`
	if err := s.ValidateAnswer("token", schema.Spec, []byte(good)); err != nil {
		t.Error(err)
	}
	for body, want := range map[string]string{
		`{"address":"0x1","indexStatus":"indexed","owner":null}`:                                `address "0x1" is not allowed`,
		`{"address":"` + alice + `","indexStatus":"INDEXED","owner":null}`:                      `indexStatus "INDEXED" is not allowed`,
		`{"address":"` + alice + `","indexStatus":"indexed"}`:                                   `owner is required`,
		`{"address":"` + alice + `","indexStatus":"indexed","owner":1}`:                         `owner 1 is not allowed`,
		`{"address":"` + alice + `","indexStatus":"indexed","owner":null,"price":null}`:         `price null is not allowed: expected an object`,
		`{"address":"` + alice + `","indexStatus":"indexed","owner":null,"extra":1}`:            `member "extra" is not known: expected one of`,
		`{"address":"` + alice + `","indexStatus":"indexed","owner":null,"price":{"value":1}}`:  `price.currencyCode is required`,
		`{"address":"` + alice + `","indexStatus":"indexed","owner":null,"price":{"value":1}} `: `price.value 1 is not allowed: expected a string`,
	} {
		if err := s.ValidateAnswer("token", schema.Spec, []byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v: want %s", body, err, want)
		}
	}
}

func TestBadDeclarationsAreRefused(t *testing.T) {
	ok := func(*rest.Request) (any, error) { return nil, nil }
	for want, ops := range map[string][]rest.Operation{
		"it needs an id, a path and a handler":      {{ID: "a", Path: "/a"}},
		"is declared twice":                         {{ID: "a", Path: "/a", Handle: ok}, {ID: "a", Path: "/b", Handle: ok}},
		"GET /a is declared already":                {{ID: "a", Path: "/a", Handle: ok}, {ID: "b", Path: "/a", Handle: ok}},
		"path parameter id is not declared":         {{ID: "a", Path: "/a/{id}", Handle: ok}},
		"parameter size: has no kind":               {{ID: "a", Path: "/a", Handle: ok, Params: []rest.Param{{Name: "size"}}}},
		`default: size "0" is not allowed`:          {{ID: "a", Path: "/a", Handle: ok, Params: []rest.Param{{Name: "size", Kind: schema.KindInteger, Min: "1", Default: "0"}}}},
		`bound "one" is not a number`:               {{ID: "a", Path: "/a", Handle: ok, Params: []rest.Param{{Name: "size", Kind: schema.KindInteger, Min: "one"}}}},
		"path parameter id is not in the path":      {{ID: "a", Path: "/a", Handle: ok, Params: []rest.Param{{Name: "id", In: rest.InPath, Kind: schema.KindText}}}},
		"path /a/{y} is declared as /a/{x} already": {{ID: "a", Path: "/a/{x}", Handle: ok, Params: []rest.Param{{Name: "x", Kind: schema.KindText}}}, {ID: "b", Path: "/a/{y}", Handle: ok, Params: []rest.Param{{Name: "y", Kind: schema.KindText}}}},
	} {
		s, err := rest.New(rest.Options{Clock: sim.NewClock(noon), WorldKey: worldKey('k')})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Register(rest.Data, ops...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v: want %s", err, want)
		}
	}
	if _, err := rest.New(rest.Options{Clock: sim.NewClock(noon), WorldKey: []byte("short")}); err == nil {
		t.Error("a short key is accepted")
	}
	if _, err := rest.New(rest.Options{WorldKey: worldKey('k')}); err == nil {
		t.Error("a missing clock is accepted")
	}
}

func TestSchemasOfGoTypes(t *testing.T) {
	type tree struct {
		Children []tree            `json:"children,omitempty"`
		Weights  map[string]uint64 `json:"weights"`
		Exact    json.Number       `json:"exact"`
	}
	s, err := rest.New(rest.Options{Clock: sim.NewClock(noon), WorldKey: worldKey('k')})
	if err != nil {
		t.Fatal(err)
	}
	op := rest.Operation{ID: "tree", Path: "/tree", Answer: reflect.TypeFor[tree](), Handle: func(*rest.Request) (any, error) {
		return tree{Weights: map[string]uint64{"a": 1}, Exact: "1.5", Children: []tree{{Weights: map[string]uint64{}, Exact: "2"}}}, nil
	}}
	if err := s.Register(rest.Sim, op); err != nil {
		t.Fatal(err)
	}
	expect(t, get(t, s, "/tree"), 200, `"exact":1.5`)
	expect(t, get(t, s, "/openapi.json"), 200, "children")
}

// TestDocumentOfOneOperation has only that operation.
func TestDocumentOfOneOperation(t *testing.T) {
	s := newServer(t, nil)
	expect(t, get(t, s, "/openapi.json?operation=nothing"), 404, "there is no operation")
	w := get(t, s, "/openapi.json?operation=token")
	if expect(t, w, 200, "/v1/chains/{chainId}/tokens/{address}"); strings.Contains(w.Body.String(), "/v1/numbers") {
		t.Error("it has other operations")
	}
}

// TestOutlines: the list of operations has each of them once.
func TestOutlines(t *testing.T) {
	all := newServer(t, nil).Outlines()
	n := 0
	for _, ops := range [][]rest.Operation{dataOperations, metricsOperations, simOperations} {
		for _, op := range ops {
			n++
			if !slices.ContainsFunc(all, func(o rest.Outline) bool {
				return o.ID == op.ID && o.Path == op.Path && o.Method == cmp.Or(op.Method, http.MethodGet) && o.Summary == op.Summary && o.Deprecated == op.Deprecated
			}) {
				t.Errorf("%s is missing", op.ID)
			}
		}
	}
	if len(all) != n {
		t.Errorf("%d operations, want %d", len(all), n)
	}
}
