package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// documented answers with the descriptions of an interface with some operations and methods.
func documented() map[string]string {
	var paths []string
	for i := range 11 {
		paths = append(paths, fmt.Sprintf(`"/many/%d":{"get":{"operationId":"many%02d","summary":"Quokkas","description":""}}`, i, 10-i))
	}
	return map[string]string{
		"GET /openapi.json": `{"paths":{
			"/v9/numbats":{"get":{"operationId":"wombat","summary":"Lists them","description":"All of them."},"post":{"operationId":"aNumbat","summary":"Makes one","description":"A Wombat is none. Numbats dig."}},
			"/v9/{wombat}":{"delete":{"operationId":"zPath","summary":"Nothing","description":"x"}},` + strings.Join(paths, ",") + `}}`,
		"GET /openrpc.json": `{"methods":[
			{"name":"dig_Wombats","summary":"Digs","description":"a","servers":[{"name":"C-Chain"},{"name":"L1s"}]},
			{"name":"dig_last","summary":"Where a WOMBAT digs","description":"","servers":[]},
			{"name":"quokka","summary":"One","description":"wallaby"}]}`,
		"GET /openapi.json?operation=wombat":     `{"operationId":"wombat"}`,
		"GET /openapi.json?operation=dig_last":   `404 {"message":"no such operation"}`,
		"GET /docs/methods/dig_last":             `{"operationId":"dig_last"}`,
		"GET /openapi.json?operation=a%2F..%3Fb": `404 {"message":"no such operation"}`,
		"GET /docs/methods/a%2F..%3Fb":           `404 {"message":"no such method"}`,
		"GET /openapi.json?operation=broken":     `500 {"message":"damaged"}`,
		"GET /openapi.json?operation=late":       `404 {"message":"no such operation"}`,
		"GET /docs/methods/late":                 `503 {"message":"later"}`,
	}
}

// TestWhatIsNamedSoComesFirst: a hit weighs more in the whole name than in a part of it, then in the summary, then in the text; every word counts
// once; equals are sorted by name; there are at most twelve.
func TestWhatIsNamedSoComesFirst(t *testing.T) {
	api, h := telling(documented())
	var many []string
	for i := range 11 {
		many = append(many, fmt.Sprintf("operation many%02d Quokkas GET /many/%d", i, 10-i))
	}
	const (
		whole, part, summary = "operation wombat Lists them GET /v9/numbats", "method dig_Wombats Digs C-Chain", "method dig_last Where a WOMBAT digs "
		text, path           = "operation aNumbat Makes one POST /v9/numbats", "operation zPath Nothing DELETE /v9/{wombat}"
		quokka               = "method quokka One "
	)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"Wombat", []string{whole, part, summary, text, path}},
		{"  WOMBAT\tnumbat ", []string{whole, text, part, summary, path}}, // 60+10, 10+30, 30, 20, 10
		{"wombat wombat", []string{whole, part, summary, text, path}},     // no order but this
		{"dig_last wombat", []string{summary, whole, part, text, path}},   // 60+20, 60, 30, 10, 10
		{"dig_last dig_", []string{summary, part}},                        // 60+30, 30
		{"lists_no wallaby", []string{quokka}},                            // in its text alone
		{"quokka", append([]string{quokka}, many...)},                     // 60, then 20 each
		{"quokkas quokka", append([]string{quokka}, many...)},             // 60, then 40 each
		{"zzzyzx", nil},
		{strings.Repeat("zzzyzx ", 42) + "zzzyzx", nil}, // 300 letters
		{strings.Repeat("zzzyzx ", 41) + "zzzyzx wombat", []string{whole, part, summary, text, path}},
	} {
		var found struct {
			Results []struct{ Kind, Name, Summary, Where string }
		}
		if err := json.Unmarshal([]byte(use(t, h, "search_documentation", `{"query":`+quote(c.query)+`}`)), &found); err != nil || found.Results == nil {
			t.Errorf("%s: %v", c.query, err)
		}
		var got []string
		for _, r := range found.Results {
			got = append(got, strings.Join([]string{r.Kind, r.Name, r.Summary, r.Where}, " "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.query, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	if asked := api.took(); !slices.Equal(asked, []string{"GET /openapi.json", "GET /openrpc.json"}) {
		t.Errorf("asked %q for what never changes", asked)
	}
	if got := use(t, h, "search_documentation", `{"query":"the"}`); strings.Count(got, `"kind"`) != 12 {
		t.Error(got)
	}
	if got := use(t, h, "search_documentation", `{"query":"prometheus"}`); !strings.Contains(got, `"kind":"page"`) || strings.Contains(got, `"where"`) {
		t.Error(got)
	}
	for _, query := range []string{"", " \t", strings.Repeat("a", 301)} {
		if got := use(t, h, "search_documentation", `{"query":`+quote(query)+`}`); got != "failed: expected some words, at most 300 letters in all" {
			t.Errorf("%q: %s", query, got)
		}
	}
}

func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// TestDocumentationThatCannotBeRead: an agent reads why, and a later search tries again.
func TestDocumentationThatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ path, answer, want string }{
		{"GET /openapi.json", `503 {"message":"later"}`, "failed: 503: later"},
		{"GET /openapi.json", `[]`, "failed: the OpenAPI document: json: "},
		{"GET /openrpc.json", `503 {"message":"later"}`, "failed: 503: later"},
		{"GET /openrpc.json", `[]`, "failed: the OpenRPC document: json: "},
	} {
		api, h := telling(documented())
		good := api.answers[c.path]
		api.answers[c.path] = c.answer
		if got := use(t, h, "search_documentation", `{"query":"wombat"}`); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s: %s", c.path, c.answer, got)
		}
		api.answers[c.path] = good
		if got := use(t, h, "search_documentation", `{"query":"wombat"}`); !strings.Contains(got, `"name":"wombat"`) {
			t.Errorf("%s: %s", c.path, got)
		}
	}
}

