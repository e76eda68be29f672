package node

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const chainID = `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`

// TestHTTP compares status, headers and body with a node's.
func TestHTTP(t *testing.T) {
	w := newTestWorld(t)
	const json, text = "application/json", "text/plain; charset=utf-8"
	answer := `{"jsonrpc":"2.0","id":1,"result":"0xa86a"}` + "\n"
	contentType := "invalid content type, only application/json is supported\n"
	notFound := "404 page not found\n"
	for _, c := range []struct {
		name, method, path, body string
		header                   string // Name: value, separated by |
		status                   int
		contentType, answer      string
	}{
		{"call", "POST", "/ext/bc/C/rpc", chainID, "Content-Type: application/json", 200, json, answer},
		{"charset", "POST", "/ext/bc/C/rpc", chainID, "Content-Type: application/json; charset=utf-8", 200, json, answer},
		{"json-rpc", "POST", "/ext/bc/C/rpc", chainID, "Content-Type: application/json-rpc", 200, json, answer},
		{"jsonrequest", "POST", "/ext/bc/C/rpc", chainID, "Content-Type: application/jsonrequest", 200, json, answer},
		{"text", "POST", "/ext/bc/C/rpc", chainID, "Content-Type: text/plain", 415, text, contentType},
		{"no type", "POST", "/ext/bc/C/rpc", chainID, "", 415, text, contentType},
		{"empty", "POST", "/ext/bc/C/rpc", "", "Content-Type: application/json", 200, json, ""},
		{"get", "GET", "/ext/bc/C/rpc", "", "", 200, "", ""},
		{"get with a body", "GET", "/ext/bc/C/rpc", chainID, "Content-Type: application/json", 200, json, answer},
		{"get with a query", "GET", "/ext/bc/C/rpc?a=1", "", "", 415, text, contentType},
		{"put", "PUT", "/ext/bc/C/rpc", chainID, "Content-Type: application/json", 405, text, "method not allowed\n"},
		{"delete", "DELETE", "/ext/bc/C/rpc", "", "Content-Type: application/json", 405, text, "method not allowed\n"},
		{"head", "HEAD", "/ext/bc/C/rpc", "", "", 415, text, ""},
		{"options", "OPTIONS", "/ext/bc/C/rpc", "", "", 200, json, ""},
		{"websocket by get", "GET", "/ext/bc/C/ws", "", "", 400, text, "Bad Request\n"},
		{"websocket by post", "POST", "/ext/bc/C/ws", chainID, "Content-Type: application/json", 400, text, "Bad Request\n"},
		{"alias", "POST", "/ext/C/rpc", chainID, "Content-Type: application/json", 200, json, answer},
		{"alias evm", "POST", "/ext/bc/evm/rpc", chainID, "Content-Type: application/json", 200, json, answer},
		{"by id", "POST", "/ext/bc/2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5/rpc", chainID, "Content-Type: application/json", 200, json, answer},
		{"other network by id", "POST", "/ext/bc/yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp/rpc", chainID, "Content-Type: application/json", 200, json, strings.Replace(answer, "a86a", "a869", 1)},
		{"by id under its network", "POST", "/fuji/ext/bc/yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp/rpc", chainID, "Content-Type: application/json", 200, json, strings.Replace(answer, "a86a", "a869", 1)},
		{"by id under another network", "POST", "/mainnet/ext/bc/yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp/rpc", chainID, "Content-Type: application/json", 404, text, notFound},
		{"other network", "POST", "/fuji/ext/bc/C/rpc", chainID, "Content-Type: application/json", 200, json, strings.Replace(answer, "a86a", "a869", 1)},
		{"unknown chain", "POST", "/ext/bc/nope/rpc", chainID, "Content-Type: application/json", 404, text, notFound},
		{"no method path", "POST", "/ext/bc/C", chainID, "Content-Type: application/json", 404, text, notFound},
		{"slash", "POST", "/ext/bc/C/rpc/", chainID, "Content-Type: application/json", 404, text, notFound},
		{"case", "POST", "/ext/bc/c/rpc", chainID, "Content-Type: application/json", 404, text, notFound},
		{"unclean", "POST", "/ext//bc/C/rpc", chainID, "Content-Type: application/json", 301, "", ""},
		{"routed to an unknown chain", "POST", "/ext/info", chainID, "Avalanche-Api-Route: nope", 404, "", ""},
		{"unknown host", "POST", "/ext/bc/C/rpc", chainID, "Host: example.com:9650", 403, text, "invalid host specified\n"},
		{"localhost", "POST", "/ext/bc/C/rpc", chainID, "Host: LOCALHOST:9650|Content-Type: application/json", 200, json, answer},
		{"too large", "POST", "/ext/bc/C/rpc", strings.Repeat(" ", 1<<20) + chainID, "Content-Type: application/json", 413, text, "content length too large (1048635>1048576)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			response, body := w.request(t, c.method, c.path, c.body, c.header)
			network := "mainnet"
			if strings.Contains(c.answer, "0xa869") {
				network = "fuji"
			}
			if response.StatusCode != c.status || body != c.answer {
				t.Errorf("got %d %q, want %d %q", response.StatusCode, body, c.status, c.answer)
			}
			if got := response.Header.Get("Content-Type"); got != c.contentType {
				t.Errorf("content type %q, want %q", got, c.contentType)
			}
			if got := response.Header.Get("Node-Id"); got != w.node.identity(network) || !strings.HasPrefix(got, "NodeID-") {
				t.Errorf("node id %q", got)
			}
			if got := response.Header.Values("Vary"); len(got) != 1 || got[0] != "Origin" {
				t.Errorf("vary %q", got)
			}
		})
	}
}

