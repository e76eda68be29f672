// Core's proxy adds a prefix to the Data API's paths, and headers of its own.

package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/rest"
)

func TestCoresProxy(t *testing.T) {
	keys, err := rest.ReadKeys([]byte("- key: core-key\n"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet", Keys: keys, RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const balance = "/v1/chains/43114/addresses/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266/balances:getNative?currency=usd"
	for _, c := range []struct {
		path, header, value string
		status              int
		want                string
	}{
		{balance, "", "", http.StatusUnauthorized, ""},
		{"/proxy/glacier" + balance, "", "", http.StatusUnauthorized, ""},
		{balance, "X-Core-Api-Key", "core-key", http.StatusOK, `"value":"`},
		{balance, "X-Core-Api-Key", "another", http.StatusUnauthorized, ""},
		{"/proxy/glacier" + balance, "X-Core-Api-Key", "core-key", http.StatusOK, `"value":2`}, // a number, as the live service answers
		{"/v1/proxy/glacier" + balance, "X-Core-Api-Key", "core-key", http.StatusOK, `"value":2`},
		{"/proxy/glacier" + balance, "X-Firebase-AppCheck", "token", http.StatusOK, `"value":2`},
		{balance, "X-Firebase-AppCheck", "token", http.StatusUnauthorized, ""},
		{"/proxy/glacier/v1/chains/43114", "X-Core-Api-Key", "core-key", http.StatusOK, `"rpcUrl":"http://example.com/ext/bc/`},
		{"/proxy/glaciers/v1/chains/43114", "X-Core-Api-Key", "core-key", http.StatusNotFound, ""},
		{"/proxy/glacier", "X-Core-Api-Key", "core-key", http.StatusNotFound, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s: %s: %d %s", c.header, c.value, c.path, w.Code, w.Body)
		}
	}
}
