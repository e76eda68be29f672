// Health behind the response cache and the server's other handlers.

package handlers_test

import (
	"strings"
	"testing"

	"snowglobe/handlers"
)

// TestHealthIsAskedEachTime: health is never cached, so a world that is gone is not reported as healthy.
func TestHealthIsAskedEachTime(t *testing.T) {
	w := tinyWorld(t)
	h, err := handlers.New(w, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	checks := map[string][2]string{ // what each check says while the world exists, and after
		"/sim/health":      {`"healthy":true`, `"statusCode":503`},
		"/v1/health-check": {`"status":"ok"`, `"statusCode":503`},
		"/v1/live-check":   {`"status":"ok"`, `"statusCode":503`},
		"/v2/health-check": {`"status":"ok"`, `"statusCode":503`},
	}
	for path, say := range checks {
		if answer := ask(h, "GET", path, ""); !strings.Contains(answer, say[0]) {
			t.Errorf("%s is %s", path, answer)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for path, say := range checks {
		if answer := ask(h, "GET", path, ""); !strings.Contains(answer, say[1]) {
			t.Errorf("%s without a world is %s", path, answer)
		}
	}
}
