package node

import (
	"strings"
	"testing"
)

// TestServicesHTTP compares status, headers and body of the node's own services with a node's.
func TestServicesHTTP(t *testing.T) {
	w := newTestWorld(t)
	const (
		json   = "application/json; charset=utf-8"
		text   = "text/plain; charset=utf-8"
		height = `{"jsonrpc":"2.0","id":1,"method":"avm.getHeight"}`
		answer = `{"jsonrpc":"2.0","result":{"height":"5"},"id":1}` + "\n"
		nope   = `{"jsonrpc":"2.0","error":{"code":-32000,"message":"rpc: can't find method \"avm.Nope\"","data":null},"id":1}` + "\n"
		typed  = "Content-Type: application/json"
	)
	for _, c := range []struct {
		name, method, path, body string
		header                   string // Name: value, separated by |
		status                   int
		contentType, answer      string
	}{
		{"call", "POST", "/ext/bc/X", height, typed, 200, json, answer},
		{"charset", "POST", "/ext/bc/X", height, "Content-Type: application/json;charset=UTF-8", 200, json, answer},
		{"charset with a space", "POST", "/ext/bc/X", height, typed + "; charset=utf-8", 200, json, answer},
		{"upper case", "POST", "/ext/bc/X", height, "Content-Type: APPLICATION/JSON", 200, json, answer},
		{"junk after the type", "POST", "/ext/bc/X", height, typed + ";foo", 200, json, answer},
		{"query", "POST", "/ext/bc/X?a=1", height, typed, 200, json, answer},
		{"error of a method", "POST", "/ext/bc/X", `{"jsonrpc":"2.0","id":1,"method":"avm.getTx"}`, typed, 200, json,
			`{"jsonrpc":"2.0","error":{"code":-32000,"message":"nil transaction ID","data":null},"id":1}` + "\n"},
		{"error before a method", "POST", "/ext/bc/X", strings.Replace(height, "getHeight", "nope", 1), typed, 200, json, nope},
		{"notification", "POST", "/ext/bc/X", strings.Replace(height, `"id":1`, `"id":null`, 1), typed, 200, "", ""},
		{"text", "POST", "/ext/bc/X", height, "Content-Type: text/plain", 415, text, "rpc: unrecognized Content-Type: text/plain"},
		{"json-rpc", "POST", "/ext/bc/X", height, "Content-Type: application/json-rpc", 415, text, "rpc: unrecognized Content-Type: application/json-rpc"},
		{"no type", "POST", "/ext/bc/X", height, "", 415, text, "rpc: unrecognized Content-Type: "},
		{"get", "GET", "/ext/bc/X", "", typed, 405, text, "rpc: POST method required, received GET"},
		{"put", "PUT", "/ext/bc/X", height, typed, 405, text, "rpc: POST method required, received PUT"},
		{"head", "HEAD", "/ext/bc/X", "", typed, 405, text, ""},
		{"options", "OPTIONS", "/ext/bc/X", "", "", 405, text, "rpc: POST method required, received OPTIONS"},
		{"slash", "POST", "/ext/bc/X/", height, typed, 404, text, "404 page not found\n"},
		{"lower case", "POST", "/ext/bc/x", height, typed, 404, text, "404 page not found\n"},
		{"rpc", "POST", "/ext/bc/X/rpc", height, typed, 404, text, "404 page not found\n"},
		{"text that is too long", "POST", "/ext/bc/X", `{"jsonrpc":"2.0","id":1,"method":"avm.getTx","params":{"txID":"` + strings.Repeat("z", 5000) + `"}}`, typed, 413, text,
			"a text in the request is longer than 4096 bytes and not hexadecimal\n"},
		{"too large", "POST", "/ext/bc/X", strings.Repeat(" ", 1<<20) + height, typed, 413, text, "request body too large: the limit is 1048576 bytes\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			response, body := w.request(t, c.method, c.path, c.body, c.header)
			if response.StatusCode != c.status || body != c.answer {
				t.Errorf("got %d %q, want %d %q", response.StatusCode, body, c.status, c.answer)
			}
			if got := response.Header.Get("Content-Type"); got != c.contentType {
				t.Errorf("content type %q, want %q", got, c.contentType)
			}
			if response.Header.Get("Node-Id") == "" || response.Header.Get("Vary") != "Origin" {
				t.Errorf("headers %v", response.Header)
			}
		})
	}
}
