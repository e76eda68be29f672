// Every response of the server against the live services' own OpenAPI documents.

package handlers_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers"
	"snowglobe/handlers/intercept"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
)

// shape is the part of JSON Schema that the live services' documents use.
type shape struct {
	Ref                  string            `json:"$ref"`
	Type                 any               // a name, or several
	Enum                 []any             // the allowed values
	Properties           map[string]*shape // of an object
	Required             []string
	Items                *shape
	AdditionalProperties *shape
	OneOf, AnyOf, AllOf  []*shape
}

// liveDocument is the part of the live services' OpenAPI documents about responses.
type liveDocument struct {
	Operations map[string]struct {
		Status int
		AnyOf  []string
	}
	Schemas map[string]*shape
}

func readLiveDocument(t *testing.T) *liveDocument {
	t.Helper()
	raw, err := os.ReadFile("testdata/live/openapi.json")
	d := &liveDocument{}
	if err == nil {
		err = json.Unmarshal(raw, d)
	}
	if err != nil || len(d.Operations) < 100 {
		t.Fatal(len(d.Operations), err)
	}
	return d
}

// check returns the difference between a value and its schema, or "".
func (d *liveDocument) check(at string, s *shape, value any) string {
	if s.Ref != "" {
		return d.check(at, d.Schemas[s.Ref], value)
	}
	for _, part := range s.AllOf {
		if problem := d.check(at, part, value); problem != "" {
			return problem
		}
	}
	if any := append(slices.Clone(s.OneOf), s.AnyOf...); len(any) > 0 {
		var problems []string
		for _, part := range any {
			problem := d.check(at, part, value)
			if problem == "" {
				return ""
			}
			problems = append(problems, problem)
		}
		return fmt.Sprintf("%s is none of %d: %s", at, len(any), strings.Join(problems, "; "))
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		return fmt.Sprintf("%s is %v, not among %.200v", at, value, s.Enum)
	}
	types, several := s.Type.([]any)
	if !several && s.Type != nil {
		types = []any{s.Type}
	}
	if kind := kindOf(value); len(types) > 0 && !slices.Contains(types, any(kind)) {
		return fmt.Sprintf("%s is %.60v, no %v", at, value, types)
	}
	return d.checkMembers(at, s, value)
}

