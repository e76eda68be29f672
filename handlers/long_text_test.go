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

	"snowglobe/handlers"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
)

// longTexts are texts of a length, of the kinds that are dear to read for somebody.
func longTexts(size int) []string {
	return []string{
		strings.Repeat("z", size), strings.Repeat("1", size), "0x" + strings.Repeat("ab", size/2), strings.Repeat("9", size),
		strings.Repeat("[", size), strings.Repeat("1,", size/2), strings.Repeat("{\"a\":", size/5), "NodeID-" + strings.Repeat("z", size),
		"P-avax1" + strings.Repeat("q", size), strings.Repeat("%2F", size/3),
	}
}

// soon is within what time a text that is too long is answered, whatever is asked with it. It is the processor's time that counts,
// as the machine may be busy with something else; one that looks for races may take the slack.
const (
	soon  = 100 * time.Millisecond
	slack = 10 * soon
)

// answersSoon asks until the answer comes soon, as this machine may be busy with something else, and reports when it never does.
func answersSoon(t *testing.T, h http.Handler, what string, ask func() *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	least := time.Hour
	for tries := 1; tries <= 8 && (tries == 1 || least < 20*slack); tries++ {
		r, w := ask(), httptest.NewRecorder()
		before := worked(t)
		h.ServeHTTP(w, r)
		if least = min(least, worked(t)-before); least <= soon || least <= slack && tries == 3 {
			return w
		}
	}
	t.Errorf("%s takes %s", what, least)
	return httptest.NewRecorder()
}

// good are values for the parameters beside the one that is too long.
var good = map[string]string{
	"chainId": "43114", "network": "mainnet", "blockchainId": "p-chain", "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
	"blockId": "1", "metric": "txCount", "sourceChainId": "43114", "file": "x.svg", "kind": "crystals",
}

