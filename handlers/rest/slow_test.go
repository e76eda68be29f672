package rest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/rest"
)

// TestSlowOperationsOutlastTimeouts lets an operation run for longer than the server's read and write timeouts.
func TestSlowOperationsOutlastTimeouts(t *testing.T) {
	const short = 300 * time.Millisecond // a busy machine can read a request in this time
	s := newServer(t, nil)
	work := func(r *rest.Request) (any, error) {
		select {
		case <-time.After(3 * short):
			return echo{[]string{"done"}}, nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	type wish struct {
		Text string `json:"text"`
	}
	if err := s.Register(rest.Sim, rest.Operation{ID: "work", Method: http.MethodPost, Path: "/sim/work", Slow: true, Body: reflect.TypeFor[wish](),
		Answer: reflect.TypeFor[echo](), Handle: work}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(s)
	server.Config.ReadTimeout, server.Config.WriteTimeout = short, short
	server.Start()
	defer server.Close()
	for range 2 { // over the same connection
		answer, err := http.Post(server.URL+"/sim/work", "application/json", strings.NewReader(`{"text":"please"}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || !strings.Contains(string(body), "done") {
			t.Errorf("%s %s %v", answer.Status, body, err)
		}
	}
}
