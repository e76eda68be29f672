// Faults as Go's HTTP and WebSocket clients see them on a socket.

package handlers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"

	"snowglobe/handlers/control"
	"snowglobe/handlers/journal"
)

// answered is a response as Go's client sees it.
type answered struct {
	status int
	header http.Header
	body   string
	err    error
	took   time.Duration
}

// try sends a request once, on its own connection.
func (c *clocked) try(method, path, body string, headers ...string) (a answered) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	begun := time.Now()
	answer, err := client.Do(r)
	if err != nil {
		return answered{err: err}
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return answered{answer.StatusCode, answer.Header, string(raw), err, time.Since(begun)}
}

func (c *clocked) addFault(rule string) {
	c.Helper()
	if a := c.try("POST", "/sim/faults", rule); a.status != http.StatusOK {
		c.Fatalf("%s: %d %s", rule, a.status, a.body)
	}
}

func (c *clocked) deleteFaults() {
	c.Helper()
	if a := c.try("DELETE", "/sim/faults", ""); a.status != http.StatusOK {
		c.Fatal(a.status, a.body)
	}
}

func (c *clocked) digest() string {
	c.Helper()
	return decoded[control.Health](c, "/sim/health", "").Digest
}

// TestEveryFaultAsGoSeesIt tries every action as a rule and, if possible, as a header, twice with the same outcome. A fault changes nothing in the
// world.
func TestEveryFaultAsGoSeesIt(t *testing.T) {
	c := journaled(t)
	const path = "/v1/chains/43114/blocks?pageSize=2"
	plain := c.try("GET", path, "")
	second := c.try("GET", path+"&pageToken="+member(plain.body, "nextPageToken"), "")
	before := c.digest()
	reset := func(a answered) bool {
		return errors.Is(a.err, syscall.ECONNRESET) || errors.Is(a.err, io.EOF) || errors.Is(a.err, io.ErrUnexpectedEOF)
	}
	says := func(status int, text string, headers ...string) func(answered) bool {
		return func(a answered) bool {
			for i := 0; i+1 < len(headers); i += 2 {
				if a.header.Get(headers[i]) != headers[i+1] {
					return false
				}
			}
			return a.err == nil && a.status == status && strings.Contains(a.body, text)
		}
	}
	for _, f := range []struct {
		action, header, path string
		as                   func(answered) bool
	}{
		{`{"status":429}`, "429", path, says(429, `"error":"Too Many Requests","statusCode":429`, "ratelimit-policy", "60;w=60", "ratelimit-limit", "60",
			"ratelimit-remaining", "0", "ratelimit-reset", "1", "retry-after", "1")},
		{`{"status":429,"retryAfter":3}`, "429;retry-after=3", path, says(429, "try again in 3 seconds", "ratelimit-reset", "3", "retry-after", "3")},
		{`{"status":401}`, "401", path, says(401, `"error":"Unauthorized","statusCode":401`)},
		{`{"status":403}`, "403", path, says(403, `"error":"Forbidden"`)},
		{`{"status":404}`, "404", path, says(404, `"message":"Cannot GET /v1/chains/43114/blocks"`)},
		{`{"status":500}`, "500", path, says(500, `"message":"Internal server error"`)},
		{`{"status":502}`, "502", path, says(502, "<center><h1>502 Bad Gateway</h1></center>", "content-type", "text/html")},
		{`{"status":503,"retryAfter":2,"message":"closed"}`, "503;retry-after=2;message=closed", path, says(503, `"message":"closed"`, "retry-after", "2")},
		{`{"status":504}`, "504", path, says(504, `"statusCode":504`)},
		{`{"delay":"60ms"}`, "delay=60ms", path, func(a answered) bool { return a.body == plain.body && a.took >= 60*time.Millisecond }},
		{`{"delay":{"min":"40ms","max":"60ms"}}`, "", path, func(a answered) bool { return a.body == plain.body && a.took >= 40*time.Millisecond }},
		{`{"slow":"60ms"}`, "slow=60ms", path, func(a answered) bool { return a.body == plain.body && a.took >= 60*time.Millisecond }},
		{`{"drop":"before"}`, "drop", path, func(a answered) bool { return reset(a) && a.status == 0 }},
		{`{"drop":"during"}`, "drop=during", path, func(a answered) bool {
			return reset(a) && (a.status == 0 || a.status == 200 && len(a.body) <= len(plain.body)/2)
		}},
		{`{"truncate":100}`, "truncate=100", path, func(a answered) bool {
			return errors.Is(a.err, io.ErrUnexpectedEOF) && a.body == plain.body[:100]
		}},
		{`{"invalidJson":true}`, "invalid-json", path, func(a answered) bool { return a.err == nil && a.status == 200 && !json.Valid([]byte(a.body)) }},
		{`{"contentType":"text/html"}`, "content-type=text/html", path, func(a answered) bool {
			return a.body == plain.body && a.header.Get("content-type") == "text/html"
		}},
		{`{"emptyPage":true}`, "empty-page", path, func(a answered) bool {
			return a.body == `{"nextPageToken":"`+member(plain.body, "nextPageToken")+`","blocks":[]}`
		}},
		{`{"pageToken":"missing"}`, "page-token=missing", path, func(a answered) bool {
			return a.status == 200 && member(a.body, "nextPageToken") == "" && strings.Contains(a.body, `"blocks":[{`)
		}},
		{`{"pageToken":"duplicate"}`, "page-token=duplicate", path + "&pageToken=" + member(plain.body, "nextPageToken"), func(a answered) bool {
			return member(a.body, "nextPageToken") == member(plain.body, "nextPageToken") && member(second.body, "nextPageToken") != member(plain.body, "nextPageToken")
		}},
	} {
		for range 2 {
			c.addFault(`{"match":{"operation":"listBlocks"},"action":` + f.action + `,"times":{"first":1}}`)
			if a := c.try("GET", f.path, ""); !f.as(a) {
				t.Errorf("%s: %+v", f.action, a)
			}
			if a := c.try("GET", path, ""); a.body != plain.body || a.status != 200 {
				t.Errorf("after %s: %+v", f.action, a)
			}
			c.deleteFaults()
		}
		if f.header != "" {
			if a := c.try("GET", f.path, "", "x-sim-fault", f.header); !f.as(a) {
				t.Errorf("x-sim-fault: %s: %+v", f.header, a)
			}
		}
	}
	for wrong, want := range map[string]string{"/v1/chainz": "did you mean GET /v1/chains?", "/v1/chains/43114/bloks": "did you mean GET /v1/chains/43114/blocks?"} {
		if _, said, _ := c.send("/sim/faults", `{"match":{"path":"`+wrong+`"},"action":{"status":500}}`); !strings.Contains(said, want) {
			t.Errorf("%s: %s", wrong, said)
		}
	}
	if a := c.try("GET", path, "", "x-sim-fault", "truncat=4"); a.status != 400 || !strings.Contains(a.body, "did you mean truncate?") {
		t.Errorf("a fault that is not known: %+v", a)
	}
	if now := c.digest(); now != before {
		t.Errorf("the digest is %s, before %s", now, before)
	}
	dropped := decoded[control.Requests](c, "/sim/requests?fault=true&operation=listBlocks&pageSize=500", "").Requests
	if !slices.ContainsFunc(dropped, func(s *journal.Summary) bool { return s.Status == 0 && strings.Contains(s.Fault, "drop before") }) ||
		!slices.ContainsFunc(dropped, func(s *journal.Summary) bool { return s.Bytes == 100 && strings.Contains(s.Fault, "truncate 100") }) {
		t.Error("the journal lacks the faults")
	}
}

