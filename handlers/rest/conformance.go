package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/gorilla/mux"

	"snowglobe/handlers/rest/schema"
)

// CheckAnswer compares an answer that this server gave with its own OpenAPI document: a success with the answer type
// of the operation, anything else with the shape of errors. It is for tests; the body must not be compressed.
func (s *Server) CheckAnswer(r *http.Request, status int, body []byte) error {
	plain, prefixed := cutPrefix(r)
	d := s.opts.Dialect.choose(r, prefixed)
	op := s.find(normalizePath(plain))
	if status >= http.StatusBadRequest {
		return s.compare(d, reflect.TypeFor[ErrorAnswer](), body)
	}
	if op == nil || op.Answer == nil || r.Method == http.MethodHead || status == http.StatusNotModified {
		return nil
	}
	if want := op.status(d); status != want {
		return fmt.Errorf("%s: status is %d: the document says %d", op.ID, status, want)
	}
	if err := s.compare(d, op.Answer, body); err != nil {
		return fmt.Errorf("%s: %w", op.ID, err)
	}
	return nil
}

// ValidateAnswer compares the body of a success with the answer type of an operation.
func (s *Server) ValidateAnswer(id string, d schema.Dialect, body []byte) error {
	op := s.routes.byID[id]
	if op == nil || op.Answer == nil {
		return fmt.Errorf("operation %q has no JSON answer", id)
	}
	return s.compare(d, op.Answer, body)
}

func (s *Server) find(r *http.Request) *operation {
	var match mux.RouteMatch
	if !s.router().Match(r, &match) {
		return nil
	}
	e, ok := match.Handler.(*endpoint)
	if !ok {
		return nil
	}
	return e.operation(r.Method)
}

func (s *Server) compare(d schema.Dialect, t reflect.Type, body []byte) error {
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("answer is not JSON: %w", err)
	}
	if problems := s.schemas(d).Check(t, v, true); len(problems) > 0 {
		return fmt.Errorf("answer does not fit its schema: %s", strings.Join(problems, "; "))
	}
	return nil
}
