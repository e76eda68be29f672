package web

import "strings"

// webhooks shows the webhooks with what they were told, and the jobs that export transactions.
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

// deliveries loads what a webhook was told lately.
func (p *page) deliveries(w J) error {
	id := text(w["id"])
	name := "deliveries-" + id
	err := p.load(get(name, "/sim/webhooks/%s/deliveries", id).query("pageSize", "10").query("pageToken", p.arg("pageToken")).opt())
	p.Data = J{"id": id, "name": name, "answer": p.Got[name], "p": p}
	return err
}

// Waits says whether an export of the list is still being written.
func (p *page) Waits() bool {
	for _, o := range list(dig(p.Got["exports"], "operations")) {
		if text(dig(o, "operationStatus")) == "RUNNING" {
			return true
		}
	}
	return false
}

// exportKind is what an export is about, in words.
func exportKind(v any) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(text(v), "TRANSACTION_EXPORT_"), "_", " "))
}