// member returns the value of a text member of a JSON object.
func member(body, name string) string {
	var object map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &object) // other JSON has no members
	var text string
	_ = json.Unmarshal(object[name], &text)
	return text
}

// TestFaultsSpareTheSimulator: no rule or header makes the simulator's own operations fail.
func TestFaultsSpareTheSimulator(t *testing.T) {
	c := journaled(t)
	c.addFault(`{"action":{"drop":"before"}}`)
	c.addFault(`{"match":{"path":"/**"},"action":{"status":503}}`)
	for _, path := range []string{"/sim/health", "/sim/world", "/sim/faults", "/sim/requests", "/sim/nothing", "/docs", "/openapi.json"} {
		if a := c.try("GET", path, "", "x-sim-fault", "503"); a.err != nil || a.status == 503 {
			t.Errorf("%s: %d %v", path, a.status, a.err)
		}
	}
	for _, path := range []string{"/v1/chains", "/v2/chains", "/v1/nothing", "/ext/health", "/ext/info"} {
		if a := c.try("GET", path, ""); a.err == nil {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	c.deleteFaults()
	if a := c.try("GET", "/v1/chains", ""); a.status != 200 {
		t.Errorf("afterwards: %+v", a)
	}
}

// TestFaultsOfTheNode: JSON-RPC errors for single calls, members of batches and WebSocket messages, and statuses in the node's own form, by chain and
// by network.
func TestFaultsOfTheNode(t *testing.T) {
	c := journaled(t)
	call := func(path, method string) string {
		return c.try("POST", path, `{"jsonrpc":"2.0","id":7,"method":"`+method+`"}`).body
	}
	c.addFault(`{"match":{"rpcMethod":"eth_chainId","chain":"C","network":"mainnet"},"action":{"rpcError":{"code":-32005,"message":"slow down","data":{"see":"docs"}}},"times":{"every":2}}`)
	const failed = `{"jsonrpc":"2.0","id":7,"error":{"code":-32005,"message":"slow down","data":{"see":"docs"}}}` + "\n"
	for range 2 {
		if got := []string{call("/ext/bc/C/rpc", "eth_chainId"), call("/fuji/ext/bc/C/rpc", "eth_chainId"), call("/ext/bc/C/rpc", "eth_chainId")}; strings.Contains(got[0], "error") ||
			strings.Contains(got[1], "error") || got[2] != failed {
			t.Errorf("every second call: %q", got)
		}
	}
	batch := c.try("POST", "/ext/bc/C/rpc", `[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},{"jsonrpc":"2.0","id":2,"method":"eth_blockNumber"},{"jsonrpc":"2.0","id":3,"method":"eth_chainId"}]`).body
	var members []struct {
		ID    int
		Error *struct{ Code int }
	}
	if err := json.Unmarshal([]byte(batch), &members); err != nil || len(members) != 3 || members[0].Error != nil || members[1].Error != nil || members[2].Error == nil || members[2].ID != 3 {
		t.Errorf("the batch is answered with %s", batch)
	}
	socket, err := rpc.Dial("ws" + strings.TrimPrefix(c.url, "http") + "/ext/bc/C/ws")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	var coded rpc.Error
	if err := socket.Call(new(string), "eth_chainId"); err != nil {
		t.Errorf("over WebSocket the first: %v", err)
	}
	if err := socket.Call(new(string), "eth_chainId"); !errors.As(err, &coded) || coded.ErrorCode() != -32005 {
		t.Errorf("over WebSocket the second: %v", err)
	}
	c.deleteFaults()
	c.addFault(`{"match":{"rpcMethod":"info.*"},"action":{"rpcError":{"code":-32000,"message":"not today"}}}`)
	if got := call("/ext/info", "info.getNetworkID"); !strings.Contains(got, `"error":{"code":-32000,"message":"not today","data":null},"id":7`) {
		t.Errorf("info says %s", got)
	}
	c.deleteFaults()
	c.addFault(`{"match":{"interface":"node","network":"fuji"},"action":{"status":503,"retryAfter":4}}`)
	if a := c.try("POST", "/fuji/ext/info", `{}`); a.status != 503 || a.header.Get("retry-after") != "4" || a.body != "Service Unavailable\n" {
		t.Errorf("fuji: %+v", a)
	}
	if got := call("/ext/info", "info.getNetworkID"); !strings.Contains(got, `"networkID":"1"`) {
		t.Errorf("mainnet: %s", got)
	}
}

// TestFaultsEndWebSockets: by a reset, or by a status, which WebSocket can express only as a close code.
func TestFaultsEndWebSockets(t *testing.T) {
	c := journaled(t)
	for action, code := range map[string]int{`{"drop":"before"}`: 0, `{"status":503}`: websocket.CloseTryAgainLater} {
		socket, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(c.url, "http")+"/ext/bc/C/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		c.addFault(`{"match":{"rpcMethod":"eth_chainId"},"action":` + action + `}`)
		if err := socket.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`)); err != nil {
			t.Fatal(err)
		}
		_, message, err := socket.ReadMessage()
		if err == nil || code != 0 && !websocket.IsCloseError(err, code) {
			t.Errorf("%s: %q, %v", action, message, err)
		}
		c.deleteFaults()
		socket.Close()
	}
}

// TestGoRetriesThroughFaults counts the requests of a client that retries, in order.
func TestGoRetriesThroughFaults(t *testing.T) {
	c := journaled(t)
	for range 2 {
		c.addFault(`{"id":"limit","match":{"operation":"getChain"},"action":{"status":429},"times":{"first":2}}`)
		c.addFault(`{"id":"down","match":{"operation":"getChain"},"action":{"status":503},"times":{"first":1}}`)
		var got []int
		for a := (answered{}); a.status != 200; {
			a = c.try("GET", "/v1/chains/43114", "")
			got = append(got, a.status)
		}
		if fmt.Sprint(got) != "[429 429 503 200]" {
			t.Errorf("the statuses are %v", got)
		}
		states := decoded[control.Faults](c, "/sim/faults", "").Faults
		if states[0].Matched != 4 || states[0].Applied != 2 || states[1].Matched != 2 || states[1].Applied != 1 {
			t.Errorf("the rules counted %+v", states)
		}
		c.deleteFaults()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/v1/chains/43114", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-sim-fault", "delay=1h")
	if _, err := http.DefaultClient.Do(r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a client that does not wait an hour: %v", err)
	}
}
