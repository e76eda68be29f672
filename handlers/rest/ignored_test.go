package rest_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"snowglobe/handlers/rest"
)

// TestIgnoredParametersAreLoggedOnce: a misspelt parameter has no effect, as on the live services. The log reports it once, with the likely name.
func TestIgnoredParametersAreLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, func(o *rest.Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	for _, path := range []string{"/v1/numbers?pagesize=1", "/v1/numbers?pagesize=2&pageSize=1", "/v1/numbers?rltoken=x&pageSize=1", "/v1/live?pagesize=1", "/v1/live?%zz"} {
		get(t, s, path)
	}
	var lines []string
	for line := range strings.Lines(log.String()) {
		_, told, _ := strings.Cut(line, "ignored\" ")
		lines = append(lines, strings.TrimSpace(told))
	}
	want := "operation=listNumbers parameter=pagesize meant=pageSize; operation=live parameter=pagesize; operation=live parameter=%zz"
	if got := strings.Join(lines, "; "); got != want {
		t.Errorf("logged %s", log.String())
	}
}
