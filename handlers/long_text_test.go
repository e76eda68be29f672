// Every parameter of every operation gets very long texts, through a socket.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"snowglobe/handlers"
)

// longTexts returns texts of a given length, each expensive for one parser or another.
func longTexts(size int) []string {
	return []string{
		strings.Repeat("z", size), strings.Repeat("1", size), "0x" + strings.Repeat("ab", size/2), strings.Repeat("9", size),
		strings.Repeat("[", size), strings.Repeat("1,", size/2), strings.Repeat("{\"a\":", size/5), "NodeID-" + strings.Repeat("z", size),
		"P-avax1" + strings.Repeat("q", size), strings.Repeat("%2F", size/3),
	}
}

// soon is the processor time within which a request with an oversized text is answered. Wall time would depend on the machine's other work.
const soon = 100 * time.Millisecond

// answersSoon repeats a request until its response is fast enough, because this machine may be busy, and fails if it never is.
func answersSoon(t *testing.T, h http.Handler, what string, ask func() *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	var w *httptest.ResponseRecorder
	endsSoon(t, what, func() {
		w = httptest.NewRecorder()
		h.ServeHTTP(w, ask())
	})
	return w
}

// endsSoon repeats an action until it ends soon, up to a number of times, and reports if it never does.
func endsSoon(t *testing.T, what string, do func()) {
	t.Helper()
	least, limit := time.Hour, soon*slowdown
	for tries := 0; tries < 5 && least > limit && (tries == 0 || least < 20*limit); tries++ {
		before := worked(t)
		do()
		least = min(least, worked(t)-before)
	}
	if least > 3*limit { // a processor that shares its core and caches with busy ones takes two or three times as long
		t.Errorf("%s takes %s", what, least)
	}
}

// good returns valid values for the parameters other than the oversized one.
var good = map[string]string{
	"chainId": "43114", "network": "mainnet", "blockchainId": "p-chain", "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
	"blockId": "1", "metric": "txCount", "sourceChainId": "43114", "file": "x.svg", "kind": "crystals",
}