func (d *liveDocument) checkMembers(at string, s *shape, value any) string {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, there := value[name]; !there {
				return fmt.Sprintf("%s has no %s", at, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			member := s.Properties[name]
			if member == nil {
				member = s.AdditionalProperties
			}
			if member == nil {
				continue
			}
			if problem := d.check(at+"."+name, member, value[name]); problem != "" {
				return problem
			}
		}
	case []any:
		for i := range value {
			if s.Items == nil {
				break
			}
			if problem := d.check(fmt.Sprintf("%s[%d]", at, i), s.Items, value[i]); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

var errorModels = map[int]string{400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 429: "TooManyRequests", 500: "InternalServerError",
	502: "BadGateway", 503: "ServiceUnavailable"}

// checkAnswer compares an answer of the Data or the Metrics API with the live document.
func (d *liveDocument) checkAnswer(operation string, status int, body []byte) string {
	var value any
	if status >= 400 {
		if err := json.Unmarshal(body, &value); err != nil {
			return err.Error()
		}
		if errorModels[status] == "" {
			return "" // the live documents have no such answer
		}
		return d.check("error", &shape{Ref: errorModels[status]}, value)
	}
	o, known := d.Operations[operation]
	if !known {
		return "the live document does not have it"
	}
	if status != o.Status {
		return fmt.Sprintf("status is %d, the live one is %d", status, o.Status)
	}
	if len(o.AnyOf) == 0 {
		if len(body) > 0 {
			return "it has a body"
		}
		return ""
	}
	if err := json.Unmarshal(body, &value); err != nil {
		return err.Error()
	}
	any := &shape{}
	for _, name := range o.AnyOf {
		any.AnyOf = append(any.AnyOf, &shape{Ref: name})
	}
	return d.check("answer", any, value)
}

// onlyHere lists operations that are in no document of the live services.
var onlyHere = []string{"GET /v1/avg_tps/{chainId}"}

// documented is the server's own document.
type documented struct {
	Paths map[string]map[string]struct {
		OperationID string
		Parameters  []struct {
			Name, In string
			Example  any
		}
		RequestBody *struct {
			Content map[string]struct {
				Examples map[string]struct{ Value any }
			}
		}
	}
}

// shapes sends requests to a server and compares the responses with its own document and with the live one.
type shapes struct {
	*testing.T
	server *handlers.Server
	live   *liveDocument
	names  map[string]string // what path parameters mean, by the start of the path and the parameter
	bodies map[string]string // for operations without a usable example in the document
}

// ask sends a request in the dialect of the live services and returns the body of a success.
func (s *shapes) ask(operation, target, body, fault string, success bool) []byte {
	s.Helper()
	method, template, _ := strings.Cut(operation, " ")
	isLive := !strings.HasPrefix(template, "/sim") && !slices.Contains(onlyHere, operation)
	if isLive {
		target = "/upstream" + target
	}
	r := httptest.NewRequestWithContext(s.Context(), method, target, strings.NewReader(body))
	r.Host = "localhost"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if fault != "" {
		r.Header.Set("X-Sim-Fault", fault)
	}
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	if success != (w.Code < 400) {
		s.Errorf("%s %s %s: %d %.200s", method, target, fault, w.Code, w.Body)
		return nil
	}
	var err error
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		err = s.server.Handler.(*rest.Server).CheckAnswer(r, w.Code, w.Body.Bytes())
	}
	if err != nil {
		s.Errorf("%s %s %s: %v", method, target, fault, err)
	}
	if isLive {
		if problem := s.live.checkAnswer(operation, w.Code, w.Body.Bytes()); problem != "" {
			s.Errorf("%s %s %s: %s", method, target, fault, problem)
		}
	}
	return w.Body.Bytes()
}

// make creates an object for an id in a path and returns a member of it.
func (s *shapes) make(path, body, member string) string {
	s.Helper()
	var made map[string]any
	if err := json.Unmarshal(s.ask("POST "+path, path, body, "", true), &made); err != nil {
		s.Fatal(err)
	}
	return fmt.Sprint(made[member])
}

// fill fills in existing ids in a path.
func (s *shapes) fill(path string, example func(name string) any) string {
	for key, value := range s.names {
		begin, parameter, _ := strings.Cut(key, "{")
		if strings.HasPrefix(path, begin) {
			path = strings.Replace(path, "{"+parameter, value, 1)
		}
	}
	for {
		before, after, more := strings.Cut(path, "{")
		if !more {
			return path
		}
		name, end, _ := strings.Cut(after, "}")
		path = before + url.PathEscape(text(example(name))) + end
	}
}

// TestAnswersHaveTheDocumentedShapes calls every operation for existing and missing objects, and with every kind of error. Every response fits the
// server's own document, and Data and Metrics API responses also fit the live services' documents.
func TestAnswersHaveTheDocumentedShapes(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	proxy, err := intercept.New(intercept.Options{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server, err := handlers.New(w, handlers.Options{Network: "mainnet", Proxy: proxy})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Work(ctx) }() // runs exports
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		server.Close()
	})
	s := &shapes{T: t, server: server, live: readLiveDocument(t), names: map[string]string{}}
	var document documented
	if err := json.Unmarshal([]byte(ask(server, "GET", "/upstream/openapi.json", "")), &document); err != nil || len(document.Paths) < 100 {
		t.Fatal(len(document.Paths), err)
	}
	s.prepare(w)
	last := []string{"DELETE /v1/webhooks/{id}", "DELETE /sim/faults", "POST /sim/snapshots/{id}:revert", "DELETE /sim/snapshots/{id}", "POST /sim/session:back", "POST /sim/reset"} // last, because they undo what the others need
	var operations []string
	for path, verbs := range document.Paths {
		for verb := range verbs {
			if name := strings.ToUpper(verb) + " " + path; path != "/sim/events" && !slices.Contains(last, name) { // the stream goes on until the client leaves
				operations = append(operations, name)
			}
		}
	}
	order := []string{"POST", "GET", "PATCH", "PUT", "DELETE"}
	slices.SortFunc(operations, func(a, b string) int { // the simulator's first, because the journal is short
		x, atX, _ := strings.Cut(a, " ")
		y, atY, _ := strings.Cut(b, " ")
		return cmp.Or(strings.Compare(atX[:3], atY[:3]), slices.Index(order, x)-slices.Index(order, y), strings.Compare(atX, atY))
	})
	operations = append(operations, last...)
	for _, name := range operations {
		verb, path, _ := strings.Cut(name, " ")
		operation := document.Paths[path][strings.ToLower(verb)]
		examples, query := map[string]any{}, url.Values{}
		for _, p := range operation.Parameters {
			if examples[p.Name] = p.Example; p.In == "query" && p.Example != nil {
				query.Set(p.Name, text(p.Example))
			}
		}
		body := s.bodies[name]
		if body == "" && operation.RequestBody != nil {
			for _, e := range operation.RequestBody.Content["application/json"].Examples {
				body = encoded(t, e.Value)
			}
		}
		good := s.fill(path, func(name string) any { return examples[name] })
		if !strings.HasSuffix(path, "{vertexHash}") { // the X-Chain of these worlds has only blocks, no vertices
			s.ask(name, good+"?"+query.Encode(), body, "", true)
		}
		if !strings.HasPrefix(path, "/sim") {
			for status := range errorModels {
				if status != 502 && sampled(4, name, status) { // a gateway's 502 is HTML
					s.ask(name, good, body, fmt.Sprint(status), false)
				}
			}
		}
		if strings.Contains(path, "{") {
			s.ask(name, regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "0x12zz"), body, "", false)
		}
	}
	for name := range s.live.Operations {
		if !slices.Contains(operations, name) {
			t.Errorf("%s is not there", name)
		}
	}
}

