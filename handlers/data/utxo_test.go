package data_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/sim/primary"
)

// owner is a persona's address on a network.
func owner(t testing.TB, g *globe, network, name string) string {
	t.Helper()
	personas, err := g.DB.Personas(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	rules := primary.Mainnet
	if network == "fuji" {
		rules = primary.Fuji
	}
	for _, p := range personas {
		if p.Name == name {
			key, err := primary.KeyFromBytes(p.Key)
			if err != nil {
				t.Fatal(err)
			}
			return rules.Bech32(key.Address())
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// post sends a body and compares the answer with the document.
func (g *globe) post(t testing.TB, path, body string, status int) object {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, r)
	if w.Code != status {
		t.Fatalf("POST %s %s is %d %s: want %d", path, body, w.Code, w.Body, status)
	}
	if err := g.server.CheckAnswer(r, w.Code, w.Body.Bytes()); err != nil {
		t.Fatalf("POST %s: %v", path, err)
	}
	var o object
	decoder := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}
