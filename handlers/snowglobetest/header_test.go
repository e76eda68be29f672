package snowglobetest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"snowglobe/handlers/snowglobetest"
)

// TestNoAnswerIsSniffed: every response, of every status, tells browsers not to guess its content type.
func TestNoAnswerIsSniffed(t *testing.T) {
	s := snowglobetest.Run(t)
	var document struct{ Paths map[string]map[string]any }
	answer, err := http.Get(s.URL + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil || len(document.Paths) < 50 {
		t.Fatal(len(document.Paths), err)
	}
	paths := []string{
		"/", "/docs", "/docs/nothing", "/requests", "/openapi.json", "/nothing", "/v1/nothing", "/w/nothing/v1/chains", "/w/nothing/ext/bc/C/rpc", "/w/main/v1/chains", "/w/", "/upstream/v1/nothing",
		"/v1/ext/bc/43114/rpc", "/v1/ext/bc/nothing/rpc", "/v1/ext/bc/43114/nothing", "/ext/bc/C/rpc", "/ext/bc/C/ws", "/ext/bc/nothing", "/ext/bc/P", "/ext/info", "/ext/health", "/ext/metrics", "/ext/nothing",
		"/mainnet/ext/info", "/fuji/ext/bc/C/rpc", "/sim/logo/none.svg", "//v1//chains", "/%2e%2e/etc",
	}
	for path := range document.Paths {
		paths = append(paths, strings.NewReplacer("{", "", "}", "").Replace(path))
	}
	for _, path := range paths {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodPost} {
			if strings.HasPrefix(path, "/sim/events") || method == http.MethodPost && strings.HasPrefix(path, "/sim/") {
				continue // a stream does not end, and the world must stay
			}
			r, err := http.NewRequest(method, s.URL+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_nothing"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: %s without nosniff", method, path, answer.Status)
			}
		}
	}
}
