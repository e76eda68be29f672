package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// requests shows the latest requests of clients.
func requests(p *page) error {
	q := p.r.URL.Query()
	all := get("requests", "/sim/requests").query("pageSize", "40").query("pageToken", p.arg("pageToken"))
	for _, name := range []string{"interface", "operation", "status", "client", "failed"} {
		all.query(name, q.Get(name))
	}
	p.Data = J{"interfaces": []string{"data", "metrics", "node", "etherscan", "sourcify", "sim"}}
	if p.part("request-list") {
		return p.load(all)
	}
	calls := []*Call{all.opt()}
	if p.names.Serves("listFaults") {
		calls = append(calls, get("faults", "/sim/faults").opt())
	}
	if p.names.Serves("listWorlds") {
		calls = append(calls, get("worlds", "/sim/worlds").opt())
	}
	return p.showAs("requests", "requests", "Requests", calls...)
}

// request shows one request with its response.
func request(p *page) error {
	if err := p.load(get("request", "/sim/requests/%s", p.arg("id"))); err != nil {
		return err
	}
	p.part("request-detail")
	p.Data = &requestView{p, p.Got["request"]}
	return p.showAs("request", "requests", "Request "+p.arg("id"))
}

// gas shows the gas of each function of each contract.
func gas(p *page) error {
	return p.showAs("gas", "requests", "Gas", get("gas", "/sim/gas").opt())
}

type requestView struct {
	page *page
	R    any
}

// Body formats a body for people, if it is JSON.
func (*requestView) Body(v any) string {
	decoded, err := decode([]byte(text(v)))
	if err != nil {
		return text(v)
	}
	return indented(decoded)
}

// serverVariable is the environment variable that exec sets. Without it, a generated test asks the server that shows the page.
const serverVariable = "SNOWGLOBE_URL"

// test holds the parts of a request that a generated test needs.
type test struct {
	name         string // operation and status
	target, base string
	method, body string // the body may be empty
	status       string
	answer       string // indented JSON; empty if the answer is not JSON, or the journal kept only a part
}

func (v *requestView) test() test {
	t := test{target: text(dig(v.R, "path")), base: v.page.origin, method: text(dig(v.R, "method")), body: text(dig(v.R, "requestBody")), status: text(dig(v.R, "status"))}
	if q := text(dig(v.R, "query")); q != "" {
		t.target += "?" + q
	}
	t.name = text(dig(v.R, "operation")) + " answers " + t.status
	if text(dig(v.R, "websocket")) == "true" { // the same call over HTTP
		t.method, t.target = http.MethodPost, strings.TrimSuffix(t.target, "/ws")+"/rpc"
	}
	if body := text(dig(v.R, "responseBody")); json.Valid([]byte(body)) {
		t.answer = v.Body(body)
	}
	return t
}

// Vitest returns a test of the request for Vitest.
func (v *requestView) Vitest() string {
	t := v.test()
	var b strings.Builder
	fmt.Fprintf(&b, "import { expect, test } from \"vitest\";\n\nconst server = process.env.%s ?? %s;\n\ntest(%s, async () => {\n  const response = await fetch(server + %s",
		serverVariable, compact(t.base), compact(t.name), compact(t.target))
	if t.method != http.MethodGet {
		fmt.Fprintf(&b, ", {\n    method: %s,\n    headers: { \"content-type\": \"application/json\" },\n    body: %s,\n  }", compact(t.method), compact(t.body))
	}
	fmt.Fprintf(&b, ");\n  expect(response.status).toBe(%s);\n", t.status)
	if t.answer != "" {
		b.WriteString("  expect(await response.json()).toEqual(" + strings.ReplaceAll(t.answer, "\n", "\n  ") + ");\n")
	}
	b.WriteString("});\n")
	return b.String()
}

// Pytest returns a test for pytest that needs no other packages.
func (v *requestView) Pytest() string {
	t := v.test()
	var b strings.Builder
	b.WriteString("import json\nimport os\nimport urllib.error\nimport urllib.request\n\n")
	fmt.Fprintf(&b, "SERVER = os.environ.get(%s, %s)\n\n\ndef test_%s():\n", compact(serverVariable), compact(t.base), identifier(t.name, "_"))
	body := "None"
	if t.body != "" {
		body = compact(t.body) + ".encode()"
	}
	fmt.Fprintf(&b, "    request = urllib.request.Request(\n        SERVER + %s,\n        data=%s,\n        headers={\"Content-Type\": \"application/json\"},\n        method=%s,\n    )\n",
		compact(t.target), body, compact(t.method))
	b.WriteString("    try:\n        response = urllib.request.urlopen(request)\n    except urllib.error.HTTPError as refused:\n        response = refused\n")
	fmt.Fprintf(&b, "    assert response.status == %s\n", t.status)
	if t.answer != "" {
		fmt.Fprintf(&b, "    assert json.load(response) == json.loads(\n        %s\n    )\n", pythonText(t.answer))
	}
	return b.String()
}

