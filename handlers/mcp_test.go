// Agents use the world through the Model Context Protocol, with the permissions of any other client.

package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"snowglobe/handlers"
	"snowglobe/handlers/permit"
	"snowglobe/sim"
)

// agent is a client of the protocol.
type agent struct {
	*testing.T
	session *sdk.ClientSession
}

// newAgent connects to a URL.
func newAgent(t *testing.T, url string) *agent {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return &agent{t, session}
}

// call calls a tool and returns its text.
func (a *agent) call(name string, arguments any) (text string, failed bool) {
	a.Helper()
	result, err := a.session.CallTool(a.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		a.Fatalf("%s %v: %v", name, arguments, err)
	}
	if len(result.Content) != 1 {
		a.Fatalf("%s: %d parts", name, len(result.Content))
	}
	return result.Content[0].(*sdk.TextContent).Text, result.IsError
}

// does calls a tool that must succeed with a result that contains a text, and decodes it.
func (a *agent) does(name string, arguments any, want string) (decoded map[string]any) {
	a.Helper()
	text, failed := a.call(name, arguments)
	if failed || !strings.Contains(text, want) {
		a.Fatalf("%s %v: failed %v, want %s:\n%.1500s", name, arguments, failed, want, text)
	}
	_ = json.Unmarshal([]byte(text), &decoded) // not every result is an object
	return decoded
}

// refuses calls a tool that must fail with a reason.
func (a *agent) refuses(name string, arguments any, reason string) {
	a.Helper()
	if text, failed := a.call(name, arguments); !failed || !strings.Contains(text, reason) || len(text) > 5000 {
		a.Errorf("%s %v: failed %v, want %s:\n%.1500s", name, arguments, failed, reason, text)
	}
}

type args = map[string]any

