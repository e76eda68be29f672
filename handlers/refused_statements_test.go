// A server whose database refuses statements: every operation and method answers in its own words.

package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/verify"
)

// engineWords matches words of the engine, its driver and the schema, which no client may see.
var engineWords = regexp.MustCompile(`(?i)sqlite|\bsql\b|constraint|no such|database|\btable\b|statement|\.db\b|/tmp/|damaged`)

// refusing is a server whose world's file refuses statements, beside an intact server of the same world.
type refusing struct {
	*testing.T
	w, calmWorld *sim.World
	h, calm      *handlers.Server
	log          *failures
	asked        int
	refused      int
}

// exampleCall is the example of an operation or of a method.
type exampleCall struct{ name, method, target, body string }

// examplePair is a call to the failing server, and the same call to the intact one: filters have different ids there.
type examplePair struct {
	exampleCall
	calm exampleCall
}

// TestFailuresInsideStayInside requests the example of every REST operation and every JSON-RPC method while the world's file refuses one statement
// after another. Each answer is the interface's own error for internal failures, without the engine's words, which are in the log. The world stays as
// it was, and the same request afterwards is answered as if nothing had happened.
func TestFailuresInsideStayInside(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	calm := append(exampleOperations(t, r.calm), exampleMethods(t, r.calm)...)
	for i, c := range append(exampleOperations(t, r.h), exampleMethods(t, r.h)...) {
		if sampled(8, c.name) {
			r.refuse(examplePair{c, calm[i]})
		}
	}
	for _, c := range callsOfFuji(r.w) {
		r.refuse(examplePair{c, c})
	}
	if report, err := verify.Verify(t.Context(), r.w, nil); err != nil {
		t.Errorf("afterwards: %v %v", report, err)
	}
	t.Logf("%d statements refused", r.refused)
	if r.refused < 1000 && !testing.Short() || r.refused < 50 {
		t.Errorf("%d statements refused", r.refused)
	}
}

func newRefusing(t *testing.T) *refusing {
	r := &refusing{T: t, w: tinyWorld(t), calmWorld: tinyWorld(t), log: &failures{}}
	r.h, r.calm = r.serve(r.w, slog.New(r.log)), r.serve(r.calmWorld, nil)
	return r
}

func (r *refusing) serve(w *sim.World, log *slog.Logger) *handlers.Server {
	r.Helper()
	h, err := handlers.New(w, handlers.Options{Network: "mainnet", Log: log})
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(h.Close)
	return h
}

// mostTimes bounds how often a repeated statement is refused.
const mostTimes = 5

// inSteps lists calls that change the world in several steps: earlier steps stay if a later one fails, such as mining several blocks.
var inSteps = []string{"anvil_mine", "hardhat_mine"}

// sending lists calls that make a block and then read it: the block stays even if it cannot be read.
var sending = []string{"eth_sendTransactionSync", "anvil_mine_detailed", "evm_mine_detailed"}

// refuse repeats a request until every statement that it needs has been refused once each time it runs.
func (r *refusing) refuse(c examplePair) {
	r.Helper()
	var mu sync.Mutex
	seen := map[string]bool{}
	times := mostTimes
	if slices.Contains(inSteps, c.name) {
		times = 1
	}
	for {
		r.asked++
		failed, counts := "", map[string]int{}
		r.w.DB.FailStatements(func(text string) bool {
			mu.Lock()
			defer mu.Unlock()
			counts[text] = min(counts[text]+1, times)
			name := fmt.Sprint(counts[text], " ", text)
			if failed == "" && !seen[name] {
				failed, seen[name] = text, true
				return true
			}
			return false
		})
		before := r.w.DB.LastCommit()
		answer := r.ask(r.h, r.w, c.exampleCall)
		after := r.w.DB.LastCommit()
		r.w.DB.FailStatements(nil)
		if failed == "" {
			r.compare(c, failed, answer)
			return
		}
		r.refused++
		said, lines := answer.Body.String(), strings.Join(r.log.take(), "\n")
		internal := answer.Code == http.StatusInternalServerError && strings.Contains(said, `"message":"the simulator failed; its log has the cause under request id `) ||
			strings.Contains(said, `"code":-32603`) && strings.Contains(said, "internal error: the simulator's log has the cause")
		says, may := tolerated(c.name, failed)
		switch {
		case internal && before.Sequence != after.Sequence && slices.Contains(sending, c.name):
			r.ask(r.calm, r.calmWorld, c.calm) // so that both servers have it
		case internal && before.Sequence != after.Sequence:
			r.Errorf("%s: without %.200s: the world changed", c.name, failed)
		case !internal && !may:
			r.Errorf("%s: without %.200s: %d %.300s", c.name, failed, answer.Code, said)
		case !strings.Contains(said, says):
			r.Errorf("%s: without %.200s: %d %.300s, want %s", c.name, failed, answer.Code, said, says)
		}
		if found := engineWords.FindString(strings.ReplaceAll(said, `"database":`, "")); (internal || says != "") && found != "" {
			r.Errorf("%s: without %.200s: it holds %q: %.300s", c.name, failed, found, said)
		}
		if !strings.Contains(lines, "cause=") || !strings.Contains(lines, "this_statement_fails") {
			r.Errorf("%s: without %.200s: the log has %q", c.name, failed, lines)
		}
		if internal || says != "" {
			answer = r.ask(r.h, r.w, c.exampleCall)
		}
		r.compare(c, failed, answer)
	}
}

