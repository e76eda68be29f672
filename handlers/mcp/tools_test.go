package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"snowglobe/handlers/docs"
)

// told is an API that gives fixed responses, and remembers what it was asked.
type told struct {
	answers map[string]string // by method and path: a body, or a status, a space and a body; everything else gets {}

	mu    sync.Mutex
	asked []string
	last  *http.Request
}

func (a *told) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.Method + " " + r.URL.RequestURI()
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = r
	a.asked = append(a.asked, strings.TrimSpace(what+" "+string(body)))
	text, found := a.answers[what]
	if !found {
		text = "{}"
	}
	var status int
	if n, _ := fmt.Sscanf(text, "%3d", &status); n == 1 {
		w.WriteHeader(status)
		text = strings.TrimPrefix(text[3:], " ")
	}
	io.WriteString(w, text)
}

// took returns what was asked since the last time.
func (a *told) took() (asked []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked, a.asked = a.asked, nil
	return asked
}

// telling returns an API with fixed responses, and a handler with tools that ask it.
func telling(answers map[string]string) (*told, *Handler) {
	api := &told{answers: answers}
	return api, NewHandler(Options{API: api, Manual: docs.New(nil), Version: "test", Log: slog.New(slog.DiscardHandler)})
}

// ask sends a message, and decodes the result, or returns the error.
func ask(t *testing.T, h http.Handler, method, params string, result any, headers ...string) (problem string) {
	t.Helper()
	w := send(h, "POST", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`), headers...)
	var answer struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s %s: %d %s", method, params, w.Code, w.Body)
	}
	if answer.Error != nil {
		return fmt.Sprint(answer.Error.Code, " ", answer.Error.Message)
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		t.Fatal(err)
	}
	return ""
}

// use calls a tool. What fails begins with "failed: ".
func use(t *testing.T, h http.Handler, tool, arguments string, headers ...string) string {
	t.Helper()
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	if problem := ask(t, h, "tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`, &result, headers...); problem != "" {
		return "refused: " + problem
	}
	if len(result.Content) != 1 {
		t.Fatalf("%s %s: %+v", tool, arguments, result)
	}
	if result.IsError {
		return "failed: " + result.Content[0].Text
	}
	return result.Content[0].Text
}

const chainsOfWorld = `[{"name":"C-Chain","chainId":"43114","blockchainId":"2q9e"},{"name":"Icefall","chainId":"70411","blockchainId":"21Ak"},{"name":"Moraine","chainId":"70412","blockchainId":"22Bl"}]`

