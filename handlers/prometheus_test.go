// A server's /ext/metrics after three kinds of requests.

package handlers_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"snowglobe/handlers"
)

// TestMetricsCountRequests sends three kinds of requests and finds them counted, with the heights of the chains.
func TestMetricsCountRequests(t *testing.T) {
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	ask(h, "POST", "/ext/info", `{"jsonrpc":"2.0","id":1,"method":"info.getNetworkID"}`)
	number := ask(h, "POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}`)
	ask(h, "POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_`+"invented"+`","params":[]}`)
	height := ask(h, "POST", "/ext/bc/P", `{"jsonrpc":"2.0","id":1,"method":"platform.getHeight"}`)
	ask(h, "GET", "/v1/chains/nope", "")
	got := ask(h, http.MethodGet, "/ext/metrics", "")
	for _, want := range []string{
		`snowglobe_requests_total{operation="info.getNetworkID",status="200"} 1`,
		`snowglobe_requests_total{operation="eth_blockNumber",status="200"} 1`,
		`snowglobe_requests_total{operation="unknown method",status="200"} 1`,
		`snowglobe_request_duration_seconds_count{operation="info.getNetworkID"} 1`,
		`snowglobe_request_duration_seconds_bucket{operation="eth_blockNumber",le="+Inf"} 1`,
		`status="400"} 1`,
		`snowglobe_height{network="mainnet",chain="P"} ` + regexp.MustCompile(`"height":"(\d+)"`).FindStringSubmatch(height)[1],
		`snowglobe_height{network="mainnet",chain="C"} `, `snowglobe_height{network="fuji",chain="X"} `,
		"\ngo_goroutines ", "\ngo_memstats_heap_alloc_bytes ", "\nsnowglobe_worlds ", "\nsnowglobe_cache_bytes ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "invented") || !strings.Contains(number, "0x") {
		t.Error("a client's word became a label, or the chain did not answer", number)
	}
	for line := range strings.Lines(got) {
		if !regexp.MustCompile(`^(# (HELP|TYPE) .*|[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+)\n$`).MatchString(line) {
			t.Errorf("not in the text format: %q", line)
		}
	}
}
