package control_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
)

// server serves operations on a world.
type server struct {
	*testing.T
	world *sim.World
	rest  *rest.Server
}

func serve(t *testing.T, w *sim.World, rule permit.Rule, register func(*rest.Server) error) *server {
	t.Helper()
	s, err := rest.New(rest.Options{Alias: w.Alias, Clock: w.Clock, Revision: w.Revision, WorldKey: w.Identity(), Permit: &rule})
	if err == nil {
		err = register(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &server{t, w, s}
}

// ask sends a request with headers, a client's address as Remote among them, and returns the status and the body.
func (s *server) ask(method, path, body string, headers ...string) (status int, text string) {
	s.Helper()
	r, w := httptest.NewRequestWithContext(s.Context(), method, path, strings.NewReader(body)), httptest.NewRecorder()
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			r.Host = value
		case name == "Remote":
			r.RemoteAddr = value
		case value != "":
			r.Header.Set(name, value)
		}
	}
	s.rest.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// get returns what is at a path.
func (s *server) get(path string) string {
	s.Helper()
	_, text := s.ask(http.MethodGet, path, "")
	return text
}
