package node

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestHealth checks the node's health in every way, and again after its file is gone.
func TestHealth(t *testing.T) {
	w := ownSeeded(t)
	url := serveSeeded(t, w, Options{})
	for path, checks := range map[string][]string{
		"/ext/health": {"P", "X", "C", "database", "bootstrapped"}, "/ext/health/readiness": {"bootstrapped"}, "/fuji/ext/health/liveness": nil,
	} {
		answer := healthAt(t, url+path, http.StatusOK)
		if !answer.Healthy || len(answer.Checks) < len(checks) {
			t.Errorf("%s: %+v", path, answer)
		}
		for _, name := range checks {
			if _, found := answer.Checks[name]; !found {
				t.Errorf("%s: no check %s", path, name)
			}
		}
	}
	called := send(t, http.MethodPost, url+"/ext/health", `{"jsonrpc":"2.0","id":1,"method":"health.health"}`)
	if !strings.Contains(called, `"lastAcceptedHeight"`) || !strings.Contains(called, `"healthy":true`) {
		t.Error(called)
	}
	for tags, chains := range map[string]string{
		"":         "PXC",
		"?tag=all": "PXC",
		"?tag=11111111111111111111111111111111LpoYY": "PXC",
		"?tag=nothing": "",
		"?tag=nothing&tag=11111111111111111111111111111111LpoYY": "PXC",
	} {
		answer, shown := healthAt(t, url+"/ext/health"+tags, http.StatusOK), ""
		for _, name := range []string{"P", "X", "C"} {
			if _, found := answer.Checks[name]; found {
				shown += name
			}
		}
		if _, found := answer.Checks["database"]; shown != chains || !found {
			t.Errorf("%q: %+v", tags, answer)
		}
	}
	tagged := send(t, http.MethodPost, url+"/ext/health", `{"jsonrpc":"2.0","id":1,"method":"health.health","params":{"tags":["nothing"]}}`)
	if strings.Contains(tagged, `"lastAcceptedHeight"`) || !strings.Contains(tagged, `"bootstrapped"`) {
		t.Error(tagged)
	}
	all, own := healthAt(t, url+"/ext/health", http.StatusOK).Checks, healthAt(t, url+"/ext/health?tag=11111111111111111111111111111111LpoYY", http.StatusOK).Checks
	if len(own) >= len(all) {
		t.Errorf("%d checks of %d belong to the primary network and the node", len(own), len(all))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if answer := healthAt(t, url+"/ext/health", http.StatusServiceUnavailable); answer.Healthy || answer.Checks["database"].Error == "" {
		t.Errorf("without a file: %+v", answer)
	}
}

func healthAt(t *testing.T, url string, status int) (reply HealthReply) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != status {
		t.Errorf("%s: status %d", url, response.StatusCode)
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		t.Fatal(err)
	}
	return reply
}
