package web

// messages lists the cross-chain messages of the world.
func messages(p *page) error {
	all := get("messages", "/v1/icm/messages").query("pageSize", rows).query("pageToken", p.arg("pageToken")).query("networkId", p.arg("networkId")).query("status", p.arg("status"))
	if p.part("message-list") {
		return p.load(all)
	}
	if err := p.load(all, get("summary", "/v2/icm/summary").opt()); err != nil {
		return err
	}
	return p.showAs("messages", "messages", "Messages between chains")
}

// message shows the way of one message.
func message(p *page) error {
	if err := p.load(get("message", "/v1/icm/messages/%s", p.arg("message"))); err != nil {
		return err
	}
	return p.showAs("message", "messages", "Message "+short(p.arg("message")))
}

// AddrOn shows an address of a chain that is not the page's.
func (p *page) AddrOn(chainID, v any) any {
	c := p.names.byChain[text(chainID)]
	if c == nil {
		return p.ID(v)
	}
	label, class := p.names.label(c, text(v))
	return p.link(p.URL("/sim/explorer/", c.ID, "/address/", v), text(v), label, class)
}