// prepare creates the objects whose ids are unknown in advance.
func (s *shapes) prepare(w *sim.World) {
	const pay = `{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","params":[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x1"}]}`
	hook := `{"eventType":"address_activity","url":"http://127.0.0.1:1/","chainId":"43114","metadata":{"addresses":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"]}}`
	made := s.make("/v1/webhooks", hook, "id")
	tx := member(ask(s.server, "POST", "/ext/bc/C/rpc", pay), "result")
	delivery := s.make("/sim/webhooks/"+made+":test", `{"txHash":"`+tx+`"}`, "messageId")
	export := s.make("/v1/operations/transactions:export", `{"type":"TRANSACTION_EXPORT_EVM","firstDate":"2026-10-31","lastDate":"2026-10-31","startDate":"2026-10-31","endDate":"2026-10-31",
		"options":{"addresses":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"],"includeChains":["43114"]}}`, "operationId")
	for range 500 {
		if strings.Contains(ask(s.server, "GET", "/v1/operations/"+export, ""), "COMPLETED") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	var message string
	id := messagesOf(s.T, w, w.Chains[0])[0]
	if problem := callEVM(s.T, s.server, "/ext/bc/C/rpc", "warp_getMessage", &message, id); problem != "" {
		s.Fatal(problem)
	}
	s.bodies = map[string]string{
		"POST /sim/session:back": `{"line":0}`,
		"POST /sim/session:play": `{"session":"mine on C"}`,
		"POST /sim/imports":      `{"content":{"tokens":[]}}`,
		"POST /sim/artifacts":    `{"path":"artifacts/testdata/foundry/out"}`,
		"POST /v1/signatureAggregator/{network}/aggregateSignatures": `{"message":"` + message + `"}`,
		"POST /sim/faults": `{"match":{"operation":"getChain"},"action":{"status":500},"times":{"after":1000}}`,
		"POST /sim/index":  `{"lag":"1s"}`, "POST /sim/node": `{"notBootstrapped":["C"]}`, "POST /sim/webhooks/{id}:test": `{"txHash":"` + tx + `"}`,
		"PATCH /v1/webhooks/{id}": `{"name":"other"}`, "PATCH /v1/webhooks/{id}/addresses": `{"addresses":["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]}`,
		"DELETE /v1/webhooks/{id}/addresses": `{"addresses":["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]}`,
	}
	s.names = map[string]string{
		"/v1/webhooks{id}": made, "/sim/webhooks{id}": made, "/sim/webhooks{messageId}": delivery, "{operationId}": export, "/sim/requests{id}": "1",
		"/sim/faults{id}":    s.make("/sim/faults", s.bodies["POST /sim/faults"], "id"),
		"/sim/snapshots{id}": s.make("/sim/snapshots", `{}`, "id"),
	}
}