// TestLongTextsAreAnsweredAtOnce sends texts of the greatest accepted length in every parameter and body of every operation, and in the parameters of
// every method of the node.
func TestLongTextsAreAnsweredAtOnce(t *testing.T) {
	h, err := handlers.New(tinyWorld(t), handlers.Options{Network: "mainnet", Node: handlers.NodeOptions{Admin: true, Profiles: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	head, body, call := 60_000, 1<<20-2000, 5<<20-2000
	if testing.Short() { // quadratic cost still shows at this length
		t.Log("left out of a short run: the longest texts")
		body, call = 128<<10, 128<<10
	}
	count := 0
	sampled := func(every int) bool { // a short run takes one in so many, different ones for each operation and method
		if count++; !testing.Short() {
			every = walkEvery
		}
		return count%every == 0
	}
	texts, long := longTexts(head), bodies(body)
	for _, o := range operationsOf(t, h) {
		for _, p := range o.Parameters {
			for _, text := range texts {
				if !sampled(61) {
					continue
				}
				what := fmt.Sprintf("%s %s with %s %.8s…", o.method, o.path, p.Name, text)
				w := answersSoon(t, h, what, func() *http.Request { return o.request(p.Name, text) })
				if w.Code < 400 || w.Code >= 500 {
					t.Errorf("%s: %d %.200s", what, w.Code, w.Body)
				}
			}
		}
		if o.RequestBody == nil {
			continue
		}
		for _, text := range long {
			if !sampled(61) {
				continue
			}
			what := fmt.Sprintf("%s %s with the body %.60s…", o.method, o.path, text)
			w := answersSoon(t, h, what, func() *http.Request {
				r := httptest.NewRequest(o.method, o.target(), strings.NewReader(text))
				r.Header.Set("Content-Type", "application/json")
				return r
			})
			if w.Code < 400 || w.Code >= 500 {
				t.Errorf("%s: %d %.200s", what, w.Code, w.Body)
			}
		}
	}
	values, parameters := longValues(call), parametersOf(t, h)
	walked := map[string]bool{} // chains of one kind share their methods
	for _, e := range nodeEndpoints(t, h) {
		for _, method := range e.Operations {
			if walked[method] {
				continue
			}
			walked[method] = true
			for n, form := range callForms(strings.Contains(method, "."), parameters[method]) {
				if !sampled(61) {
					continue
				}
				params := form(values[(count+n)%len(values)]) // each parameter gets one of them, and another in the next method
				what := fmt.Sprintf("%s of %s with %.60s…", method, e.Paths[0], params)
				w := answersSoon(t, h, what, func() *http.Request { return rpcRequest(e.Paths[0], method, params) })
				if w.Code >= 500 || w.Code == 200 && !json.Valid(w.Body.Bytes()) {
					t.Errorf("%s: %d %.200s", what, w.Code, w.Body)
				}
			}
		}
	}
	for _, value := range values { // every kind of them, where parameters are lists, objects, texts and names
		for _, c := range []struct{ path, method, params string }{
			{"/ext/bc/C/rpc", "eth_getBalance", "[" + value + "]"}, {"/ext/bc/C/rpc", "eth_getLogs", `[{"address":` + value + `}]`}, {"/ext/bc/C/rpc", "eth_call", `[{"data":` + value + `}]`},
			{"/ext/bc/P", "platform.getBalance", `{"addresses":` + value + `}`}, {"/ext/bc/X", "avm.getTx", `{"txID":` + value + `}`}, {"/ext/info", "info.isBootstrapped", `{"chain":` + value + `}`},
			{"/ext/bc/C/rpc", "warp_getMessage", "[" + value + "]"},
		} {
			if sampled(31) || c.method == "warp_getMessage" { // it once decoded ids of any length
				answersSoon(t, h, fmt.Sprintf("%s with %.60s…", c.method, c.params), func() *http.Request { return rpcRequest(c.path, c.method, c.params) })
			}
		}
	}
	texts = longTexts(head)
	for _, page := range []string{"/search?q=", "/tx/", "/address/", "/block/", "/token/", "/sim/explorer/", "/sim/explorer/43114/tx/", "/sim/explorer/43114/address/", "/p/", "/p/mainnet/tx/",
		"/x/mainnet/address/", "/c/mainnet/tx/", "/p/mainnet/node/", "/p/mainnet/subnet/", "/x/mainnet/asset/", "/requests/", "/docs/", "/messages/", "/charts?metric=", "/messages?after="} {
		for _, text := range texts {
			if !sampled(61) {
				continue
			}
			w := answersSoon(t, h, fmt.Sprintf("%s%.8s…", page, text), func() *http.Request {
				return httptest.NewRequest(http.MethodGet, "http://localhost"+page+url.PathEscape(text)[:head], nil)
			})
			if w.Code >= 500 {
				t.Errorf("%s%.8s…: %d %.200s", page, text, w.Code, w.Body)
			}
		}
	}
	messagesEndSoon(t, h, values, sampled)
	texts = longTexts(900_000)
	for _, path := range []string{"/ext/bc/", "/ext/bc/C/", "/ext/", "/fuji/ext/bc/", "/v1/", "/sim/", "/"} {
		for _, text := range texts {
			if !sampled(61) {
				continue
			}
			w := answersSoon(t, h, fmt.Sprintf("%s%.8s…", path, text), func() *http.Request {
				return httptest.NewRequest(http.MethodGet, "http://localhost"+path+url.PathEscape(text)+"/validators", nil)
			})
			if w.Code < 300 || w.Code >= 500 {
				t.Errorf("%s%.8s…: %d %.200s", path, text, w.Code, w.Body)
			}
		}
	}
	if count < 5_000 {
		t.Errorf("only %d requests, of which a short run tries some", count)
	}
}

// rpcRequest returns a call of a method of the node.
func rpcRequest(path, method, params string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	return r
}

// messagesEndSoon sends long texts over a WebSocket.
func messagesEndSoon(t *testing.T, h http.Handler, values []string, sampled func(int) bool) {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	for _, value := range values {
		if !sampled(7) {
			continue
		}
		socket, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+"/ext/bc/C/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		message := []byte(`{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"address":` + value + `}]}`)
		endsSoon(t, fmt.Sprintf("a message with %.60s…", value), func() {
			if err := socket.WriteMessage(websocket.TextMessage, message); err != nil {
				t.Fatal(err)
			}
			if _, answer, err := socket.ReadMessage(); err != nil || !json.Valid(answer) {
				t.Fatalf("%.200s, %v", answer, err)
			}
		})
		socket.Close()
	}
}

// parametersOf returns the parameter names of every method in the OpenRPC document.
func parametersOf(t *testing.T, h http.Handler) map[string][]string {
	t.Helper()
	var document struct {
		Methods []struct {
			Name   string
			Params []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/openrpc.json", "")), &document); err != nil || len(document.Methods) < 200 {
		t.Fatalf("the document has %d methods: %v", len(document.Methods), err)
	}
	all := map[string][]string{}
	for _, m := range document.Methods {
		for _, p := range m.Params {
			all[m.Name] = append(all[m.Name], p.Name)
		}
	}
	return all
}

// described is an operation from the OpenAPI document.
type described struct {
	method, path string
	Parameters   []struct{ Name, In string }
	RequestBody  *struct{}
}

func operationsOf(t *testing.T, h http.Handler) (all []described) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var document struct {
		Paths map[string]map[string]described
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	for path, methods := range document.Paths {
		for method, o := range methods {
			o.method, o.path = strings.ToUpper(method), path
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b described) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

// target returns a path with good values.
func (o described) target() string { return o.request("", "").URL.String() }

// request puts a text into one parameter.
func (o described) request(name, text string) *http.Request {
	path, query := o.path, url.Values{}
	for _, p := range o.Parameters {
		value := good[p.Name]
		if value == "" {
			value = "1"
		}
		if p.Name == name {
			value = text
		}
		switch {
		case p.In == "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(value), 1)
		case p.Name == name:
			query.Set(name, text)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
		path = path[:min(len(path), 62_000)]
		if cut := strings.LastIndexByte(path, '%'); cut > len(path)-3 {
			path = path[:cut]
		}
	}
	return httptest.NewRequest(o.method, path, nil)
}

// bodies returns bodies of REST operations with a long text or a long list in one member each.
func bodies(size int) (all []string) {
	alice := good["address"]
	for _, text := range longTexts(size) {
		quoted, _ := json.Marshal(text) // strings always encode
		long := string(quoted[:min(len(quoted)-1, size)])
		long = strings.TrimRight(long, `\`) + `"`
		all = append(all, text[:min(len(text), size)],
			`{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["`+alice+`"],"includeChains":[`+long+`]}}`,
			`{"type":"TRANSACTION_EXPORT_PRIMARY_NETWORK","options":{"addresses":[`+long+`],"includeChains":["p-chain"]}}`,
			`{"type":`+long+`,"firstDate":"1"}`, `{"addresses":`+long+`}`, `{"message":`+long+`}`, `{"message":"0x00","signingSubnetId":`+long+`}`)
	}
	for _, item := range []string{`"z"`, `"43114"`, `["1"]`, `{}`, `0`, `1e99`, `""`} {
		list := "[" + strings.Repeat(item+",", size/(len(item)+1)-100) + item + "]"
		all = append(all, list, `{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":`+list+`,"includeChains":["43114"]}}`,
			`{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["`+alice+`"],"includeChains":`+list+`}}`,
			`{"type":"TRANSACTION_EXPORT_PRIMARY_NETWORK","options":{"addresses":["avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"],"includeChains":`+list+`}}`)
	}
	return all
}

// longValues returns long texts, long lists of short ones, and deeply nested ones, as JSON.
func longValues(size int) (all []string) {
	for _, text := range longTexts(size)[:6] {
		quoted, _ := json.Marshal(text) // strings always encode
		all = append(all, string(quoted))
	}
	for _, item := range []string{`"z"`, `"11111111111111111111111111111111LpoYY"`, `"P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"`, `"0x` + strings.Repeat("ab", 32) + `"`, `[]`, `{}`, `null`} {
		all = append(all, "["+strings.Repeat(item+",", size/(len(item)+1)-4)+item+"]")
	}
	return append(all, strings.Repeat("[", 9000)+strings.Repeat("]", 9000))
}

// callForms returns parameters of a node's method with a place for a value: by name for its own services; by position, and inside objects, for an EVM
// chain.
func callForms(named bool, parameters []string) (all []func(value string) string) {
	var forms []string
	if named {
		for _, name := range parameters {
			forms = append(forms, `{"`+name+`":$}`)
		}
	} else {
		before := ""
		for _, name := range parameters {
			forms = append(forms, "["+before+"$]")
			value := `"0x1"`
			switch name {
			case "address", "account", "from", "owner":
				value = `"` + good["address"] + `"`
			case "call", "tx", "args", "transaction":
				value = `{"to":"` + good["address"] + `"}`
			case "hash":
				value = `"0x` + strings.Repeat("ab", 32) + `"`
			}
			before += value + ","
		}
		if len(parameters) > 0 {
			forms = append(forms, `[{"to":"0x0000000000000000000000000000000000000001","data":$}]`, `[{"to":"0x0000000000000000000000000000000000000001","accessList":$}]`,
				`[{"fromBlock":"0x0","topics":[$]}]`, `[{"to":"0x0000000000000000000000000000000000000001"},"latest",{"0x0000000000000000000000000000000000000001":{"code":$}}]`,
				`["0x`+strings.Repeat("ab", 32)+`",{"tracer":$}]`)
		}
	}
	for _, form := range append(forms, "$") {
		before, after, _ := strings.Cut(form, "$")
		all = append(all, func(value string) string { return before + value + after })
	}
	return all
}
