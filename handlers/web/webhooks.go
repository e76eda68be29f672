package web

// webhooks shows the webhooks with what they were told, and the jobs that export transactions.
func webhooks(p *page) error {
	calls := []*Call{get("webhooks", "/v1/webhooks").opt()}
	if id := p.r.URL.Query().Get("operation"); id != "" {
		calls = append(calls, get("operation", "/v1/operations/%s", id).opt())
	}
	if err := p.load(calls...); err != nil {
		return err
	}
	var all []J
	for _, w := range list(dig(p.Got["webhooks"], "webhooks")) {
		id := text(dig(w, "id"))
		if err := p.load(get("deliveries-"+id, "/sim/webhooks/%s/deliveries", id).query("pageSize", "10").opt()); err != nil {
			return err
		}
		all = append(all, J{"webhook": w, "name": "deliveries-" + id, "deliveries": list(dig(p.Got["deliveries-"+id], "deliveries"))})
	}
	p.Data = all
	return p.showAs("webhooks", "webhooks", "Webhooks and exports")
}