// TestDocumentationIsReadByName: a page with the URLs that the client knows, an operation, a method, in this order.
func TestDocumentationIsReadByName(t *testing.T) {
	api, h := telling(documented())
	for _, c := range []struct {
		name, want string
		asked      []string
	}{
		{"wombat", `{"operationId":"wombat"}`, []string{"GET /openapi.json?operation=wombat"}},
		{"dig_last", `{"operationId":"dig_last"}`, []string{"GET /openapi.json?operation=dig_last", "GET /docs/methods/dig_last"}},
		{"a/..?b", `failed: no page, operation or method is called "a/..?b"; search_documentation finds them`, []string{"GET /openapi.json?operation=a%2F..%3Fb", "GET /docs/methods/a%2F..%3Fb"}},
		{"broken", "failed: 500: damaged", []string{"GET /openapi.json?operation=broken"}},
		{"late", "failed: 503: later", []string{"GET /openapi.json?operation=late", "GET /docs/methods/late"}},
	} {
		got := use(t, h, "read_documentation", `{"name":"`+c.name+`"}`)
		if asked := api.took(); got != c.want || !slices.Equal(asked, c.asked) {
			t.Errorf("%s: %s %q", c.name, got, asked)
		}
	}
	for _, name := range []string{"faucet", "faucet.md"} {
		if got := use(t, h, "read_documentation", `{"name":"`+name+`"}`); !strings.HasPrefix(got, "# The faucet\n") || !strings.Contains(got, "http://example.com/") || strings.Contains(got, "127.0.0.1:9650") {
			t.Errorf("%s: %.500s", name, got)
		}
	}
	if asked := api.took(); asked != nil {
		t.Errorf("asked %q for pages", asked)
	}
}

// TestResources: the manual's pages, the descriptions of the interfaces, and templates for single ones; what does not exist is called so, other
// failures are not.
func TestResources(t *testing.T) {
	api, h := telling(map[string]string{
		"GET /docs/faucet.md":                    "# The faucet",
		"GET /openapi.json":                      "{}",
		"GET /openapi.json?operation=getChain":   `{"operationId":"getChain"}`,
		"GET /docs/methods/eth_call":             `{"operationId":"eth_call"}`,
		"GET /docs/methods/nothing":              `404 {"message":"no such method"}`,
		"GET /docs/faults.md":                    `500 {"message":"damaged"}`,
		"GET /openapi.json?operation=a%252Fb%25": `403 {"message":"no"}`,
	})
	for _, c := range []struct{ uri, kind, want, asked string }{
		{"snowglobe://manual/faucet", "text/markdown", "# The faucet", "GET /docs/faucet.md"},
		{"snowglobe://openapi", "application/json", "{}", "GET /openapi.json"},
		{"snowglobe://openrpc", "application/json", "{}", "GET /openrpc.json"},
		{"snowglobe://operations/getChain", "application/json", `{"operationId":"getChain"}`, "GET /openapi.json?operation=getChain"},
		{"snowglobe://methods/eth_call", "application/json", `{"operationId":"eth_call"}`, "GET /docs/methods/eth_call"},
		{"snowglobe://methods/nothing", "", "-32602 Resource not found", "GET /docs/methods/nothing"},
		{"snowglobe://manual/faults", "", "500: damaged", "GET /docs/faults.md"},
		{"snowglobe://manual/nothing", "", "-32602 Resource not found", ""},
	} {
		var read struct {
			Contents []struct{ URI, MimeType, Text string }
		}
		got, kind := ask(t, h, "resources/read", `{"uri":"`+c.uri+`"}`, &read), ""
		if len(read.Contents) == 1 {
			got, kind = read.Contents[0].Text, read.Contents[0].MimeType
			if read.Contents[0].URI != c.uri {
				t.Errorf("%s is called %s", c.uri, read.Contents[0].URI)
			}
		}
		if asked := strings.Join(api.took(), " "); !strings.HasSuffix(got, c.want) || kind != c.kind || asked != c.asked {
			t.Errorf("%s: %s %s %s", c.uri, kind, got, asked)
		}
	}
	var list struct {
		Resources         []struct{ URI, Name, Title, Description, MimeType string }
		ResourceTemplates []struct{ URITemplate, Name, Title, MimeType string }
	}
	if problem := ask(t, h, "resources/list", "{}", &list); problem != "" {
		t.Fatal(problem)
	}
	if problem := ask(t, h, "resources/templates/list", "{}", &list); problem != "" {
		t.Fatal(problem)
	}
	text := fmt.Sprint(list.Resources)
	for _, part := range []string{"{snowglobe://manual/faucet faucet The faucet ", "{snowglobe://openapi openapi OpenAPI The Data API, ", "{snowglobe://openrpc openrpc OpenRPC The node's JSON-RPC, "} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is missing in %s", part, text)
		}
	}
	if got := fmt.Sprint(list.ResourceTemplates); got != "[{snowglobe://methods/{name} methods One JSON-RPC method, as OpenAPI application/json} {snowglobe://operations/{name} operations One operation of REST, as OpenAPI application/json}]" {
		t.Error(got)
	}
}
