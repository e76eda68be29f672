// Every operation and method that a server registers, against the coverage table and what the live services deprecate.

package handlers_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/surface"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

func tinyWorld(t *testing.T) *sim.World {
	t.Helper()
	return tinyWorldOf(t, 1)
}

// readWorld returns the tiny world that is shared by tests which only read it.
func readWorld(t *testing.T) *sim.World {
	t.Helper()
	return readWorldOf(t, "tiny")
}

// readWorldOf returns a profile's world, shared by tests that only read or copy it.
func readWorldOf(t *testing.T, profile string) *sim.World {
	t.Helper()
	return seedtest.Shared(t, profile, 1)
}

// tinyWorldOf returns a tiny world for one test alone.
func tinyWorldOf(t *testing.T, number int64) *sim.World {
	t.Helper()
	return seedtest.Copy(t, number)
}

// worldFile writes the file of the tiny world once, so that most tests don't wait for a generation.
func worldFile(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := readWorld(t).DB.WriteCopy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
}

// readOnlyWorld opens a file of the world to read it only.
func readOnlyWorld(t *testing.T) *sim.World {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.db")
	worldFile(t, path)
	w, err := sim.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func makeTiny(t testing.TB, number int64) *sim.World {
	t.Helper()
	return seedtest.Generate(t, store.Memory, "tiny", number)
}

// TestCoverage requests every operation and method of the real services. The table must list, with a reason, exactly those that are not served.
func TestCoverage(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(tinyWorld(t), handlers.Options{
		Network: "mainnet", Node: handlers.NodeOptions{Admin: true, Profiles: t.TempDir()},
	})
	if err != nil {
		t.Fatal(err)
	}
	l1 := l1Path.FindStringSubmatch(ask(h, "GET", "/sim/world", ""))
	for _, e := range surface.Entries() {
		if e.REST() {
			answer := ask(h, e.Words[0], e.Words[1], "{}")
			compareCoverage(t, strings.Join(e.Words, " "), !strings.Contains(answer, "Cannot "+e.Words[0]), e.Reason)
			continue
		}
		for _, method := range e.Words[1:] {
			answer := ask(h, "POST", strings.ReplaceAll(e.Words[0], "{L1}", l1[1]), `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
			served := strings.Contains(answer, "jsonrpc") && !strings.Contains(answer, "does not exist") && !strings.Contains(answer, "can't find")
			compareCoverage(t, e.Words[0]+" "+method, served, e.Reason)
		}
	}
}

func compareCoverage(t *testing.T, what string, served bool, reason string) {
	t.Helper()
	switch {
	case served && reason != "":
		t.Errorf("%s is served, and yet there is a reason why not", what)
	case !served && reason == "":
		t.Errorf("%s is not served, without a reason", what)
	}
}

// TestEveryOperationIsInTheTable looks up every operation of the REST interfaces' documents.
func TestEveryOperationIsInTheTable(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range surface.Entries() {
		known[strings.Join(e.Words, " ")] = true
	}
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/openapi.json", "")), &document); err != nil || len(document.Paths) < 50 {
		t.Fatalf("the document has %d paths: %v", len(document.Paths), err)
	}
	for path, methods := range document.Paths {
		for method := range methods {
			if strings.HasPrefix(path, "/sim/") {
				continue
			}
			if name := strings.ToUpper(method) + " " + path; !known[name] {
				t.Errorf("%s is served, and no operation of the real services", name)
			}
		}
	}
}

// TestDeprecatedPathsAreMarked checks that the paths that the live services deprecate are marked, and no others.
func TestDeprecatedPathsAreMarked(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/openapi.json", "/upstream/openapi.json"} {
		var document struct {
			Paths      map[string]map[string]struct{ Deprecated bool }
			Components struct {
				Schemas map[string]struct {
					Properties map[string]struct{ Deprecated bool }
				}
			}
		}
		if err := json.Unmarshal([]byte(ask(h, "GET", path, "")), &document); err != nil || len(document.Paths) == 0 {
			t.Fatal(err, document)
		}
		others := []string{"/v1/chains/allBlocks", "/v1/chains/allTransactions", "/v1/chains/address/{address}", "/v1/rpcUsageMetrics"}
		marked := 0
		for path, calls := range document.Paths {
			for method, call := range calls {
				if want := strings.HasPrefix(path, "/v1/teleporter/") || slices.Contains(others, path); call.Deprecated != want {
					t.Errorf("%s %s: deprecated is %v", method, path, call.Deprecated)
				}
				if call.Deprecated {
					marked++
				}
			}
		}
		if marked != len(others)+3 {
			t.Errorf("%d operations are deprecated", marked)
		}
		schemas := document.Components.Schemas
		for _, field := range [][2]string{{"exportBody", "startDate"}, {"exportBody", "endDate"}, {"DataSubnet", "ownerAddresses"}, {"PlatformUTXO", "amount"}} {
			if !schemas[field[0]].Properties[field[1]].Deprecated {
				t.Errorf("%v is not deprecated", field)
			}
		}
		if schemas["exportBody"].Properties["firstDate"].Deprecated {
			t.Error("firstDate is deprecated")
		}
	}
}

func ask(h http.Handler, method, path, body string) string {
	r := httptest.NewRequest(method, path, bytes.NewBufferString(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}