// pythonText returns a string literal: over several lines, or on one if the text contains what would end a raw literal.
func pythonText(s string) string {
	if strings.Contains(s, `"""`) || strings.HasSuffix(s, `"`) || strings.HasSuffix(s, `\`) {
		return compact(s)
	}
	return `r"""` + s + `"""`
}

// Go returns a test for package testing.
func (v *requestView) Go() string {
	t := v.test()
	var b strings.Builder
	b.WriteString("package snowglobe_test\n\nimport (\n\t\"cmp\"\n")
	if t.answer != "" {
		b.WriteString("\t\"encoding/json\"\n")
	}
	b.WriteString("\t\"net/http\"\n\t\"os\"\n")
	if t.answer != "" {
		b.WriteString("\t\"reflect\"\n")
	}
	b.WriteString("\t\"strings\"\n\t\"testing\"\n)\n\n")
	fmt.Fprintf(&b, "func Test%s(t *testing.T) {\n\tserver := cmp.Or(os.Getenv(%q), %q)\n", identifier(t.name, ""), serverVariable, t.base)
	fmt.Fprintf(&b, "\trequest, err := http.NewRequestWithContext(t.Context(), %q, server+%s, strings.NewReader(%s))\n", t.method, strconv.Quote(t.target), goText(t.body))
	b.WriteString("\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\trequest.Header.Set(\"Content-Type\", \"application/json\")\n\tresponse, err := http.DefaultClient.Do(request)\n")
	b.WriteString("\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tdefer response.Body.Close()\n")
	fmt.Fprintf(&b, "\tif response.StatusCode != %s {\n\t\tt.Errorf(\"status %%d\", response.StatusCode)\n\t}\n", t.status)
	if t.answer != "" {
		fmt.Fprintf(&b, "\tvar got, want any\n\tif err := json.NewDecoder(response.Body).Decode(&got); err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif err := json.Unmarshal([]byte(%s), &want); err != nil {\n\t\tt.Fatal(err)\n\t}\n",
			goText(t.answer))
		b.WriteString("\tif !reflect.DeepEqual(got, want) {\n\t\tt.Errorf(\"got %v, want %v\", got, want)\n\t}\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// goText returns a string literal: over several lines, or on one if backquotes cannot hold the text.
func goText(s string) string {
	if !strconv.CanBackquote(strings.ReplaceAll(s, "\n", "")) || s == "" {
		return strconv.Quote(s)
	}
	return "`" + s + "`"
}

// identifier turns the words of a text into a name: joined by a separator, or capitalized.
func identifier(name, separator string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		if separator == "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		} else {
			words[i] = strings.ToLower(word)
		}
	}
	return strings.Join(words, separator)
}

// Fault returns a rule that makes the next such request fail.
func (v *requestView) Fault() J {
	if calls := list(dig(v.R, "calls")); len(calls) > 0 {
		return J{"match": J{"rpcMethod": dig(calls[0], "method")}, "action": J{"rpcError": J{"code": -32000, "message": "this request was asked to fail"}}, "times": J{"first": 1}}
	}
	if text(dig(v.R, "interface")) == "node" || text(dig(v.R, "operation")) == "" {
		return J{"match": J{"path": dig(v.R, "path")}, "action": J{"status": 503}, "times": J{"first": 1}}
	}
	return J{"match": J{"operation": dig(v.R, "operation")}, "action": J{"status": 503}, "times": J{"first": 1}}
}

// CanFail reports whether a fault can apply to the request; none applies to the simulator's own interface.
func (v *requestView) CanFail() bool {
	return v.page.names.Serves("addFault") && text(dig(v.R, "interface")) != "sim"
}

// Clock formats a wall-clock time.
func (*page) Clock(v any) string {
	t, err := time.Parse(time.RFC3339Nano, text(v))
	if err != nil {
		return text(v)
	}
	return t.Format("15:04:05.000")
}

// Took formats a number of milliseconds.
func (*page) Took(v any) string {
	f, err := strconv.ParseFloat(text(v), 64)
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " ms"
}

// webhooks shows the webhooks with their deliveries, and the jobs that export transactions.
func webhooks(p *page) error {
	exports := get("exports", "/sim/exports").query("pageSize", "10").query("pageToken", p.arg("pageToken"))
	if p.part("export-list") {
		return p.load(exports)
	}
	if p.part("delivery-list") {
		return p.deliveries(J{"id": p.arg("webhook")})
	}
	if err := p.load(get("webhooks", "/v1/webhooks").opt(), exports.opt()); err != nil {
		return err
	}
	var all []J
	for _, w := range list(dig(p.Got["webhooks"], "webhooks")) {
		if err := p.deliveries(w.(J)); err != nil {
			return err
		}
		all = append(all, J{"webhook": w, "deliveries": p.Data})
	}
	p.Data = all
	return p.showAs("webhooks", "webhooks", "Webhooks and exports")
}

// deliveries loads a webhook's latest deliveries.
func (p *page) deliveries(w J) error {
	id := text(w["id"])
	name := "deliveries-" + id
	err := p.load(get(name, "/sim/webhooks/%s/deliveries", id).query("pageSize", "10").query("pageToken", p.arg("pageToken")).opt())
	p.Data = J{"id": id, "name": name, "answer": p.Got[name], "p": p}
	return err
}

// Waits reports whether an export in the list is still being written.
func (p *page) Waits() bool {
	return slices.ContainsFunc(list(dig(p.Got["exports"], "operations")), func(o any) bool { return text(dig(o, "operationStatus")) == "RUNNING" })
}

// exportKind describes an export's subject.
func exportKind(v any) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(text(v), "TRANSACTION_EXPORT_"), "_", " "))
}