// changing matches differences between servers that otherwise respond alike: random values and durations.
var changing = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|"result":"0x[0-9a-f]{20,32}"|"secret":"[0-9a-f]{64}"|"result":\d{13}\b|"duration":\d+`)

// tellsOfRequests lists calls that report earlier requests; the failing server has more of them.
var tellsOfRequests = []string{"getApiLogs", "getApiUsageMetrics", "getRequest", "deleteRequests"}

// compare asks the intact server, too, and expects the same response.
func (r *refusing) compare(c examplePair, failed string, got *httptest.ResponseRecorder) {
	r.Helper()
	want := r.ask(r.calm, r.calmWorld, c.calm)
	if slices.Contains(tellsOfRequests, c.name) {
		return
	}
	if got.Code == want.Code && bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
		return
	}
	plain := func(w *httptest.ResponseRecorder) string { return changing.ReplaceAllString(w.Body.String(), "…") }
	if g, w := plain(got), plain(want); got.Code != want.Code || g != w {
		at := 0
		for at < min(len(g), len(w)) && g[at] == w[at] {
			at++
		}
		r.Errorf("%s: after a failure of %.200s: %d …%.300s\nwant %d …%.300s", c.name, failed, got.Code, g[max(0, at-80):], want.Code, w[max(0, at-80):])
	}
}

// toleratedFailures lists the statements whose failure a call may survive.
var toleratedFailures = []struct {
	why        string
	calls      []string
	statements []string
	says       string // part of the answer; empty if the answer must be as if nothing had happened
}{
	{
		why:        "after going back, exports look for what is unfinished again until they can read it",
		calls:      []string{"resetWorld", "anvil_reset", "hardhat_reset", "revertToSnapshot", "anvil_revert", "evm_revert", "anvil_rollback", "anvil_reorg"},
		statements: []string{"SELECT id FROM operation WHERE status = 'RUNNING'"},
	},
	{
		why:   "after the file was reset, what is in memory must follow: the clock and the chains' heads are read until they can be",
		calls: []string{"resetWorld", "anvil_reset", "hardhat_reset"},
		statements: []string{"SELECT generator, seed, profile, shape, until, clock, started, base, digest FROM meta ", "SELECT id FROM chain ", "SELECT id FROM primary_network ", "SELECT id, hash, time, txs, all_txs, gas_used, fees, header, ext_data, execution, digest FROM block ",
			"SELECT chain, block, sequence, kind, address, key, value, owner, root, digest FROM state_change", "SELECT id, hash, parent, time, type, txs, all_txs, size, head, "},
	},
	{
		why:        "health is the answer to whether the file can be read",
		calls:      []string{"checkHealth", "healthCheck", "liveCheck", "metricsHealthCheck"},
		statements: []string{"SELECT generator, seed, profile, shape, until, clock, started, base, digest FROM meta "},
		says:       `"statusCode":503`,
	},
	{
		why:        "so it is at the node, which also tells the heights of its chains",
		calls:      []string{"health.health"},
		statements: []string{"SELECT generator, seed, profile, shape, until, clock, started, base, digest FROM meta ", "SELECT id, hash, parent, time, type, txs, all_txs, size, head, "},
		says:       `"healthy":false`,
	},
}

// tolerated reports whether a call may succeed without a statement, and the expected part of its response.
func tolerated(call, statement string) (says string, may bool) {
	for _, t := range toleratedFailures {
		if slices.Contains(t.calls, call) && slices.ContainsFunc(t.statements, func(begin string) bool { return strings.HasPrefix(statement, begin) }) {
			return t.says, true
		}
	}
	return "", false
}

// ask sends the call without help from earlier ones: no caches, and a unique host name.
func (r *refusing) ask(h http.Handler, world *sim.World, c exampleCall) *httptest.ResponseRecorder {
	r.Helper()
	world.DB.Caches().Suspend()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	request := httptest.NewRequestWithContext(ctx, c.method, c.target, strings.NewReader(c.body))
	request.Host, request.RemoteAddr = fmt.Sprintf("localhost:%d", 10_000+r.asked), "127.0.0.1:1"
	request.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request)
	if ctx.Err() != nil {
		r.Errorf("%s: it hangs", c.name)
	}
	return w
}

// take returns and clears the lines of the log.
func (f *failures) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := f.lines
	f.lines = nil
	return lines
}

// exampleOperations returns the examples of the OpenAPI document, without endless streams.
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

// exampleMethods returns the examples of the OpenRPC document.
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

// callsOfFuji lists calls to the other network's chains whose paths contain only the chain's id, so that the network must be looked up.
func callsOfFuji(w *sim.World) (all []exampleCall) {
	for _, c := range w.Chains {
		if c.Row.Network == "fuji" {
			path := "/ext/bc/" + ids.ID(c.Row.BlockchainID).String()
			all = append(all, exampleCall{"validators of fuji", http.MethodPost, path + "/validators", `{"jsonrpc":"2.0","id":1,"method":"validators.getCurrentValidators","params":{}}`},
				exampleCall{"chain id of fuji", http.MethodPost, path + "/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`})
		}
	}
	return all
}