// TestToolsAskTheInterfaces: each tool makes the requests that its description promises, with what the agent left out as the description says.
func TestToolsAskTheInterfaces(t *testing.T) {
	api, h := telling(map[string]string{
		"GET /sim/world/chains":                        chainsOfWorld,
		"GET /sim/transactions/0x%2Fa":                 `{"used":1}`,
		"GET /sim/transactions/0x%2Fa/trace":           `{"calls":[]}`,
		"POST /mainnet/ext/bc/C/rpc":                   `{"result":"0x7"}`,
		"POST /fuji/ext/bc/C/rpc":                      `{"result":"0x8"}`,
		"POST /mainnet/ext/bc/P":                       `{"result":{"height":"9"}}`,
		"POST /fuji/ext/bc/X":                          `{"result":{}}`,
		"POST /ext/bc/21Ak/rpc":                        `{"result":null}`,
		"POST /ext/bc/22Bl/rpc":                        `{"result":[1]}`,
		"POST /ext/info":                               `{"result":true}`,
		"DELETE /sim/faults/a%2Fb":                     `204`,
		"DELETE /sim/faults":                           `{"deleted":2}`,
		"GET /v1/chains/43114?pageSize=12345678901234": `{"large":12345678901234567890}`,
	})
	rpc := func(path, method, params string) string {
		return `POST ` + path + ` {"id":1,"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`
	}
	for _, c := range []struct {
		tool, arguments, want string
		asked                 []string
	}{
		{"describe_world", `{"section":"a/b"}`, "{}", []string{"GET /sim/world/a%2Fb?expected=false"}},
		{"find", `{"query":"a b&c"}`, "{}", []string{"GET /search?q=a+b%26c"}},
		{"find", `{"query":43114}`, "{}", []string{"GET /search?q=43114"}},

		{"call_api", `{"path":"/v1/chains/43114?pageSize=12345678901234"}`, `{"large":12345678901234567890}`, []string{"GET /v1/chains/43114?pageSize=12345678901234"}},
		{"call_api", `{"path":"/sim/x","method":"put","body":{"a":12345678901234567890}}`, "{}", []string{`PUT /sim/x {"a":12345678901234567890}`}},
		{"call_api", `{"path":"/sim/x","method":"POST"}`, "{}", []string{"POST /sim/x"}},
		{"call_api", `{"path":"v1/chains"}`, "failed: this is not a path: it must begin with / and be encoded as in a URL", nil},
		{"call_api", `{"path":"//evil.example/"}`, "failed: this is not a path: it must begin with / and be encoded as in a URL", nil},
		{"call_api", `{"path":"/a b\u0000"}`, "failed: this is not a path: it must begin with / and be encoded as in a URL", nil},
		{"call_api", `{"path":"/%zz"}`, "failed: this is not a path: it must begin with / and be encoded as in a URL", nil},
		{"call_api", `{"path":"https://evil.example/"}`, "failed: this is not a path: it must begin with / and be encoded as in a URL", nil},
		{"call_api", `{"path":"/a","method":"not a method"}`, "failed: this is not a path: it must begin with / and be encoded as in a URL", nil},
		{"call_api", `{"path":"/mcp?a=b","method":"POST","body":{}}`, "failed: this tool cannot call /mcp itself", nil},
		{"call_api", `{"path":"/%6dcp","method":"POST","body":{}}`, "failed: this tool cannot call /mcp itself", nil},

		{"call_rpc", `{"method":"eth_chainId"}`, `"0x7"`, []string{rpc("/mainnet/ext/bc/C/rpc", "eth_chainId", "[]")}},
		{"call_rpc", `{"method":"eth_getBalance","params":["0xa","latest"],"chain":"C"}`, `"0x7"`, []string{rpc("/mainnet/ext/bc/C/rpc", "eth_getBalance", `["0xa","latest"]`)}},
		{"call_rpc", `{"method":"eth_chainId","chain":"fuji/C"}`, `"0x8"`, []string{rpc("/fuji/ext/bc/C/rpc", "eth_chainId", "[]")}},
		{"call_rpc", `{"method":"eth_chainId","chain":"fuji/"}`, `"0x8"`, []string{rpc("/fuji/ext/bc/C/rpc", "eth_chainId", "[]")}},
		{"call_rpc", `{"method":"platform.getHeight","chain":"P"}`, `{"height":"9"}`, []string{rpc("/mainnet/ext/bc/P", "platform.getHeight", "{}")}},
		{"call_rpc", `{"method":"platform.getBlock","chain":"P","params":{"blockID":"a"}}`, `{"height":"9"}`, []string{rpc("/mainnet/ext/bc/P", "platform.getBlock", `{"blockID":"a"}`)}},
		{"call_rpc", `{"method":"avm.getHeight","chain":"fuji/X"}`, `{}`, []string{rpc("/fuji/ext/bc/X", "avm.getHeight", "{}")}},
		{"call_rpc", `{"method":"eth_syncing","chain":"Icefall"}`, `null`, []string{"GET /sim/world/chains", rpc("/ext/bc/21Ak/rpc", "eth_syncing", "[]")}},
		{"call_rpc", `{"method":"eth_syncing","chain":"21Ak"}`, `null`, []string{"GET /sim/world/chains", rpc("/ext/bc/21Ak/rpc", "eth_syncing", "[]")}},
		{"call_rpc", `{"method":"eth_syncing","chain":70412}`, `[1]`, []string{"GET /sim/world/chains", rpc("/ext/bc/22Bl/rpc", "eth_syncing", "[]")}},
		{"call_rpc", `{"method":"a","chain":"Nowhere"}`, `failed: there is no chain "Nowhere", only C, P, X, fuji/C, fuji/P, fuji/X and 43114, 70411, 70412`, []string{"GET /sim/world/chains"}},
		{"call_rpc", `{"method":"a","chain":"fuji/Icefall"}`, `failed: there is no chain "fuji/Icefall", only C, P, X, fuji/C, fuji/P, fuji/X and 43114, 70411, 70412`, []string{"GET /sim/world/chains"}},
		{"call_rpc", `{"method":"info.peers","path":"/ext/info","chain":"Nowhere"}`, `true`, []string{rpc("/ext/info", "info.peers", "{}")}},
		{"call_rpc", `{"method":"info.peers","path":"ext/info"}`, "failed: this is not a path: it must begin with / and be encoded as in a URL", nil},

		{"decode", `{"data":"0x12","topics":["0x1"],"address":"0xa","chain":43114}`, "{}", []string{`POST /sim/decode {"data":"0x12","topics":["0x1"],"address":"0xa","chain":"43114"}`}},
		{"decode", `{}`, "{}", []string{"POST /sim/decode {}"}},
		{"explain_transaction", `{"hash":"0x/a"}`, `{"gas":{"used":1},"execution":{"calls":[]}}`, []string{"GET /sim/transactions/0x%2Fa/trace", "GET /sim/transactions/0x%2Fa"}},
		{"move_clock", `{"advance":"36h"}`, "{}", []string{`POST /sim/clock {"advance":"36h"}`}},
		{"move_clock", `{"rate":0,"freeze":true,"populate":false}`, "{}", []string{`POST /sim/clock {"rate":0,"freeze":true,"populate":false}`}},
		{"mine", `{}`, `"0x7"`, []string{rpc("/mainnet/ext/bc/C/rpc", "anvil_mine", `["0x1"]`), rpc("/mainnet/ext/bc/C/rpc", "eth_blockNumber", "[]")}},
		{"mine", `{"chain":"fuji/C","blocks":1000}`, `"0x8"`, []string{rpc("/fuji/ext/bc/C/rpc", "anvil_mine", `["0x3e8"]`), rpc("/fuji/ext/bc/C/rpc", "eth_blockNumber", "[]")}},
		{"mine", `{"blocks":1001}`, "failed: blocks must be from 1 to 1000", nil},
		{"mine", `{"blocks":-1}`, "failed: blocks must be from 1 to 1000", nil},
		{"mine", `{"chain":"Nowhere"}`, `failed: there is no chain "Nowhere", only C, P, X, fuji/C, fuji/P, fuji/X and 43114, 70411, 70412`, []string{"GET /sim/world/chains"}},
		{"take_snapshot", `{"name":"before"}`, "{}", []string{`POST /sim/snapshots {"name":"before"}`}},
		{"take_snapshot", `{}`, "{}", []string{`POST /sim/snapshots {}`}},
		{"revert", `{"id":"a/b"}`, "{}", []string{"POST /sim/snapshots/a%2Fb:revert"}},
		{"revert", `{"id":3}`, "{}", []string{"POST /sim/snapshots/3:revert"}},
		{"add_fault", `{"id":"a","match":{"chain":"C"},"action":{"status":429},"times":{"first":2}}`, "{}", []string{`POST /sim/faults {"id":"a","match":{"chain":"C"},"action":{"status":429},"times":{"first":2}}`}},
		{"add_fault", `{"action":{"delay":"2s"}}`, "{}", []string{`POST /sim/faults {"action":{"delay":"2s"}}`}},
		{"delete_faults", `{"id":"a/b"}`, "{}", []string{"DELETE /sim/faults/a%2Fb"}},
		{"delete_faults", `{}`, `{"deleted":2}`, []string{"DELETE /sim/faults"}},
		{"list_requests", `{}`, "{}", []string{"GET /sim/requests?pageSize=20"}},
		{"list_requests", `{"limit":500}`, "{}", []string{"GET /sim/requests?pageSize=500"}},
		{"list_requests", `{"id":7,"limit":3}`, "{}", []string{"GET /sim/requests/7"}},
		{"list_requests", `{"interface":"data","operation":"getChain","path":"/v1/*","status":404,"client":"a b","failed":false,"limit":2}`, "{}",
			[]string{"GET /sim/requests?client=a+b&failed=false&interface=data&operation=getChain&pageSize=2&path=%2Fv1%2F%2A&status=404"}},
		{"request_funds", `{"address":"0xa","amount":0.25,"chain":43113,"token":"USDC"}`, "{}", []string{`POST /sim/faucet {"address":"0xa","chain":"43113","token":"USDC","amount":"0.25"}`}},
		{"request_funds", `{"address":"0xa"}`, "{}", []string{`POST /sim/faucet {"address":"0xa"}`}},
	} {
		got := use(t, h, c.tool, c.arguments)
		if asked := api.took(); got != c.want || !slices.Equal(asked, c.asked) {
			t.Errorf("%s %s:\n%s\n%q, want\n%s\n%q", c.tool, c.arguments, got, asked, c.want, c.asked)
		}
	}
	if got := use(t, h, "no_such_tool", "{}"); !strings.HasPrefix(got, "refused: -32602 ") {
		t.Error(got)
	}
}

