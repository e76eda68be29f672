package web

// hostNames shows how clients use the proxy for the real network's host names.
func hostNames(p *page) error {
	return p.showAs("hostnames", "hostnames", "The network’s own host names", get("proxy", "/sim/proxy").opt())
}