func (w *testWorld) request(t *testing.T, method, path, body, headers string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for header := range strings.SplitSeq(headers, "|") {
		name, value, _ := strings.Cut(header, ": ")
		switch name {
		case "":
		case "Host":
			request.Host = value
		default:
			request.Header.Set(name, value)
		}
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(answer)
}

// TestChunkedBodyIsLimited sends a body whose length is not announced.
func TestChunkedBodyIsLimited(t *testing.T) {
	w := newTestWorld(t)
	body := io.MultiReader(strings.NewReader(strings.Repeat(" ", 2<<20)), strings.NewReader(chainID))
	request, err := http.NewRequest("POST", w.server.URL+"/ext/bc/C/rpc", io.NopCloser(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", response.StatusCode)
	}
}

// TestCrossOrigin checks the permissions of a page from another origin.
func TestCrossOrigin(t *testing.T) {
	w := newTestWorld(t)
	const origin, post = "Origin: http://example.com", "|Access-Control-Request-Method: POST"
	for _, c := range []struct{ name, method, path, headers, origin, methods, allowed string }{
		{"call", "POST", "/ext/bc/C/rpc", origin + "|Content-Type: application/json", "*", "", ""},
		{"not found", "POST", "/ext/nope", origin, "*", "", ""},
		{"without origin", "POST", "/ext/bc/C/rpc", "", "", "", ""},
		{"preflight", "OPTIONS", "/ext/bc/C/rpc", origin + post + "|Access-Control-Request-Headers: content-type", "*", "POST", "Content-Type"},
		{"preflight anywhere", "OPTIONS", "/ext/nope", origin + post, "*", "POST", ""},
		{"refused method", "OPTIONS", "/ext/bc/C/rpc", origin + "|Access-Control-Request-Method: PUT", "", "", ""},
		{"refused header", "OPTIONS", "/ext/bc/C/rpc", origin + post + "|Access-Control-Request-Headers: x-foo", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			response, _ := w.request(t, c.method, c.path, "", c.headers)
			got := [3]string{response.Header.Get("Access-Control-Allow-Origin"), response.Header.Get("Access-Control-Allow-Methods"),
				response.Header.Get("Access-Control-Allow-Headers")}
			if want := [3]string{c.origin, c.methods, c.allowed}; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestRouteHeader reaches an L1 under any path.
func TestRouteHeader(t *testing.T) {
	w := newTestWorld(t)
	for id := range w.node.routed {
		_, body := w.request(t, "POST", "/ext/info", chainID, "Content-Type: application/json|Avalanche-Api-Route: "+id)
		if body != `{"jsonrpc":"2.0","id":1,"result":"0x15b38"}`+"\n" {
			t.Errorf("answered %q", body)
		}
	}
}

// TestBatchTooLarge sends more calls than a batch may have.
func TestBatchTooLarge(t *testing.T) {
	w := newTestWorld(t)
	body := "[" + strings.Repeat(chainID+",", 1000) + chainID + "]"
	got := w.post(t, "/ext/bc/C/rpc", body)
	if want := `[{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"batch too large"}}]`; got != want {
		t.Errorf("answered %s", got)
	}
}
