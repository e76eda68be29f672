package sourcify

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/solc"
	"snowglobe/handlers/verification"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
)

var alice = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")

// object is a JSON object.
type object = map[string]any

// server serves the API of a world.
type server struct {
	*testing.T
	*API
	world     *sim.World
	contracts *verification.Service
}

func serve(t *testing.T, w *sim.World, compilers *solc.Compilers, rule *permit.Rule) *server {
	t.Helper()
	contracts, err := verification.New(w, artifacts.New(), compilers, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(contracts.Close)
	return &server{t, New(Options{World: w, Permit: rule, Contracts: contracts}), w, contracts}
}

// reading serves a world that stays as it is.
func reading(t *testing.T) *server {
	t.Helper()
	return serve(t, seedtest.Shared(t, "tiny", 1), solc.New(nil), nil)
}

// try sends a request, whose id is known before.
func (s *server) try(method, path string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	s.Helper()
	r, w := httptest.NewRequest(method, path, body), httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "req-7")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	s.ServeHTTP(w, r)
	return w
}

// get reads an object.
func (s *server) get(path string, status int) (o object) {
	s.Helper()
	w := s.try("GET", path, nil)
	if err := json.Unmarshal(w.Body.Bytes(), &o); err != nil || w.Code != status || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		s.Fatalf("%s: %d %s %v", path, w.Code, w.Body, err)
	}
	return o
}

// refuses compares an error, whose text begins so.
func (s *server) refuses(method, path, body string, status int, code, text string) {
	s.Helper()
	w := s.try(method, path, strings.NewReader(body))
	var e struct{ CustomCode, Message, ErrorID string }
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != status || e.CustomCode != code || !strings.HasPrefix(e.Message, text) || e.ErrorID != "req-7" {
		s.Errorf("%s %s: %d %s, want %d %s %s", method, path, w.Code, w.Body, status, code, text)
	}
}

func (s *server) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
