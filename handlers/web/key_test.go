package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/rest"
)

// visit requests a path at a host, with headers in pairs.
func visit(h http.Handler, host, path string, headers ...string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	h.ServeHTTP(w, r)
	return w
}

// TestPagesShowNothingThatTheInterfacesRefuse visits a server that requires API keys, without one, with an unknown one, with one that may not see
// everything, and by a name that the node does not know.
func TestPagesShowNothingThatTheInterfacesRefuse(t *testing.T) {
	s := open(t)
	keys, err := rest.ReadKeys([]byte("[{key: 'all; of it'}, {key: of-fuji, networks: [fuji]}]"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := handlers.New(s.world, handlers.Options{Network: "mainnet", Keys: keys, RequireKey: true, Node: handlers.NodeOptions{Hosts: []string{"localhost"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const chain, contract = "/sim/explorer/43114", "/sim/explorer/43114/address/0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E/contract"
	for _, c := range []struct {
		host, path string
		headers    []string
		status     int
		shows      string
	}{
		{"localhost", "/requests", nil, 200, "Journal"},
		{"localhost", "/", nil, 401, "an API key is required"},
		{"localhost", chain, nil, 401, `name="rltoken"`},
		{"localhost", chain, []string{"X-Service-Api-Key", "guessed"}, 401, "the API key is not known"},
		{"localhost", chain, []string{"X-Glacier-Api-Key", "all; of it"}, 200, "Latest blocks"},
		{"localhost", chain, []string{"X-Service-Api-Key", "of-fuji"}, 403, "only for fuji"},
		{"localhost", "/sim/explorer/43113", []string{"X-Service-Api-Key", "of-fuji"}, 200, "Latest blocks"},
		{"127.0.0.1:9650", contract, []string{"X-Service-Api-Key", "all; of it"}, 200, "balanceOf(address)"},
		{"fuji.localhost", contract, []string{"X-Service-Api-Key", "all; of it"}, 200, "balanceOf(address)"},
		{"evil.example", contract, []string{"X-Service-Api-Key", "all; of it"}, 403, "does not answer at evil.example"},
	} {
		if w := visit(h, c.host, c.path, c.headers...); w.Code != c.status || !strings.Contains(w.Body.String(), c.shows) {
			t.Errorf("%s%s with %v is %d and does not show %q", c.host, c.path, c.headers, w.Code, c.shows)
		}
	}
	led := visit(h, "localhost", chain+"?part=x&rltoken=all%3B+of+it")
	cookies := led.Result().Cookies()
	if led.Code != http.StatusFound || led.Header().Get("Location") != chain+"?part=x" || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].Path != "/" {
		t.Fatalf("%d, %v", led.Code, led.Header())
	}
	if w := visit(h, "localhost", chain, "Cookie", cookies[0].Name+"="+cookies[0].Value); w.Code != http.StatusOK {
		t.Errorf("with the cookie: %d", w.Code)
	}
	if w := visit(h, "localhost", "/v1/chains", "Cookie", cookies[0].Name+"="+cookies[0].Value); w.Code != http.StatusUnauthorized {
		t.Errorf("the cookie opens the Data API: %d", w.Code)
	}
}
