// Wrong values of every parameter of every operation and method, through the front door.

package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"snowglobe/handlers"
)

// wrong lists values that no parameter can have, or few.
var wrong = []any{
	nil, true, "", " ", "x", "null", "-1", "0", "0x", "0xzz", "1e9", "NaN", "9223372036854775808", "99999999999999999999999999999999", -1, 1.5, 1e300,
	"0x" + strings.Repeat("f", 64), "0x" + strings.Repeat("0", 41), strings.Repeat("a", 3000), "\x00", "\u202e", "%s%n", "../../etc/passwd", "';--", "1111111111111111111111", "P-avax1",
	"2026-13-45T99:99:99Z", []any{}, []any{[]any{[]any{}}}, map[string]any{}, map[string]any{"": nil}, []any{nil, 1, "x", map[string]any{}},
}

// sampled reports whether a case belongs to a short run: one in so many, always the same ones.
func sampled(every uint32, parts ...any) bool {
	if !testing.Short() {
		return true
	}
	h := fnv.New32a()
	fmt.Fprint(h, parts...)
	return h.Sum32()%every == 0
}

// failures collects the internal failures that a server logs.
type failures struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (f *failures) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }
func (f *failures) WithAttrs([]slog.Attr) slog.Handler           { return f }
func (f *failures) WithGroup(string) slog.Handler                { return f }
func (f *failures) Handle(_ context.Context, r slog.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	f.lines = append(f.lines, line)
	return nil
}

// negatives sends requests that a server must refuse or answer without an internal failure.
type negatives struct {
	*testing.T
	h      http.Handler
	failed *failures
	asked  int
}