// TestLongTextsAreAnsweredAtOnce sends texts as long as the server takes them in every parameter and every body of every
// operation, and in the parameters of every method of the node.
func TestLongTextsAreAnsweredAtOnce(t *testing.T) {
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet", Node: handlers.NodeOptions{Admin: true, Profiles: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	head, body, call := 60_000, 1<<20-2000, 5<<20-2000
	if testing.Short() { // what costs the square of the length is slow enough for the test then too
		body, call = 128<<10, 128<<10
	}
	count := 0
	sampled := func(every int) bool { // one of so many, others of each operation and method
		if count++; testing.Short() {
			every *= 61
		} else {
			every *= 40 // texts of megabytes
		}
		return count%every == 0
	}
	texts, long := longTexts(head), bodies(body)
	for _, o := range operationsOf(t, h) {
		for _, p := range o.Parameters {
			for _, text := range texts {
				if !sampled(1) {
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
			if !sampled(1) {
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
	values := longValues(call)
	for _, e := range nodeEndpoints(t, h) {
		for _, method := range e.Operations {
			forms := callForms(strings.Contains(method, "."))
			for i := range len(forms) * len(values) {
				if !sampled(29) {
					continue
				}
				params := forms[i%len(forms)](values[i/len(forms)])
				what := fmt.Sprintf("%s of %s with %.60s…", method, e.Paths[0], params)
				w := answersSoon(t, h, what, func() *http.Request {
					r := httptest.NewRequest(http.MethodPost, e.Paths[0], strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
					r.Host = "localhost"
					r.Header.Set("Content-Type", "application/json")
					return r
				})
				if w.Code >= 500 || w.Code == 200 && !json.Valid(w.Body.Bytes()) {
					t.Errorf("%s: %d %.200s", what, w.Code, w.Body)
				}
			}
		}
	}
	texts = longTexts(900_000)
	for _, path := range []string{"/ext/bc/", "/ext/bc/C/", "/ext/", "/fuji/ext/bc/", "/v1/", "/sim/", "/"} {
		for _, text := range texts {
			if !sampled(1) {
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
	if count < 10_000 {
		t.Errorf("only %d requests, of which some were tried", count)
	}
}

// described is an operation as the OpenAPI document describes it.
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

// target is a path with good values.
func (o described) target() string { return o.request("", "").URL.String() }

// request gives one parameter a text.
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

// bodies are bodies of REST operations with a long text or a long list in every member.
func bodies(size int) (all []string) {
	alice := good["address"]
	for _, text := range longTexts(size) {
		quoted, _ := json.Marshal(text) // a text is JSON
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

// longValues are long texts, lists of many short ones, and deep ones, as JSON.
func longValues(size int) (all []string) {
	for _, text := range longTexts(size)[:6] {
		quoted, _ := json.Marshal(text) // a text is JSON
		all = append(all, string(quoted))
	}
	for _, item := range []string{`"z"`, `"11111111111111111111111111111111LpoYY"`, `"P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"`, `"0x` + strings.Repeat("ab", 32) + `"`, `[]`, `{}`, `null`} {
		all = append(all, "["+strings.Repeat(item+",", size/(len(item)+1)-4)+item+"]")
	}
	return append(all, strings.Repeat("[", 9000)+strings.Repeat("]", 9000))
}

// callForms are parameters of the node's methods in which a value may stand: by name for its own services, by position for those
// of an EVM chain.
func callForms(named bool) (all []func(value string) string) {
	forms := []string{
		`[$]`, `["0x1",$]`, `[{"from":"0x01","to":$}]`, `[{"to":"0x0000000000000000000000000000000000000001","data":$}]`,
		`[{"to":"0x0000000000000000000000000000000000000001","value":$}]`, `[{"to":"0x0000000000000000000000000000000000000001","accessList":$}]`,
		`[{"fromBlock":"0x0","address":$}]`, `[{"fromBlock":"0x0","topics":$}]`, `[{"fromBlock":"0x0","topics":[$]}]`,
		`[{"to":"0x0000000000000000000000000000000000000001","data":"0x"},"latest",{"0x0000000000000000000000000000000000000001":{"code":$}}]`,
		`["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",$,"latest"]`, `["0x5","latest",$]`,
		`["0x` + strings.Repeat("ab", 32) + `",{"tracer":$}]`,
		`[{"to":"0x0000000000000000000000000000000000000001","data":"0x"},"latest",{"tracer":"callTracer","tracerConfig":$}]`,
	}
	if named {
		forms = nil
		for _, name := range strings.Fields("txID blockID address addresses assetID subnetID subnetIDs ids nodeIDs blockchainID chain alias endpoint " +
			"height encoding key tx limit startIndex loggerName logLevel validationID") {
			forms = append(forms, `{"`+name+`":$}`)
		}
	}
	for _, form := range forms {
		before, after, _ := strings.Cut(form, "$")
		all = append(all, func(value string) string { return before + value + after })
	}
	return all
}

// nodeEndpoints are the paths of the node with their methods, each once.
func nodeEndpoints(t *testing.T, h *handlers.Server) (all []rest.Endpoint) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/sim/world", nil))
	var world struct{ Endpoints []rest.Endpoint }
	if err := json.Unmarshal(w.Body.Bytes(), &world); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range world.Endpoints {
		key := strings.Join(e.Operations, " ")
		if e.Interface == "node" && slices.Contains(e.Methods, http.MethodPost) && !seen[key] && !strings.Contains(e.Paths[0], "{") {
			seen[key] = true
			all = append(all, e)
		}
	}
	if len(all) < 5 {
		t.Fatalf("only %d endpoints of the node", len(all))
	}
	return all
}

// TestEveryMethodHasItsClass: what changes the world is refused to a page of another origin, by its own error; so no method that is
// added later is let through unseen.
func TestEveryMethodHasItsClass(t *testing.T) {
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet", Node: handlers.NodeOptions{Admin: true, Profiles: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "https://evil.example")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	suspicious := []string{"send", "sign", "set", "add", "mine", "drop", "remove", "issue", "alias", "start", "stop", "lock", "load", "impersonate", "revert", "snapshot", "reset", "increase"}
	for _, e := range nodeEndpoints(t, h) {
		for _, method := range e.Operations {
			_, name, _ := strings.Cut(strings.ReplaceAll(method, ".", "_"), "_")
			changes := slices.ContainsFunc(suspicious, func(verb string) bool { return strings.HasPrefix(name, verb) })
			class := permit.Of(method)
			if changes && class == permit.Read {
				t.Errorf("%s only reads, by its class", method)
			}
			w := ask(e.Paths[0], `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
			if refused := strings.Contains(w.Body.String(), "--allow-origin"); refused != (class == permit.Control) || w.Code != 200 {
				t.Errorf("%s of class %d: %d %.200s", method, class, w.Code, w.Body)
			}
		}
	}
	if w := ask("/v1/operations/transactions:export", `{}`); w.Code != 403 || !strings.Contains(w.Body.String(), `"statusCode":403`) {
		t.Errorf("an export: %d %s", w.Code, w.Body)
	}
	for origin, status := range map[string]int{"http://localhost": 415, "": 400} { // a body without a type
		r := httptest.NewRequest(http.MethodPost, "/v1/operations/transactions:export", strings.NewReader(`{}`))
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != status {
			t.Errorf("an export of origin %q without a content type: %d %s", origin, w.Code, w.Body)
		}
	}
}
