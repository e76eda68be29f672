package web

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
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
	if err := p.load(calls...); err != nil {
		return err
	}
	return p.showAs("requests", "requests", "Requests")
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
	if err := p.load(get("gas", "/sim/gas").opt()); err != nil {
		return err
	}
	return p.showAs("gas", "requests", "Gas")
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

// Test writes the request as a test for the user's own suite.
func (v *requestView) Test() string {
	r, base := v.R, v.page.origin
	target := text(dig(r, "path"))
	if q := text(dig(r, "query")); q != "" {
		target += "?" + q
	}
	operation, status := text(dig(r, "operation")), text(dig(r, "status"))
	var b strings.Builder
	fmt.Fprintf(&b, "import { expect, test } from \"vitest\";\n\ntest(%s, async () => {\n  const response = await fetch(%s", quote(operation+" answers "+status), quote(base+target))
	if method := text(dig(r, "method")); method != "GET" {
		fmt.Fprintf(&b, ", {\n    method: %s,\n    headers: { \"content-type\": \"application/json\" },\n    body: %s,\n  }", quote(method), quote(text(dig(r, "requestBody"))))
	}
	fmt.Fprintf(&b, ");\n  expect(response.status).toBe(%s);\n", status)
	if body := text(dig(r, "responseBody")); json.Valid([]byte(body)) {
		b.WriteString("  expect(await response.json()).toEqual(" + strings.ReplaceAll(v.Body(body), "\n", "\n  ") + ");\n")
	}
	b.WriteString("});\n")
	return b.String()
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
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
	for _, o := range list(dig(p.Got["exports"], "operations")) {
		if text(dig(o, "operationStatus")) == "RUNNING" {
			return true
		}
	}
	return false
}

// exportKind describes an export's subject.
func exportKind(v any) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(text(v), "TRANSACTION_EXPORT_"), "_", " "))
}