// TestAgentsWriteNumbersAsTheyLike: numbers stand for themselves where text is expected, every digit of them, and nothing else does. Arguments that
// are missing, of another type or unknown are named.
func TestAgentsWriteNumbersAsTheyLike(t *testing.T) {
	_, h := telling(map[string]string{"GET /search?q=": "empty"})
	for _, c := range []struct{ tool, arguments, want string }{
		{"find", `{"query":0}`, "0"},
		{"find", `{"query":9}`, "9"},
		{"find", `{"query":-0.5e3}`, "-0.5e3"},
		{"find", `{"query":123456789012345678901234567890}`, "123456789012345678901234567890"},
		{"find", `{"query":"9"}`, "9"},
		{"find", `{"query":true}`, `failed: the arguments of find do not match its schema: `},
		{"find", `{"query":null}`, `failed: the arguments of find do not match its schema: `},
		{"find", `{"query":[1]}`, `failed: the arguments of find do not match its schema: `},
		{"find", `{"query":{}}`, `failed: the arguments of find do not match its schema: `},
		{"find", `{"query":"x","more":1}`, `failed: the arguments of find do not match its schema: `},
		{"find", `{"query":"x","":1}`, `failed: the arguments of find do not match its schema: `},
		{"find", `{}`, `failed: the arguments of find do not match its schema: `},
		{"find", `[1]`, `failed: the arguments of find do not match its schema: `},
		{"find", `7`, `failed: the arguments of find do not match its schema: `},
		{"mine", `{"blocks":"1"}`, `failed: the arguments of mine do not match its schema: `},
		{"mine", `{"blocks":1.5}`, `failed: the arguments of mine do not match its schema: `},
		{"move_clock", `{"rate":"1"}`, `failed: the arguments of move_clock do not match its schema: `},
		{"add_fault", `{"action":7}`, `failed: the arguments of add_fault do not match its schema: `},
		{"add_fault", `{"match":{}}`, `failed: the arguments of add_fault do not match its schema: `},
	} {
		api, h := telling(nil)
		got := use(t, h, c.tool, c.arguments)
		asked := api.took()
		if wrong := strings.HasPrefix(c.want, "failed: "); wrong && (!strings.HasPrefix(got, c.want) || asked != nil) ||
			!wrong && (got != "{}" || !slices.Equal(asked, []string{"GET /search?q=" + c.want})) {
			t.Errorf("%s %s: %s %q, want %s", c.tool, c.arguments, got, asked, c.want)
		}
	}
	for _, params := range []string{`{"name":"delete_faults"}`, `{"name":"delete_faults","arguments":null}`, `{"name":"delete_faults","arguments":{}}`} {
		var result struct{ IsError bool }
		if problem := ask(t, h, "tools/call", params, &result); problem != "" || result.IsError {
			t.Errorf("%s: %s %+v", params, problem, result)
		}
	}
	w := &world{asker: &timed{}}
	for _, raw := range []string{"", " ", "null", "{}"} { // as other versions of the library hand over what is left out
		if _, err := (&tools[slices.IndexFunc(tools, func(t tool) bool { return t.name == "delete_faults" })]).call(t.Context(), w, json.RawMessage(raw)); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// TestRefusalsAreTheInterfacesOwn: an agent reads what an interface says, after its status.
func TestRefusalsAreTheInterfacesOwn(t *testing.T) {
	for answer, want := range map[string]string{
		`399 {"message":"no"}`:                     `{"message":"no"}`,
		`400 {"message":"no such chain"}`:          "failed: 400: no such chain",
		`404 {"message":["one problem","two"]}`:    "failed: 404: [one problem two]",
		`404 {"message":null,"error":"Not Found"}`: `failed: 404: {"message":null,"error":"Not Found"}`,
		`429 {"error":"slowly"}`:                   `failed: 429: {"error":"slowly"}`,
		"503   starting\n":                         "failed: 503: starting",
		`500 {"message":`:                          `failed: 500: {"message":`,
		`500`:                                      "failed: 500: ",
		`201 {"id":"1"}`:                           `{"id":"1"}`,
		`204`:                                      "{}",
		` spaces stay `:                            ` spaces stay `,
	} {
		_, h := telling(map[string]string{"GET /a": answer})
		if got := use(t, h, "call_api", `{"path":"/a"}`); got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
	const chain = "POST /mainnet/ext/bc/C/rpc"
	for answer, want := range map[string]string{
		`{"result":"0x1","error":null}`:                                        `"0x1"`,
		`{"error":{"code":-32000,"message":"insufficient funds","data":"0x"}}`: `failed: JSON-RPC error: {"code":-32000,"message":"insufficient funds","data":"0x"}`,
		"nonsense":                          "failed: the response is not JSON-RPC: nonsense",
		"[" + strings.Repeat("x", 500):      "failed: the response is not JSON-RPC: [" + strings.Repeat("x", 299),
		`403 {"message":"not from a page"}`: "failed: 403: not from a page",
	} {
		_, h := telling(map[string]string{chain: answer})
		if got := use(t, h, "call_rpc", `{"method":"eth_chainId"}`); got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
		if got := use(t, h, "mine", `{}`); got != want {
			t.Errorf("mine: %s: %s, want %s", answer, got, want)
		}
	}
	for _, c := range []struct{ asked, answer, tool, arguments, want string }{
		{"GET /sim/world/chains", `500 {"message":"damaged"}`, "call_rpc", `{"method":"a","chain":"Icefall"}`, "failed: 500: damaged"},
		{"GET /sim/world/chains", `{}`, "call_rpc", `{"method":"a","chain":"Icefall"}`, "failed: json: "},
		{"GET /sim/world?expected=false", `500 {"message":"damaged"}`, "describe_world", `{}`, "failed: 500: damaged"},
		{"GET /sim/world?expected=false", `[]`, "describe_world", `{}`, "failed: json: "},
		{"GET /sim/world?expected=false", `{"networks":[],"chains":{},"personas":[]}`, "describe_world", `{}`, "failed: json: "},
		{"GET /sim/transactions/0xa/trace", `404 {"message":"no such transaction"}`, "explain_transaction", `{"hash":"0xa"}`, "failed: 404: no such transaction"},
		{"GET /sim/transactions/0xa", `500 {"message":"damaged"}`, "explain_transaction", `{"hash":"0xa"}`, "failed: 500: damaged"},
	} {
		_, h := telling(map[string]string{c.asked: c.answer})
		if got := use(t, h, c.tool, c.arguments); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s: %s, want %s", c.asked, c.answer, got, c.want)
		}
	}
}

// TestTheOverviewIsShort: it has the URLs as the client knows the server, and of long lists only what an agent chooses by.
func TestTheOverviewIsShort(t *testing.T) {
	api, h := telling(map[string]string{"GET /sim/world?expected=false": `{
		"version":{"program":"1"},"seed":7,"profile":"tiny","digest":"0xd","clock":{"time":"2026-11-01T00:00:00Z"},"counts":{"blocks":12},"more":1,
		"networks":[{"name":"mainnet","networkId":1,"keys":["secret"]}],
		"chains":[{"chainId":"43114","name":"C-Chain","genesis":{}},{"chainId":"70411","height":5}],
		"personas":[{"name":"alice","purpose":"everyday wallet","address":"0xf3","privateKey":"0xac"}],
		"tokens":[{"symbol":"USDC"}]}`})
	const want = `{"chains":[{"chainId":"43114","name":"C-Chain"},{"chainId":"70411","height":5}],"clock":{"time":"2026-11-01T00:00:00Z"},"counts":{"blocks":12},"digest":"0xd",` +
		`"networks":[{"name":"mainnet","networkId":1}],"personas":[{"address":"0xf3","name":"alice","purpose":"everyday wallet"}],"profile":"tiny",` +
		`"sections":["networks","chains","personas","contracts","tokens","counts"],"seed":7,` +
		`"urls":{"cChain":"http://world.example:1/ext/bc/C/rpc","data":"http://world.example:1/v1","fuji":"http://world.example:1/fuji/ext","metrics":"http://world.example:1/v2",` +
		`"pChain":"http://world.example:1/ext/bc/P","simulator":"http://world.example:1/sim","web":"http://world.example:1/","xChain":"http://world.example:1/ext/bc/X"},"version":{"program":"1"}}`
	if got := use(t, h, "describe_world", "{}", "X-Forwarded-Host", "evil.example"); strings.ReplaceAll(got, "example.com", "world.example:1") != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if asked := api.took(); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
}

// TestThePageOfAgentsNamesEveryTool and no others.
func TestThePageOfAgentsNamesEveryTool(t *testing.T) {
	m := docs.New(nil)
	page, _ := m.Find("agents")
	_, table, _ := strings.Cut(m.Markdown(page), "## Tools")
	table, _, _ = strings.Cut(table, "\nA result is")
	var named, tools []string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for i, part := range strings.Split(cells[1], "`") {
				if i%2 == 1 {
					named = append(named, part)
				}
			}
		}
	}
	_, h := telling(nil)
	var list struct{ Tools []struct{ Name string } }
	if problem := ask(t, h, "tools/list", "{}", &list); problem != "" {
		t.Fatal(problem)
	}
	for _, tool := range list.Tools {
		tools = append(tools, tool.Name)
	}
	slices.Sort(named)
	if slices.Sort(tools); !slices.Equal(named, tools) {
		t.Errorf("the page names\n%q\nthere are\n%q", named, tools)
	}
}

