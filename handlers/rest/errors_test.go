package rest_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/store"
)

func TestFailuresTellNoInternals(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, func(o *rest.Options) { o.Log, _ = rest.NewLogger(&log, "text", true) })
	for _, path := range []string{"/v1/broken", "/v1/panics"} {
		w := get(t, s, path, "x-request-id", "trace-1")
		expect(t, w, 500, `"error":"Internal Server Error","statusCode":500`)
		if strings.Contains(w.Body.String(), "secret") || !strings.Contains(w.Body.String(), "trace-1") {
			t.Errorf("%s: answer is %s", path, w.Body)
		}
	}
	for _, want := range []string{"secret table is locked", "secret index out of range", "sample_test.go", "id=trace-1", "operation=panics"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %q: %s", want, log.String())
		}
	}
	expect(t, get(t, s, "/v1/numbers"), 200, "numbers")
}

// TestWorldsThatRefuseToChange: clients get the text of the refusal, without its cause.
func TestWorldsThatRefuseToChange(t *testing.T) {
	for _, c := range []struct {
		err     error
		status  int
		message string
	}{
		{fmt.Errorf("start a secret: %w", store.ErrReadOnly), 403, store.ErrReadOnly.Error()},
		{store.FailedDisk(errors.New("secret quota")), 503, store.ErrDisk.Error()},
	} {
		s := newServer(t, nil)
		operation := rest.Operation{ID: "change", Method: http.MethodGet, Path: "/sim/change", Handle: func(*rest.Request) (any, error) { return nil, c.err }}
		if err := s.Register(rest.Sim, operation); err != nil {
			t.Fatal(err)
		}
		expect(t, get(t, s, "/sim/change"), c.status, `"message":"`+c.message+`"`)
	}
}

func TestMissingThings(t *testing.T) {
	s := newServer(t, nil)
	address := "/addresses/" + alice
	cases := []struct{ method, path, message string }{
		{"GET", "/v1/missing", `"message":"block 7 does not exist","error":"Not Found","statusCode":404`},
		{"GET", "/v1/number", `Cannot GET /v1/number: did you mean GET /v1/numbers?`},
		{"GET", "/numbers", `did you mean GET /v1/numbers?`},
		{"GET", "/v1/chain/43114/blocks/7", `did you mean GET /v1/chains/43114/blocks/7?`},
		{"GET", "/v1/chains/43114/block/7", `did you mean GET /v1/chains/43114/blocks/7?`},
		{"GET", "/v1/chains/43114" + address + "/transactions:listnative", `did you mean GET /v1/chains/43114` + address + `/transactions:listNative?`},
		{"GET", "/v1/chains/43114" + address + "/transaction:native", `did you mean GET /v1/chains/43114` + address + `/transactions:listNative?`},
		{"POST", "/v1/operations/transactions:exprt", `did you mean POST /v1/operations/transactions:export?`},
		{"GET", "/v1/operations/transactions:exprt", `did you mean POST /v1/operations/transactions:export?`},
		{"GET", "/v2/chains/43114/metric/txCount", `did you mean GET /v2/chains/43114/metrics/txCount?`},
		{"GET", "/upstream/v1/number", `"message":"Cannot GET /upstream/v1/number","error":"Not Found","statusCode":404`},
		{"GET", "/v1/chains/blocks/7", `did you mean GET /v1/chains/{chainId}/blocks/7?`},
		{"GET", "/v1/chains/43114%2Fblocks/7", `"message":"Cannot GET /v1/chains/43114%2Fblocks/7","error":"Not Found"`},
		{"GET", "/upstream/v1/chains/43114%2fblocks/7", `Cannot GET /upstream/v1/chains/43114%2fblocks/7`},
		{"GET", "/v1/feathers", `"message":"Cannot GET /v1/feathers","error":"Not Found"`}, // others is another word
		{"GET", "/v1/chains/somewhere/7", `"message":"Cannot GET /v1/chains/somewhere/7","error":"Not Found"`},
		{"GET", "/wp-admin/setup.php", `"message":"Cannot GET /wp-admin/setup.php"`},
		{"GET", "/v1/chains/../numbers", `"error":"Not Found"`},
		{"GET", "/" + strings.Repeat("a/", 600), `"error":"Not Found"`},
	}
	for _, c := range cases {
		expect(t, ask(t, s, c.method, c.path, ""), 404, c.message)
	}
}

func TestTooMuchBeforeTheBody(t *testing.T) {
	s := newServer(t, nil)
	const message = `{"message":"the path, query and headers are larger than 65536 bytes","error":"Request Header Fields Too Large","statusCode":431}`
	long := strings.Repeat("a", 64<<10)
	expect(t, get(t, s, "/v1/numbers?filter="+long), 431, message)
	expect(t, get(t, s, "/v1/numbers", "x-note", long), 431, message)
	expect(t, get(t, s, "/v1/numbers?filter="+long[:60<<10]), 200, "numbers")
}

// TestRangesEndAfterTheyStart: a parameter may equal the one that it must not exceed.
func TestRangesEndAfterTheyStart(t *testing.T) {
	s := newServer(t, nil)
	if err := s.Register(rest.Data, rest.Operation{ID: "range", Path: "/v1/range", Answer: reflect.TypeFor[echo](),
		Params: []rest.Param{{Name: "from", Kind: schema.KindInteger, NotAbove: "to"}, {Name: "to", Kind: schema.KindInteger}},
		Handle: func(*rest.Request) (any, error) { return echo{[]string{"done"}}, nil }}); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", "?from=9", "?to=1", "?from=7&to=7", "?from=6&to=7"} {
		expect(t, get(t, s, "/v1/range"+query), 200, "done")
	}
	expect(t, get(t, s, "/v1/range?from=8&to=7"), 400, "from is above to: expected at most as much")
}

