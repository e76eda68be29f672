// Every method of a server's node: which of them a page of another origin may call, and which a world that is only read refuses.

package handlers_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/sim/store"
)

// nodeEndpoints lists the paths of the node with their methods, each once.
func nodeEndpoints(t *testing.T, h *handlers.Server) (all []rest.Endpoint) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/sim/world", nil))
	var world struct{ Endpoints []rest.Endpoint }
	if err := json.Unmarshal(w.Body.Bytes(), &world); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range world.Endpoints {
		key := strings.Join(e.Operations, " ")
		if e.Interface == "node" && slices.Contains(e.Methods, http.MethodPost) && !seen[key] && !strings.Contains(e.Paths[0], "{") {
			seen[key] = true
			all = append(all, e)
		}
	}
	if len(all) < 5 {
		t.Fatalf("only %d endpoints of the node", len(all))
	}
	return all
}

// TestEveryMethodHasItsClass: a page of another origin is refused every method that changes the world, with the right error, so that a new method
// cannot slip through.
func TestEveryMethodHasItsClass(t *testing.T) {
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet", Node: handlers.NodeOptions{Admin: true, Profiles: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "https://evil.example")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	suspicious := []string{"send", "sign", "set", "add", "mine", "drop", "remove", "issue", "alias", "start", "stop", "lock", "load", "impersonate", "revert", "snapshot", "reset", "increase"}
	for _, e := range nodeEndpoints(t, h) {
		for _, method := range e.Operations {
			_, name, _ := strings.Cut(strings.ReplaceAll(method, ".", "_"), "_")
			changes := slices.ContainsFunc(suspicious, func(verb string) bool { return strings.HasPrefix(name, verb) })
			class := permit.Of(method)
			if changes && class == permit.Read && method != "wallet_addEthereumChain" { // it only checks
				t.Errorf("%s only reads, by its class", method)
			}
			w := ask(e.Paths[0], `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
			if refused := strings.Contains(w.Body.String(), "--allow-origin"); refused != (class == permit.Control) || w.Code != 200 {
				t.Errorf("%s of class %d: %d %.200s", method, class, w.Code, w.Body)
			}
		}
	}
	if w := ask("/v1/operations/transactions:export", `{}`); w.Code != 403 || !strings.Contains(w.Body.String(), `"statusCode":403`) {
		t.Errorf("an export: %d %s", w.Code, w.Body)
	}
	for origin, status := range map[string]int{"http://localhost": 415, "": 400} { // a body without a content type
		r := httptest.NewRequest(http.MethodPost, "/v1/operations/transactions:export", strings.NewReader(`{}`))
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != status {
			t.Errorf("an export of origin %q without a content type: %d %s", origin, w.Code, w.Body)
		}
	}
}

// TestNoMethodControlsAReadOnlyWorld calls every method by which test clients control a chain, and moves the clock, on a read-only world. None may affect
// this process's responses, because other processes serve the same file.
func TestNoMethodControlsAReadOnlyWorld(t *testing.T) {
	t.Parallel()
	w := readOnlyWorld(t)
	h := surfaceOf(t, w)
	var document struct {
		Methods []struct {
			Name     string
			Servers  []struct{ Name string }
			Examples []struct{ Params []struct{ Value any } }
		}
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/openrpc.json", "")), &document); err != nil {
		t.Fatal(err)
	}
	signing := regexp.MustCompile(`_(accounts|requestAccounts|pendingTransactions|fillTransaction|sign.*)$`) // these change nothing
	called := 0
	for _, m := range document.Methods {
		if !regexp.MustCompile(`^(evm|anvil|hardhat|tenderly)_`).MatchString(m.Name) || permit.Of(m.Name) != permit.Control || signing.MatchString(m.Name) {
			continue
		}
		called++
		params := []any{}
		for _, p := range m.Examples[0].Params {
			params = append(params, p.Value)
		}
		answer := ask(h, "POST", m.Servers[0].Name, `{"jsonrpc":"2.0","id":1,"method":"`+m.Name+`","params":`+encoded(t, params)+`}`)
		unsupported := strings.Contains(answer, `"code":-32004`) || strings.HasSuffix(m.Name, "_setLoggingEnabled") // affects no world
		if !unsupported && !strings.Contains(answer, store.ErrReadOnly.Error()) {
			t.Errorf("%s: %s", m.Name, answer)
		}
	}
	if called < 50 {
		t.Errorf("%d methods were called", called)
	}
	for _, body := range []string{`{"advance":"1h"}`, `{"advance":"1h","wait":false}`, `{"set":"2026-08-01T00:00:00Z"}`, `{"rate":1000}`, `{"freeze":true}`} {
		if answer := ask(h, "POST", "/sim/clock", body); !strings.Contains(answer, store.ErrReadOnly.Error()) {
			t.Errorf("%s: %s", body, answer)
		}
	}
}