func newNegatives(t *testing.T) *negatives {
	failed := &failures{}
	h, err := handlers.New(tinyWorld(t), handlers.Options{Network: "mainnet", Log: slog.New(failed)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return &negatives{T: t, h: h, failed: failed}
}

// ask sends a request, and reports whether the server accepted it.
func (r *negatives) ask(method, target, body string) bool {
	r.Helper()
	r.asked++
	patience, stream := 2*time.Minute, strings.HasPrefix(target, "/sim/events") // the stream goes on until the client leaves
	if stream {
		patience = 20 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	request := httptest.NewRequestWithContext(ctx, method, "/", strings.NewReader(body))
	path, query, _ := strings.Cut(target, "?")
	request.URL = &url.URL{Path: path, RawQuery: query}
	if unescaped, err := url.PathUnescape(path); err == nil {
		request.URL.Path, request.URL.RawPath = unescaped, path
	}
	request.RequestURI, request.Host = target, "localhost"
	request.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	r.h.ServeHTTP(w, request)
	failed := r.failed.lines
	r.failed.lines = nil
	if w.Code >= 500 || len(failed) > 0 || ctx.Err() != nil && !stream {
		r.Errorf("%s %.300s %.300s: %d %.300s; the log has %.600q", method, target, body, w.Code, w.Body, failed)
		return false
	}
	return true
}

// withoutMember returns an object without a member.
func withoutMember(object map[string]any, name string) map[string]any {
	rest := maps.Clone(object)
	delete(rest, name)
	return rest
}

func withMember(object map[string]any, name string, value any) map[string]any {
	rest := maps.Clone(object)
	rest[name] = value
	return rest
}

func encoded(t *testing.T, value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wrongBodies returns variants of a body: each member wrong, missing or duplicated, and a body that is not an object.
func wrongBodies(t *testing.T, example any) (all []string) {
	all = []string{"", "{", "nul", "[]", "1", `""`, "null", "{}", `{"":{}}`, strings.Repeat(`{"a":[`, 2000), `{"a":1e999}`, "\xff\xfe", "{}{}"}
	object, ok := example.(map[string]any)
	if !ok {
		return all
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		all = append(all, encoded(t, withoutMember(object, name)))
		key := encoded(t, name)
		all = append(all, strings.TrimSuffix(encoded(t, object), "}")+`,`+key+`:`+encoded(t, object[name])+"}")
		for _, value := range wrong {
			all = append(all, encoded(t, withMember(object, name, value)))
		}
		if inner, ok := object[name].(map[string]any); ok {
			for _, member := range slices.Sorted(maps.Keys(inner)) {
				for _, value := range wrong {
					all = append(all, encoded(t, withMember(object, name, withMember(inner, member, value))))
				}
			}
		}
	}
	return all
}

// TestRESTRefusesWhatIsWrong calls every operation of the OpenAPI document with wrong, missing, duplicate and extreme parameters and bodies.
// None may fail internally.
func TestRESTRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	r := newNegatives(t)
	type parameter struct {
		Name, In string
		Example  any
	}
	var document struct {
		Paths map[string]map[string]struct {
			Parameters  []parameter
			RequestBody *struct {
				Content map[string]struct {
					Examples map[string]struct{ Value any }
					Schema   struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(ask(r.h, "GET", "/openapi.json", "")), &document); err != nil || len(document.Paths) < 100 {
		t.Fatal(len(document.Paths), err)
	}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			operation, verb := document.Paths[path][method], strings.ToUpper(method)
			good := path
			for _, p := range operation.Parameters {
				if p.In == "path" {
					good = strings.Replace(good, "{"+p.Name+"}", url.PathEscape(text(p.Example)), 1)
				}
			}
			body := ""
			var example any
			if operation.RequestBody != nil {
				content := operation.RequestBody.Content["application/json"]
				members := map[string]any{} // the members that a body may have, where the document has no example
				for name := range document.Components.Schemas[strings.TrimPrefix(content.Schema.Ref, "#/components/schemas/")].Properties {
					members[name] = nil
				}
				example = members
				for _, e := range content.Examples {
					example = e.Value
				}
				if body = encoded(t, example); len(members) == 0 {
					t.Errorf("%s %s: the schema of its body has no members", verb, path)
				}
			}
			for _, p := range operation.Parameters {
				for _, value := range wrong {
					if !sampled(40, verb, path, p.Name, value) {
						continue
					}
					if p.In == "path" {
						bad := strings.Replace(path, "{"+p.Name+"}", url.PathEscape(text(value)), 1)
						for _, q := range operation.Parameters {
							bad = strings.Replace(bad, "{"+q.Name+"}", url.PathEscape(text(q.Example)), 1)
						}
						r.ask(verb, bad, body)
						continue
					}
					query := url.Values{p.Name: {text(value)}}.Encode()
					r.ask(verb, good+"?"+query, body)
					r.ask(verb, good+"?"+query+"&"+query, body)
				}
			}
			for i, bad := range wrongBodies(t, example) {
				if operation.RequestBody != nil && sampled(40, verb, path, i) {
					r.ask(verb, good, bad)
				}
			}
			if sampled(4, verb, path) {
				r.ask(verb, good+"?%zz=%&=&;", body)
			}
		}
	}
	t.Logf("%d requests", r.asked)
}

// text returns a value in the form of a parameter.
func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	if list, ok := value.([]any); ok { // in a URL, commas separate its elements
		elements := make([]string, len(list))
		for i, e := range list {
			elements[i] = text(e)
		}
		return strings.Join(elements, ",")
	}
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(value) // examples are always JSON
	return strings.TrimSpace(b.String())
}

// TestJSONRPCRefusesWhatIsWrong calls every method of the OpenRPC document with wrong, missing, surplus, duplicate and extreme parameters, by name
// and by position. None may fail internally.
func TestJSONRPCRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	r := newNegatives(t)
	var document struct {
		Methods []struct {
			Name     string
			Servers  []struct{ Name string }
			Params   []struct{ Name string }
			Examples []struct {
				Params []struct {
					Name  string
					Value any
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(ask(r.h, "GET", "/openrpc.json", "")), &document); err != nil || len(document.Methods) < 200 {
		t.Fatal(len(document.Methods), err)
	}
	for _, m := range document.Methods {
		named, listed := map[string]any{}, []any{}
		if len(m.Examples) > 0 {
			for _, p := range m.Examples[0].Params {
				named[p.Name] = p.Value
				listed = append(listed, p.Value)
			}
		}
		params := wrongBodies(t, named)
		for i := range max(len(m.Params), 1) {
			for _, value := range wrong {
				bad := append([]any{}, listed...)
				for len(bad) <= i {
					bad = append(bad, nil)
				}
				bad[i] = value
				params = append(params, encoded(t, bad))
				if i < len(m.Params) {
					params = append(params, encoded(t, withMember(named, m.Params[i].Name, value)))
				}
			}
			params = append(params, encoded(t, listed[:min(i, len(listed))]))
		}
		params = append(params, encoded(t, append(append([]any{}, listed...), wrong...)))
		for i, p := range params {
			if sampled(200, m.Name, i) {
				r.ask("POST", m.Servers[0].Name, `{"jsonrpc":"2.0","id":1,"method":"`+m.Name+`","params":`+p+`}`)
			}
		}
	}
	for _, path := range []string{"/ext/bc/C/rpc", "/ext/bc/P", "/ext/bc/X", "/ext/info", "/ext/health", "/ext/index/P/block", "/ext/bc/C/avax"} {
		for _, body := range append(wrongBodies(t, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []any{}}), "[[]]", "[1,2]", "["+strings.Repeat(`{},`, 200)+"{}]") {
			r.ask("POST", path, body)
		}
	}
	t.Logf("%d requests", r.asked)
}