// TestAnswersWithoutALine: an answer may be empty, with or without a body, or just a newline.
func TestAnswersWithoutALine(t *testing.T) {
	s := newServer(t, nil)
	raw := func(body string) func(*rest.Request) (any, error) {
		return func(*rest.Request) (any, error) { return rest.Raw{Type: "text/plain", Body: []byte(body)}, nil }
	}
	if err := s.Register(rest.Sim, rest.Operation{ID: "none", Method: http.MethodPost, Path: "/sim/none", Status: http.StatusNoContent, Handle: raw("unsent")},
		rest.Operation{ID: "empty", Path: "/sim/empty", Handle: raw("")}, rest.Operation{ID: "line", Path: "/sim/line", Handle: raw("\n")}); err != nil {
		t.Fatal(err)
	}
	if w := ask(t, s, "POST", "/sim/none", ""); w.Code != 204 || w.Body.Len() > 0 {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	for path, want := range map[string]string{"/sim/empty": "", "/sim/line": "\n"} {
		if w := get(t, s, path); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
}

func TestMethodsAreNamed(t *testing.T) {
	s := newServer(t, nil)
	answer := func(*rest.Request) (any, error) { return echo{}, nil }
	err := s.Register(rest.Data, rest.Operation{ID: "put", Method: http.MethodPut, Path: "/v1/both", Handle: answer}, rest.Operation{ID: "get", Path: "/v1/both", Handle: answer})
	if w := ask(t, s, "DELETE", "/v1/both", ""); err != nil || w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD, PUT, OPTIONS" {
		t.Errorf("%d, allow is %q, %v", w.Code, w.Header().Get("Allow"), err)
	}
	w := ask(t, s, "DELETE", "/v1/numbers", "")
	expect(t, w, 405, `"message":"Cannot DELETE /v1/numbers: allowed are GET, HEAD, OPTIONS","error":"Method Not Allowed"`)
	if allow := w.Header().Get("Allow"); allow != "GET, HEAD, OPTIONS" {
		t.Errorf("allow is %q", allow)
	}
	w = get(t, s, "/v1/operations/transactions:export")
	if expect(t, w, 405, "POST"); w.Header().Get("Allow") != "POST, OPTIONS" {
		t.Errorf("allow is %q", w.Header().Get("Allow"))
	}
	w = ask(t, s, http.MethodOptions, "/v1/numbers", "")
	if w.Code != 204 || w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("options is %d %v", w.Code, w.Header())
	}
	expect(t, ask(t, s, "POST", "/v1/chains/43114/tokens/"+alice+":reindex", ""), 201, alice)
	expect(t, ask(t, s, "POST", "/openapi.json", "{}"), 405, "Cannot POST /openapi.json: allowed are GET, HEAD, OPTIONS")
	for _, path := range []string{"/openapi.json"} {
		w := ask(t, s, http.MethodOptions, path, "")
		if w.Code != 204 || w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("options of %s is %d %v", path, w.Code, w.Header())
		}
		w = ask(t, s, http.MethodOptions, path, "", "Origin", "http://app.example", "Access-Control-Request-Method", "GET",
			"Access-Control-Request-Headers", "x-glacier-api-key")
		if w.Code != 204 || w.Header().Get("Access-Control-Allow-Headers") != "x-glacier-api-key" {
			t.Errorf("preflight of %s is %d %v", path, w.Code, w.Header())
		}
	}
}

// TestUpstreamErrorsAreTheFrameworks: NestJS has no 405, repeats the target as sent, and has its own text for a body that is too large.
func TestUpstreamErrorsAreTheFrameworks(t *testing.T) {
	s := newServer(t, nil)
	expect(t, ask(t, s, "PUT", "/upstream/v1/numbers?a=1", ""), 404, `{"message":"Cannot PUT /upstream/v1/numbers?a=1","error":"Not Found","statusCode":404}`)
	w := get(t, s, "/v1/number", "x-glacier-api-key", "k")
	expect(t, w, 404, `{"message":"Cannot GET /v1/number","error":"Not Found","statusCode":404}`)
	large := strings.Repeat(" ", 1<<20+1)
	expect(t, ask(t, s, "POST", "/upstream/v1/operations/transactions:export", large), 413, `{"message":"request entity too large","error":"Payload Too Large","statusCode":413}`)
}

func TestAccessLog(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, func(o *rest.Options) { o.Log, _ = rest.NewLogger(&log, "json", false) })
	w := get(t, s, "/v1/numbers?rltoken=geheim", "x-request-id", "bad\nid")
	if id := w.Header().Get("x-request-id"); id != "req-1" {
		t.Errorf("request id is %q", id)
	}
	for _, want := range []string{`"id":"req-1"`, `"method":"GET"`, `"path":"/v1/numbers"`, `"operation":"listNumbers"`, `"status":200`, `"took_ms":`, `"dialect":"upstream"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %s: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "geheim") {
		t.Errorf("log tells a key: %s", log.String())
	}
	if _, err := rest.NewLogger(&log, "xml", false); err == nil {
		t.Error("log format xml is accepted")
	}
}
