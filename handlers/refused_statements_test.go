package handlers_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/verify"
)

// engineWords matches words of the engine, its driver and the schema, which no client may see.
var engineWords = regexp.MustCompile(`(?i)sqlite|\bsql\b|constraint|no such|database|\btable\b|statement|\.db\b|/tmp/|damaged`)

// refusing is a server whose world's file refuses statements.
type refusing struct {
	*testing.T
	w       *sim.World
	h       *handlers.Server
	log     *failures
	refused int
}

// exampleCall is the example of an operation or of a method.
type exampleCall struct{ name, method, target, body string }

// TestFailuresInsideStayInside asks for the example of every REST operation and of every JSON-RPC method while the world's file refuses one statement
// after the other. Each answer is the error of its interface for what failed inside, in none of the engine's words, which the log has, and the world
// is as it was; asked again, the same request is answered.
func TestFailuresInsideStayInside(t *testing.T) {
	t.Parallel()
	r := &refusing{T: t, w: tinyWorld(t), log: &failures{}}
	var err error
	if r.h, err = handlers.New(r.w, handlers.Options{Network: "mainnet", Log: slog.New(r.log)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.h.Close)
	for _, c := range append(exampleOperations(t, r.h), exampleMethods(t, r.h)...) {
		if sampled(4, c.name) {
			r.refuse(c)
		}
	}
	if report, err := verify.Verify(t.Context(), r.w, nil); err != nil {
		t.Errorf("afterwards: %v %v", report, err)
	}
	t.Logf("%d statements refused", r.refused)
	if r.refused < 1000 && !testing.Short() || r.refused < 100 {
		t.Errorf("%d statements refused", r.refused)
	}
}

// refuse asks until every statement that the answer needs was refused once.
func (r *refusing) refuse(c exampleCall) {
	r.Helper()
	var mu sync.Mutex
	seen := map[string]bool{}
	for {
		failed := ""
		r.w.DB.FailStatements(func(text string) bool {
			mu.Lock()
			defer mu.Unlock()
			if failed == "" && !seen[text] {
				failed, seen[text] = text, true
				return true
			}
			return false
		})
		before := r.w.DB.Moment()
		answer := r.ask(c)
		after := r.w.DB.Moment()
		r.w.DB.FailStatements(nil)
		if failed == "" {
			return
		}
		r.refused++
		said := answer.Body.String()
		internal := answer.Code == http.StatusInternalServerError && strings.Contains(said, `"message":"the simulator failed; its log has the cause under request id `) ||
			strings.Contains(said, `"code":-32603`) && strings.Contains(said, "internal error: the simulator's log has the cause")
		if !internal && !expected(c.name, failed) {
			r.Errorf("%s: without %.200s: %d %.300s", c.name, failed, answer.Code, said)
		}
		if found := engineWords.FindString(said); internal && found != "" {
			r.Errorf("%s: without %.200s: it holds %q: %.300s", c.name, failed, found, said)
		}
		if before.Sequence != after.Sequence && internal {
			r.Errorf("%s: without %.200s: the world changed", c.name, failed)
		}
		if lines := r.log.take(); !strings.Contains(strings.Join(lines, "\n"), "this_statement_fails") {
			r.Errorf("%s: without %.200s: the log has %q", c.name, failed, lines)
		}
	}
}

// expected says whether an answer need not be the error for what failed inside.
func expected(call, statement string) bool {
	switch {
	case strings.HasPrefix(statement, "SELECT id FROM operation WHERE status = 'RUNNING'"): // read again by exports that go on after the world went back
		return true
	case strings.HasPrefix(statement, "SELECT "): // read again until what is in memory follows a world that went back
		if strings.Contains(strings.ToLower(call), "reset") {
			return true
		}
	}
	switch {
	case strings.HasPrefix(statement, "SELECT asset, time, uri, status, document FROM nft_reindex"): // what was found when an item was read again stays away
		return call == "listTransactionsV2"
	case strings.Contains(statement, "FROM blockchain WHERE hash"): // who serves a path is looked up again by who serves it
		return call == "validators.getCurrentValidators"
	}
	return slices.Contains([]string{"checkHealth", "healthCheck", "liveCheck", "metricsHealthCheck", "health.health"}, call) // they tell of it
}

func (r *refusing) ask(c exampleCall) *httptest.ResponseRecorder {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	request := httptest.NewRequestWithContext(ctx, c.method, c.target, strings.NewReader(c.body))
	request.Host, request.RemoteAddr = "localhost", "127.0.0.1:1"
	request.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	r.h.ServeHTTP(w, request)
	if ctx.Err() != nil {
		r.Errorf("%s: it hangs", c.name)
	}
	return w
}

// take are the lines of the log, which has none afterwards.
func (f *failures) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := f.lines
	f.lines = nil
	return lines
}

// exampleOperations are the examples of the OpenAPI document, without streams that do not end.
func exampleOperations(t *testing.T, h http.Handler) (all []exampleCall) {
	type content map[string]struct {
		Examples map[string]struct{ Value any }
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []struct {
				Name, In string
				Example  any
			}
			RequestBody struct{ Content content }
			Responses   map[string]struct{ Content content }
		}
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/openapi.json", "")), &document); err != nil || len(document.Paths) < 100 {
		t.Fatal(len(document.Paths), err)
	}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			o := document.Paths[path][method]
			if _, endless := o.Responses["200"].Content["text/event-stream"]; endless {
				continue
			}
			target, query := path, url.Values{}
			for _, p := range o.Parameters {
				switch {
				case p.In == "path":
					target = strings.Replace(target, "{"+p.Name+"}", url.PathEscape(text(p.Example)), 1)
				case p.Example != nil:
					query.Set(p.Name, text(p.Example))
				}
			}
			c := exampleCall{o.OperationID, strings.ToUpper(method), target + "?" + query.Encode(), ""}
			for _, e := range o.RequestBody.Content["application/json"].Examples {
				c.body = text(e.Value)
			}
			all = append(all, c)
		}
	}
	return all
}

// exampleMethods are the examples of the OpenRPC document.
func exampleMethods(t *testing.T, h http.Handler) (all []exampleCall) {
	var document struct {
		Methods []struct {
			Name, ParamStructure string
			Servers              []struct{ Name string }
			Examples             []struct {
				Params []struct {
					Name  string
					Value any
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/openrpc.json", "")), &document); err != nil || len(document.Methods) < 200 {
		t.Fatal(len(document.Methods), err)
	}
	for _, m := range document.Methods {
		if len(m.Examples) == 0 {
			continue
		}
		listed, named := []any{}, map[string]any{}
		for _, p := range m.Examples[0].Params {
			listed, named[p.Name] = append(listed, p.Value), p.Value
		}
		var params any = listed
		if m.ParamStructure == "by-name" {
			params = named
		}
		all = append(all, exampleCall{m.Name, http.MethodPost, m.Servers[0].Name, text(map[string]any{"jsonrpc": "2.0", "id": 1, "method": m.Name, "params": params})})
	}
	return all
}
