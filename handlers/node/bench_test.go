package node

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkServe measures the most frequent calls and, for comparison, a handler that writes the same bytes.
func BenchmarkServe(b *testing.B) {
	w := newTestWorld(b)
	counter := w.c.counter().Hex()
	for _, c := range []struct{ name, body string }{
		{"blockNumber", `{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}`},
		{"getBlockByNumber", `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x2",true]}`},
		{"getLogs", `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0x0","address":"` + counter + `"}]}`},
		{"call", `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"` + counter + `","data":"0x00"},"latest"]}`},
	} {
		answer := w.post(b, "/ext/bc/C/rpc", c.body)
		bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
		b.Run(c.name, func(b *testing.B) { serve(b, w.node, c.body) })
		b.Run(c.name+"/bare", func(b *testing.B) { serve(b, bare, c.body) })
	}
}

func serve(b *testing.B, h http.Handler, body string) {
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/ext/bc/C/rpc", strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}
