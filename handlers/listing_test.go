// /sim/world, checked against everything that a server serves.

package handlers_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/surface"
)

// listed is the part of /sim/world about endpoints.
type listed struct {
	Endpoints []rest.Endpoint
	Chains    []struct{ ChainID, BlockchainID, SubnetID, Network string }
}

// TestEveryEndpointIsListed requests every endpoint in /sim/world, and expects to find every known endpoint there.
func TestEveryEndpointIsListed(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(tinyWorld(t), handlers.Options{Network: "mainnet", Node: handlers.NodeOptions{Admin: true, Profiles: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	var world listed
	if err := json.Unmarshal([]byte(ask(h, "GET", "/sim/world", "")), &world); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{} // methods and paths, JSON-RPC methods and paths
	for _, e := range world.Endpoints {
		for _, path := range e.Paths {
			for _, method := range e.Methods {
				checkPath(t, h, method, fill(t, h, path))
				found[method+" "+path] = true
			}
			for _, operation := range e.Operations {
				found[operation+" "+path] = true
			}
		}
		if e.Interface == "node" && slices.Contains(e.Methods, http.MethodPost) {
			checkMethods(t, h, fill(t, h, e.Paths[0]), e.Operations)
		}
	}
	for _, want := range served(t, h, world) {
		if !found[want] {
			t.Errorf("%s is served, but not listed", want)
		}
	}
}

// TestTheWorldKeepsThePrefixInItsLinks: with a dialect's prefix, a client gets links with that prefix.
func TestTheWorldKeepsThePrefixInItsLinks(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{"": "http://localhost/ext/bc/", "/upstream": "http://localhost/upstream/ext/bc/"} {
		var world struct{ Chains []struct{ RPCURL string } }
		if err := json.Unmarshal([]byte(ask(h, "GET", prefix+"/sim/world", "")), &world); err != nil {
			t.Fatal(err)
		}
		if url := world.Chains[0].RPCURL; !strings.HasPrefix(url, want) {
			t.Errorf("%s/sim/world: rpcUrl is %s: want %s…", prefix, url, want)
		}
	}
}

// TestExamplesLeadToTheReadersServer: the URLs in the document's examples work for the reader.
func TestExamplesLeadToTheReadersServer(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/openapi.json": "http://localhost", "/upstream/openapi.json": "http://localhost/upstream"} {
		document := ask(h, "GET", path, "")
		if strings.Contains(document, rest.ExampleURL) {
			t.Errorf("%s leads to %s", path, rest.ExampleURL)
		}
		if n := strings.Count(document, `"`+want+`/ext/bc/`); n < 5 {
			t.Errorf("%s leads to %s/ext/bc %d times", path, want, n)
		}
	}
}

// fill fills in the variables of a path. A blockchain id becomes that of a chain whose subnet the network validates.
func fill(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	if strings.Contains(path, "{blockchainId}") {
		path = strings.ReplaceAll(path, "{blockchainId}", validated(t, h, strings.HasPrefix(path, "/fuji/")))
	}
	return regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "0")
}

// validated returns a chain outside of the primary network.
func validated(t *testing.T, h http.Handler, fuji bool) string {
	t.Helper()
	network := "mainnet"
	if fuji {
		network = "fuji"
	}
	var page struct {
		Blockchains []struct{ BlockchainID, SubnetID string }
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/v1/networks/"+network+"/blockchains", "")), &page); err != nil {
		t.Fatal(err)
	}
	for _, c := range page.Blockchains {
		if c.SubnetID != ids.Empty.String() {
			return c.BlockchainID
		}
	}
	t.Fatalf("%s has only the primary network's chains", network)
	return ""
}

// checkPath reports whether a path exists; each router has its own response for a missing one.
func checkPath(t *testing.T, h http.Handler, method, path string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if path == "/sim/events" {
		cancel() // the stream goes on until the client leaves
	}
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader("{}"))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if strings.Contains(w.Body.String(), "Cannot "+method) || strings.HasPrefix(w.Body.String(), "404 page not found") || w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
		t.Errorf("%s %s: %d %.80s", method, path, w.Code, w.Body)
	}
}

func checkMethods(t *testing.T, h http.Handler, path string, methods []string) {
	t.Helper()
	if len(methods) == 0 {
		t.Errorf("%s has no methods", path)
	}
	for _, method := range methods {
		answer := ask(h, "POST", path, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":[]}`)
		if !strings.Contains(answer, `"jsonrpc"`) || strings.Contains(answer, "does not exist") || strings.Contains(answer, "can't find") {
			t.Errorf("%s %s: %.120s", method, path, answer)
		}
	}
}

// served lists all endpoints that the OpenAPI document, the specifications and the world's chains promise.
func served(t *testing.T, h http.Handler, w listed) []string {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/openapi.json", "")), &document); err != nil || len(document.Paths) == 0 {
		t.Fatal(len(document.Paths), err)
	}
	want := []string{"GET /docs", "GET /openapi.json", "GET /ext/metrics", "GET /ext/health/readiness", "GET /fuji/ext/health/liveness",
		"POST /ext/bc/P", "GET /ext/bc/C/ws", "eth_subscribe /mainnet/ext/bc/C/ws", "health.health /ext/health", "wallet.issueTx /ext/bc/X/wallet"}
	for path, methods := range document.Paths {
		for method := range methods {
			if verb := strings.ToUpper(method); slices.Contains([]string{"GET", "POST", "PUT", "DELETE", "PATCH"}, verb) {
				want = append(want, verb+" "+path)
			}
		}
	}
	last := w.Chains[len(w.Chains)-1]
	for _, e := range surface.Entries() {
		if e.REST() || e.Reason != "" || strings.HasPrefix(e.Words[0], "/ext/admin") {
			continue
		}
		path := strings.ReplaceAll(e.Words[0], "{L1}", last.BlockchainID)
		if strings.HasSuffix(path, "/validators") {
			path = "/ext/bc/{blockchainId}/validators"
		}
		for _, method := range e.Words[1:] {
			if !strings.HasSuffix(method, "subscribe") {
				want = append(want, method+" "+path)
			}
		}
	}
	for _, c := range w.Chains {
		for _, prefix := range []string{"/ext", "/" + c.Network + "/ext"} {
			want = append(want, "eth_call "+prefix+"/bc/"+c.BlockchainID+"/rpc", "GET "+prefix+"/bc/"+c.BlockchainID+"/ws")
		}
	}
	return want
}
