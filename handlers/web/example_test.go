package web_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/seed/seedtest"
)

// described is a method in the OpenRPC document.
type described struct {
	Name, Description, ParamStructure string
	Servers                           []struct{ URL string }
	Examples                          []struct {
		Params []struct {
			Name  string
			Value any
		}
		Result *struct{ Value any }
	}
}

// TestExamplesOfMethods: each method has a response to an example, or a reason for none. A method documented as changing the world must do so.
func TestExamplesOfMethods(t *testing.T) {
	s := serve(t, seedtest.Copy(t, 1))
	var node struct{ Methods []described }
	if err := json.Unmarshal(s.get(t, "/openrpc.json").Body.Bytes(), &node); err != nil {
		t.Fatal(err)
	}
	for _, m := range node.Methods {
		silent := m.Examples[0].Result == nil
		switch {
		case silent != (m.Description != ""):
			t.Errorf("%s has an answer: %v, and says %q of it", m.Name, !silent, m.Description)
		case strings.HasPrefix(m.Description, "It changes the world"):
			s.try(t, &m)
		case strings.HasPrefix(m.Description, "This world has no example"):
			t.Errorf("%s: %s", m.Name, m.Description)
		}
	}
}

// try makes a method's example call. It may be refused only if the transaction was sent before, or should wait to be sent again.
func (s *site) try(t *testing.T, m *described) {
	t.Helper()
	list, members := []any{}, map[string]any{}
	for _, p := range m.Examples[0].Params {
		list, members[p.Name] = append(list, p.Value), p.Value
	}
	call := map[string]any{"jsonrpc": "2.0", "id": 1, "method": m.Name, "params": list}
	if m.ParamStructure == "by-name" {
		call["params"] = members
	}
	body, err := json.Marshal(call)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, m.Servers[0].URL, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = "127.0.0.1:1"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if answer := w.Body.String(); !strings.Contains(answer, `"result":`) && !strings.Contains(answer, "nonce too low") && (m.Name != "eth_resend" || !strings.Contains(answer, " not found")) {
		t.Errorf("the example of %s is answered %.300s", m.Name, answer)
	}
}

// TestPicturesOfPagesAreNoRequests: the journal contains clients' requests, not the ones of the server's own pages.
func TestPicturesOfPagesAreNoRequests(t *testing.T) {
	s := serve(t, seedtest.Copy(t, 1))
	for _, site := range []string{"same-origin", "cross-site"} {
		r := httptest.NewRequest(http.MethodGet, "/sim/logo/AVAX-ae42bf.svg?from="+site, nil)
		r.Header.Set("Sec-Fetch-Dest", "image")
		r.Header.Set("Sec-Fetch-Site", site)
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
	if journal := s.get(t, "/sim/requests").Body.String(); strings.Contains(journal, "from=same-origin") || !strings.Contains(journal, "from=cross-site") {
		t.Errorf("the journal has %s", journal)
	}
}
