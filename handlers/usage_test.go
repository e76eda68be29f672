// Usage figures of real requests to a server.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/rest"
)

// used is a server with usage figures.
type used struct {
	*testing.T
	*handlers.Server
}

func (u *used) get(path string, status int) map[string]any {
	u.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	w := httptest.NewRecorder()
	u.ServeHTTP(w, r)
	if w.Code != status {
		u.Fatalf("%s is %d %s", path, w.Code, w.Body)
	}
	if err := u.Handler.(*rest.Server).CheckAnswer(r, w.Code, w.Body.Bytes()); err != nil {
		u.Errorf("%s: %v", path, err)
	}
	var answer map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		u.Fatal(err)
	}
	return answer
}

func (u *used) rpc(path, method string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":[]}`))
	r.Header.Set("Content-Type", "application/json")
	r.Host = "localhost"
	r.Header.Set("User-Agent", "viem/2.21.0 (test)")
	u.ServeHTTP(httptest.NewRecorder(), r)
}

// total adds up a member of the values of metrics, optionally of one group.
func total(metrics any, member, group string) (sum float64) {
	list, _ := metrics.([]any)
	for _, m := range list {
		for _, v := range m.(map[string]any)["values"].([]any) {
			if v := v.(map[string]any); group == "" || fmt.Sprint(v["groupValue"]) == group {
				sum += v[member].(float64)
			}
		}
	}
	return sum
}

// TestUsageIsCounted sends various requests, and finds each in the day's figures and in the log.
func TestUsageIsCounted(t *testing.T) {
	w := readWorld(t)
	server, err := handlers.New(w, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	u := &used{t, server}
	today := fmt.Sprintf("?startTimestamp=%d&endTimestamp=%d", w.Clock.Unix(), w.Clock.Unix())
	for range 3 {
		u.get("/v1/chains/43114/blocks", 200)
	}
	u.get("/v1/chains/43114/blocks?pageSize=0", 400)
	u.get("/sim/health", 200) // the live service has no such operation
	for range 2 {
		u.rpc("/ext/bc/C/rpc", "eth_blockNumber")
	}
	u.rpc("/fuji/ext/bc/P", "platform.getHeight")
	for _, c := range []struct {
		path, member, group string
		want                float64
	}{
		{"/v1/apiUsageMetrics" + today, "totalRequests", "", 7},
		{"/v1/apiUsageMetrics" + today + "&chainId=43114&requestType=data", "totalRequests", "", 4},
		{"/v1/apiUsageMetrics" + today + "&requestPath=/v1/chains/{chainId}/blocks", "invalidRequests", "", 1},
		{"/v1/subnetRpcUsageMetrics" + today + "&groupBy=rpcMethod", "totalRequests", "eth_blockNumber", 2},
		{"/v1/rpcUsageMetrics" + today + "&chainId=43114", "totalRequests", "", 2},
		{"/v1/rpcUsageMetrics" + today + "&chainId=43113", "totalRequests", "", 0},
		{"/v1/primaryNetworkRpcUsageMetrics" + today + "&network=testnet&groupBy=rpcMethod", "totalRequests", "platform.getHeight", 1},
		{"/v1/primaryNetworkRpcUsageMetrics" + today + "&network=mainnet&userAgent=viem/2.21.0&country=XX", "totalRequests", "", 2},
	} {
		if have := total(u.get(c.path, 200)["metrics"], c.member, c.group); have != c.want {
			t.Errorf("%s: %s is %v: want %v", c.path, c.member, have, c.want)
		}
	}

	log := u.get("/v1/apiLogs"+today+"&requestType=rpc&pageSize=2", 200)
	rest := u.get("/v1/apiLogs"+today+"&requestType=rpc&pageSize=2&pageToken="+log["nextPageToken"].(string), 200)
	first := log["logs"].([]any)[0].(map[string]any)
	if len(rest["logs"].([]any)) != 1 || first["rpcMethod"] != "platform.getHeight" || first["metadata"].(map[string]any)["userAgent"] != "viem/2.21.0 (test)" {
		t.Errorf("logs are %v and %v", log, rest)
	}
}

// TestLongTextsAreNotCounted: a counted request keeps only the start of texts whose length clients choose.
func TestLongTextsAreNotCounted(t *testing.T) {
	server, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	before := live()
	for i := range 200 {
		long := fmt.Sprint(i) + strings.Repeat("x", 60_000)
		for _, r := range []*http.Request{
			httptest.NewRequest(http.MethodGet, "/v1/networks/mainnet", nil),
			httptest.NewRequest(http.MethodGet, "/v1/networks/"+long, nil),
			httptest.NewRequest(http.MethodPost, "/ext/bc/P", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"platform.`+long+`","params":{}}`)),
		} {
			r.Host, r.RemoteAddr = long+".localhost", "127.0.0.1:1"
			r.Header.Set("User-Agent", long)
			r.Header.Set("Content-Type", "application/json")
			server.ServeHTTP(httptest.NewRecorder(), r)
		}
	}
	if kept := live() - before; kept > 20<<20 {
		t.Errorf("of 600 requests with long texts %d MiB are kept", kept>>20)
	}
	runtime.KeepAlive(server)
}