// TestToolsSayWhatTheyDo: clients ask their user before they let an agent destroy something, and not when it only reads.
func TestToolsSayWhatTheyDo(t *testing.T) {
	_, h := telling(nil)
	var list struct {
		Tools []struct {
			Name, Title, Description string
			InputSchema              struct {
				Type                 string
				Required             []string
				Properties           map[string]struct{ Type any }
				AdditionalProperties any
			}
			Annotations struct{ ReadOnlyHint, DestructiveHint, OpenWorldHint bool }
		}
	}
	if problem := ask(t, h, "tools/list", "{}", &list); problem != "" {
		t.Fatal(problem)
	}
	got := map[string]string{}
	for _, tool := range list.Tools {
		if tool.Title == "" || tool.Description == "" || tool.InputSchema.Type != "object" {
			t.Errorf("%+v", tool)
		}
		text := ""
		for name, is := range map[string]bool{"reads": tool.Annotations.ReadOnlyHint, "undoes": tool.Annotations.DestructiveHint, "leaves": tool.Annotations.OpenWorldHint} {
			if is {
				text += name + " "
			}
		}
		for _, name := range slices.Sorted(maps.Keys(tool.InputSchema.Properties)) {
			text += name
			if slices.Contains(tool.InputSchema.Required, name) {
				text += "!"
			}
			text += fmt.Sprintf(":%v ", tool.InputSchema.Properties[name].Type)
		}
		got[tool.Name] = strings.TrimSpace(text)
	}
	want := map[string]string{
		"describe_world":       "reads section:string",
		"find":                 "reads query!:string",
		"search_documentation": "reads query!:string",
		"read_documentation":   "reads name!:string",
		"call_api":             "body:<nil> method:string path!:string",
		"call_rpc":             "chain:string method!:string params:<nil> path:string",
		"decode":               "reads address:string chain:string data:string topics:[null array]",
		"explain_transaction":  "reads hash!:string",
		"move_clock":           "advance:string freeze:boolean populate:[null boolean] rate:[null number] set:string until:string",
		"mine":                 "blocks:integer chain:string",
		"take_snapshot":        "name:string",
		"revert":               "undoes id!:string",
		"add_fault":            "action!:object id:string match:object times:object",
		"delete_faults":        "undoes id:string",
		"list_requests":        "reads client:string failed:[null boolean] id:integer interface:string limit:integer operation:string path:string status:integer",
		"request_funds":        "address!:string amount:string chain:string token:string",
	}
	if !maps.Equal(got, want) {
		for name := range maps.Keys(got) {
			if got[name] != want[name] {
				t.Errorf("%s: %s, want %s", name, got[name], want[name])
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d tools", len(got))
	}
}

// timed is a world that answers at once, and remembers whether it had a time limit.
type timed struct{ limited bool }

func (a *timed) base() string { return "" }

func (a *timed) ask(ctx context.Context, method, path, accept string, body []byte) (int, []byte, error) {
	_, a.limited = ctx.Deadline()
	return http.StatusOK, []byte(`{"result":[]}`), nil
}

// TestSomeToolsTakeAsLongAsTheyNeed: moving the clock by a year may take longer than an agent waits for anything else.
func TestSomeToolsTakeAsLongAsTheyNeed(t *testing.T) {
	for i := range tools {
		arguments := map[string]string{"find": `{"query":"a"}`, "read_documentation": `{"name":"a"}`, "call_api": `{"path":"/a"}`, "call_rpc": `{"method":"a"}`,
			"explain_transaction": `{"hash":"a"}`, "revert": `{"id":"a"}`, "add_fault": `{"action":{}}`, "request_funds": `{"address":"a"}`,
			"describe_world": `{"section":"a"}`, "search_documentation": `{"query":"a"}`}[tools[i].name]
		a := &timed{}
		if _, err := tools[i].call(t.Context(), &world{asker: a, index: &index{manual: docs.New(nil)}}, json.RawMessage(arguments)); err != nil && tools[i].name != "search_documentation" {
			t.Errorf("%s: %v", tools[i].name, err)
		}
		if lasting := slices.Contains([]string{"move_clock", "take_snapshot", "revert"}, tools[i].name); a.limited == lasting {
			t.Errorf("%s: limited %v", tools[i].name, a.limited)
		}
	}
}