// serveWorlds serves a world at a URL.
func serveWorlds(t *testing.T, w *sim.World, o handlers.Options) string {
	t.Helper()
	o.Network, o.Faucet, o.People = "mainnet", faucetOf, peopleOf
	o.Many.Most, o.Many.MostBytes = 4, 1<<30
	all, err := handlers.NewWorlds(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(all)
	t.Cleanup(func() {
		server.Close()
		if err := all.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

// TestAgentsUseTheWorld calls every tool, like an agent that looks for a failed transaction, pays, breaks things and undoes that.
func TestAgentsUseTheWorld(t *testing.T) {
	w := tinyWorld(t)
	url := serveWorlds(t, w, handlers.Options{})
	a := newAgent(t, url+"/mcp")
	before := w.Digest()

	world := a.does("describe_world", nil, `"cChain":"`+url+`/ext/bc/C/rpc"`)
	for _, name := range []string{"personas", "chains", "networks", "sections"} {
		if list, _ := world[name].([]any); len(list) < 2 {
			t.Errorf("the overview has %v of %s", world[name], name)
		}
	}
	a.does("describe_world", args{"section": "personas"}, `"privateKey":"0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"`)
	a.refuses("describe_world", args{"section": "nowhere"}, "there are contracts, ")

	a.does("find", args{"query": "alice"}, "everyday wallet")
	hash := ""
	for _, found := range a.does("find", args{"query": "failed"}, "sample")["results"].([]any) {
		if where := found.(args)["where"].(string); strings.HasPrefix(where, "C-Chain mainnet, ") {
			hash = strings.TrimPrefix(where, "C-Chain mainnet, ")
		}
	}
	a.does("explain_transaction", args{"hash": hash}, `"failure":{`)
	a.refuses("explain_transaction", args{"hash": "0x12"}, "64 hexadecimal digits")

	a.does("search_documentation", args{"query": "erc20 balances address"}, "listErc20Balances")
	a.does("search_documentation", args{"query": "fault"}, `"name":"faults"`)
	a.refuses("search_documentation", args{"query": " "}, "some words")
	a.does("read_documentation", args{"name": "faucet"}, "# The faucet")
	a.does("read_documentation", args{"name": "listErc20Balances"}, `"operationId":"listErc20Balances"`)
	a.does("read_documentation", args{"name": "eth_getLogs"}, `"operationId":"eth_getLogs"`)
	a.refuses("read_documentation", args{"name": "../go.mod"}, "search_documentation")

	a.does("call_api", args{"path": "/v1/chains/43114/blocks?pageSize=1"}, `"blocks":[`)
	a.does("call_api", args{"path": "/sim/requests:count", "method": "post", "body": args{"operation": "getChain"}}, `"count":0`)
	a.refuses("call_api", args{"path": "/v1/chains/7"}, "404: ")
	a.refuses("call_api", args{"path": "v1/chains"}, "begin with /")
	a.refuses("call_api", args{"path": "//evil.example/"}, "begin with /")
	a.refuses("call_api", args{"path": "/mcp", "method": "POST", "body": args{}}, "cannot call /mcp itself")
	a.does("call_rpc", args{"method": "eth_chainId"}, `"0xa86a"`)
	a.does("call_rpc", args{"method": "eth_chainId", "chain": "fuji/C"}, `"0xa869"`)
	a.does("call_rpc", args{"method": "eth_chainId", "chain": "Icefall"}, `"0x1130b"`)
	a.does("call_rpc", args{"method": "platform.getHeight", "chain": "fuji/P"}, `"height"`)
	a.does("call_rpc", args{"method": "info.getNetworkID", "path": "/fuji/ext/info"}, `"networkID":"5"`)
	a.does("call_rpc", args{"method": "eth_getBalance", "params": []any{alice, "latest"}}, `"0x`)
	a.does("call_rpc", args{"method": "platform.getBlockByHeight", "chain": "P", "params": args{"height": "1", "encoding": "json"}}, `"block"`)
	a.refuses("call_rpc", args{"method": "eth_getBalance"}, "JSON-RPC error")
	a.refuses("call_rpc", args{"method": "eth_chainId", "chain": "Nowhere"}, "only C, P, X")
	a.does("decode", args{"data": "0x70a08231" + strings.Repeat("0", 24) + alice[2:]}, "balanceOf(address)")
	a.refuses("decode", args{"data": "0x12345678"}, "no known function")

	snapshot := a.does("take_snapshot", args{"name": "before"}, `"id"`)["id"]
	p := a.does("request_funds", args{"address": fresh, "amount": "2.5"}, `"status":"accepted"`)
	a.does("call_rpc", args{"method": "eth_getTransactionReceipt", "params": []any{p["txHash"]}}, `"status":"0x1"`)
	a.does("request_funds", args{"address": "P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"}, `"chain":"P"`)
	a.refuses("request_funds", args{"address": fresh, "amount": true}, "schema")
	a.does("request_funds", args{"address": fresh, "amount": 0.25, "chain": 43113}, `"amount":"250000000000000000"`)
	height := fmt.Sprintf("0x%x", headOf(t, w)+3)
	a.does("mine", args{"blocks": 3}, height)
	a.refuses("mine", args{"blocks": 1001}, "from 1 to 1000")
	a.does("move_clock", args{"advance": "36h", "populate": true}, `"time":"2026-11-02T`)
	a.refuses("move_clock", args{"advance": "soon"}, "400: ")
	if bytes.Equal(before, w.Digest()) {
		t.Error("nothing has changed")
	}
	a.does("revert", args{"id": snapshot}, `"digest":"`+fmt.Sprintf("%x", before))
	a.refuses("revert", args{"id": "99"}, "404: ")

	a.does("add_fault", args{"id": "busy", "match": args{"operation": "getChain"}, "action": args{"status": 429}, "times": args{"first": 1}}, `"busy"`)
	a.refuses("call_api", args{"path": "/v1/chains/43114"}, "429: ")
	a.does("call_api", args{"path": "/v1/chains/43114"}, `"chainId":"43114"`)
	a.does("delete_faults", args{"id": "busy"}, `"deleted":1`)
	a.does("delete_faults", args{}, `"deleted":0`)
	for _, action := range []args{{"drop": "before"}, {"drop": "during"}, {"truncate": 10}} { // the process must survive faults that end a connection
		a.does("add_fault", args{"id": "broken", "match": args{"interface": "data"}, "action": action}, `"broken"`)
		if text, failed := a.call("call_api", args{"path": "/v1/chains/43114"}); strings.Contains(text, `"chainId":"43114","status"`) || !failed && json.Valid([]byte(text)) {
			t.Errorf("%v: failed %v: %.300s", action, failed, text)
		}
		a.does("delete_faults", args{"id": "broken"}, `"deleted":1`)
	}
	a.refuses("add_fault", args{"action": args{"status": 200}}, "400: ")
	a.refuses("add_fault", args{"match": args{}}, "action")
	journal := a.does("list_requests", args{"operation": "getChain", "status": 429}, `"fault"`)
	id := journal["requests"].([]any)[0].(args)["id"]
	a.does("list_requests", args{"id": id}, "/v1/chains/43114")
	if text, _ := a.call("list_requests", args{"limit": 500}); strings.Contains(text, "/mcp") {
		t.Error("the journal lists the protocol's own messages beside the requests of tools")
	}
	for _, c := range []struct {
		tool      string
		arguments any
	}{{"find", args{}}, {"find", args{"query": "x", "more": 1}}, {"find", []int{1}}, {"mine", args{"blocks": "1"}}} {
		a.refuses(c.tool, c.arguments, "schema")
	}
	if _, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such_tool"}); err == nil {
		t.Error("a tool that does not exist answers")
	}
	if !bytes.Equal(before, w.Digest()) {
		t.Error("the world is not what it was")
	}
}

func headOf(t *testing.T, w *sim.World) uint64 {
	t.Helper()
	head, err := w.Chains[0].Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head.Number
}

// TestAgentsReadResources reads every resource, and one for each template.
func TestAgentsReadResources(t *testing.T) {
	a := newAgent(t, serveWorlds(t, readWorld(t), handlers.Options{})+"/mcp")
	names := map[string]string{}
	for r, err := range a.session.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names[r.URI] = r.MIMEType
	}
	if len(names) < 30 {
		t.Errorf("there are only %d resources", len(names))
	}
	names["snowglobe://operations/getChain"], names["snowglobe://methods/eth_call"] = "application/json", "application/json"
	for uri, kind := range names {
		read, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || len(read.Contents) != 1 {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		text := read.Contents[0].Text
		if read.Contents[0].MIMEType != kind || kind == "application/json" && !json.Valid([]byte(text)) || kind == "text/markdown" && !strings.HasPrefix(text, "# ") {
			t.Errorf("%s: %s %.100s", uri, read.Contents[0].MIMEType, text)
		}
	}
	for _, uri := range []string{"snowglobe://operations/nothing", "snowglobe://manual/nothing", "file:///etc/passwd", "snowglobe://operations/a%2Fb"} {
		if _, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s can be read", uri)
		}
	}
}

// message sends one message of the protocol as a client with certain headers.
func message(h http.Handler, method, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/mcp", strings.NewReader(body))
	r.Host, r.RemoteAddr = "127.0.0.1:9650", "127.0.0.1:1"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func toolCall(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
}

// TestAgentsHaveNoOtherPermissions: a tool can do only what its client could do itself, also on public, read-only and strict servers.
func TestAgentsHaveNoOtherPermissions(t *testing.T) {
	w := tinyWorld(t)
	serve := func(rule permit.Rule) http.Handler {
		h, err := handlers.New(w, handlers.Options{Network: "mainnet", Permit: rule, Faucet: faucetOf})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.Close)
		return h
	}
	loopback, public, allowed := serve(permit.Rule{}), serve(permit.Rule{Exposed: true}), serve(permit.Rule{Exposed: true, Control: true})
	mine, describe := toolCall("mine", `{}`), toolCall("describe_world", `{}`)
	for _, c := range []struct {
		name    string
		h       http.Handler
		body    string
		headers []string
		status  int
		want    string
	}{
		{"a program", loopback, mine, nil, 200, `"isError":false`},
		{"a page of this machine", loopback, mine, []string{"Origin", "http://localhost:6274"}, 200, `\"0x`},
		{"its own page", loopback, mine, []string{"Origin", "http://127.0.0.1:9650"}, 200, `\"0x`},
		{"a page of another origin", loopback, describe, []string{"Origin", "https://evil.example"}, 403, "--allow-origin"},
		{"a page at a name that leads here", loopback, describe, []string{"Origin", "http://evil.example:9650", "Host", "evil.example:9650"}, 403, "--allow-origin"},
		{"a page without an origin", loopback, describe, []string{"Sec-Fetch-Site", "cross-site"}, 403, "--allow-origin"},
		{"a client of a public server reads", public, describe, nil, 200, "personas"},
		{"a client of a public server mines", public, mine, nil, 200, "--allow-control"},
		{"a client of a public server moves the clock", public, toolCall("move_clock", `{"advance":"1h"}`), nil, 200, "--allow-control"},
		{"a client of a public server takes a snapshot", public, toolCall("take_snapshot", `{}`), nil, 200, "--allow-control"},
		{"a client of a public server adds a fault", public, toolCall("add_fault", `{"action":{"status":500}}`), nil, 200, "--allow-control"},
		{"a client of a public server gets much", public, toolCall("request_funds", `{"address":"`+fresh+`","amount":"11"}`), nil, 200, "pays at most 10"},
		{"a client of a public server gets little", public, toolCall("request_funds", `{"address":"`+fresh+`"}`), nil, 200, "accepted"},
		{"a client that may control a public server", allowed, mine, nil, 200, `\"0x`},
	} {
		answer := message(c.h, http.MethodPost, c.body, c.headers...)
		if text := answer.Body.String(); answer.Code != c.status || !strings.Contains(strings.ReplaceAll(text, `"isError":true`, ""), c.want) && !(c.want == `"isError":false` && !strings.Contains(text, "isError")) {
			t.Errorf("%s: %d %.600s", c.name, answer.Code, text)
		}
	}
	if preflight := message(loopback, http.MethodOptions, "", "Origin", "http://localhost:6274", "Access-Control-Request-Headers", "mcp-protocol-version"); preflight.Code != 204 ||
		preflight.Header().Get("Access-Control-Allow-Origin") != "http://localhost:6274" || preflight.Header().Get("Access-Control-Allow-Headers") != "mcp-protocol-version" {
		t.Errorf("%d %v", preflight.Code, preflight.Header())
	}
	if preflight := message(loopback, http.MethodOptions, "", "Origin", "https://evil.example"); preflight.Code != 403 {
		t.Errorf("a foreign page: %d", preflight.Code)
	}
}

// TestAgentsOfAReadOnlyWorld can read, but change nothing.
func TestAgentsOfAReadOnlyWorld(t *testing.T) {
	a := newAgent(t, serveWorlds(t, readOnlyWorld(t), handlers.Options{})+"/mcp")
	a.does("find", args{"query": "alice"}, "everyday wallet")
	for name, arguments := range map[string]args{"mine": {}, "move_clock": {"advance": "1h"}, "take_snapshot": {}, "request_funds": {"address": fresh}} {
		a.refuses(name, arguments, "the world cannot change")
	}
}

// TestAgentsOfAnotherWorld use that world and its URLs.
func TestAgentsOfAnotherWorld(t *testing.T) {
	w := tinyWorld(t)
	url := serveWorlds(t, w, handlers.Options{})
	main := newAgent(t, url+"/mcp")
	main.does("call_api", args{"path": "/sim/worlds", "method": "POST", "body": args{"name": "beside"}}, `"url"`)
	a, before := newAgent(t, url+"/w/beside/mcp"), w.Digest()
	a.does("describe_world", nil, `"cChain":"`+url+`/w/beside/ext/bc/C/rpc"`)
	a.does("request_funds", args{"address": fresh}, `"explorerUrl":"`+url+`/w/beside/`)
	a.does("read_documentation", args{"name": "faucet"}, url+"/w/beside/sim/faucet")
	if !bytes.Equal(before, w.Digest()) {
		t.Error("the main world has changed")
	}
}
