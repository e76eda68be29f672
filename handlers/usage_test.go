// Usage figures of real requests to a server.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"math"
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

// newUsed returns a server without requests, and the query for its day.
func newUsed(t *testing.T) (u *used, today string) {
	w := readWorld(t)
	server, err := handlers.New(w, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	u = &used{t, server}
	today = fmt.Sprintf("?startTimestamp=%d&endTimestamp=%d", w.Clock.Unix(), w.Clock.Unix())
	return u, today
}

// TestUsageIsCounted sends various requests, and finds each in the day's figures and in the log.
func TestUsageIsCounted(t *testing.T) {
	u, today := newUsed(t)
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
		{"/v1/apiUsageMetrics" + today + "&requestPath=/v1/chains/{chainId}/blocks", "apiCreditsUsed", "", 40},
		{"/v1/apiUsageMetrics" + today + "&requestPath=/v1/chains/{chainId}/blocks", "apiCreditsWasted", "", 10},
		{"/v1/apiUsageMetrics" + today + "&requestPath=/v1/chains/{chainId}/blocks", "successRatePercent", "", 75},
		{"/v1/apiUsageMetrics" + today + "&groupBy=responseCode&requestPath=/v1/chains/{chainId}/blocks", "totalRequests", "400", 1},
		{"/v1/apiUsageMetrics" + today + "&timeInterval=minute&requestType=rpc", "totalRequests", "", 3},
		{"/v1/apiUsageMetrics" + today + "&orgId=other", "totalRequests", "", 0},
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
	u.get("/v1/primaryNetworkRpcUsageMetrics", 400)
	u.get("/v1/apiUsageMetrics?groupBy=country", 400)
	u.get("/v1/apiUsageMetrics?startTimestamp=2&endTimestamp=1", 400)

	log := u.get("/v1/apiLogs"+today+"&requestType=rpc&pageSize=2", 200)
	rest := u.get("/v1/apiLogs"+today+"&requestType=rpc&pageSize=2&pageToken="+log["nextPageToken"].(string), 200)
	first := log["logs"].([]any)[0].(map[string]any)
	if len(rest["logs"].([]any)) != 1 || first["rpcMethod"] != "platform.getHeight" || first["metadata"].(map[string]any)["userAgent"] != "viem/2.21.0 (test)" {
		t.Errorf("logs are %v and %v", log, rest)
	}
}

// TestTheLatestAreRemembered sends more requests than the server remembers: the figures cover the latest, and no older one is listed.
func TestTheLatestAreRemembered(t *testing.T) {
	u, today := newUsed(t)
	u.get("/v1/chains/43114/blocks", 200)
	for range 10_000 {
		u.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/live-check", nil))
	}
	if have := total(u.get("/v1/apiUsageMetrics"+today, 200)["metrics"], "totalRequests", ""); have != 10_000 {
		t.Errorf("%v requests are counted", have)
	}
	if log := u.get("/v1/apiLogs"+today+"&requestPath=/v1/chains/{chainId}/blocks", 200); len(log["logs"].([]any)) != 0 {
		t.Errorf("the oldest request is remembered: %v", log)
	}
}

// TestUsageHasAPast compares the made-up figures of two servers of one world, and daily figures with weekly ones.
func TestUsageHasAPast(t *testing.T) {
	w := readWorld(t)
	var answers []string
	for range 2 {
		server, err := handlers.New(w, handlers.Options{Network: "mainnet"})
		if err != nil {
			t.Fatal(err)
		}
		u := &used{t, server}
		week := fmt.Sprintf("?startTimestamp=%d&endTimestamp=%d", w.Meta.Until-7*86400, w.Meta.Until-86400)
		days, hours := u.get("/v1/apiUsageMetrics"+week, 200)["metrics"], u.get("/v1/apiUsageMetrics"+week+"&timeInterval=hourly&groupBy=requestPath", 200)["metrics"]
		if len(days.([]any)) != 7 || total(days, "totalRequests", "") < 1000 || total(days, "totalRequests", "") != total(hours, "totalRequests", "") {
			t.Errorf("%d days have %v requests, hours have %v", len(days.([]any)), total(days, "totalRequests", ""), total(hours, "totalRequests", ""))
		}
		hour := fmt.Sprintf("?startTimestamp=%d&endTimestamp=%d&chainId=43114&requestPath=/v1/chains/{chainId}/blocks", w.Meta.Until-86400, w.Meta.Until-86400)
		logged, earlier := 0, math.Inf(1)
		for token := ""; ; {
			page := u.get("/v1/apiLogs"+hour+"&pageSize=17&pageToken="+token, 200)
			for _, l := range page["logs"].([]any) {
				logged++
				if at := l.(map[string]any)["eventTimestamp"].(float64); at > earlier {
					t.Errorf("%v is after %v", at, earlier)
				} else {
					earlier = at
				}
			}
			if token, _ = page["nextPageToken"].(string); token == "" {
				break
			}
		}
		if counted := total(u.get("/v1/apiUsageMetrics"+hour, 200)["metrics"], "totalRequests", ""); counted == 0 || float64(logged) != counted {
			t.Errorf("the log of a past day has %d requests, the figures have %v", logged, counted)
		}
		text, _ := json.Marshal(u.get("/v1/primaryNetworkRpcUsageMetrics"+week+"&network=mainnet&groupBy=country", 200))
		answers = append(answers, string(text))
	}
	if answers[0] != answers[1] || !strings.Contains(answers[0], `"groupValue":"JP"`) {
		t.Errorf("the past is %s and %s", answers[0], answers[1])
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
