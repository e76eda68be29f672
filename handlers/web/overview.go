package web

// home shows who and what is in the world.
func home(p *page) error {
	if err := p.load(get("world", "/sim/world"), get("blocks", "/v1/blocks").query("pageSize", "6").opt(),
		get("transactions", "/v1/transactions").query("pageSize", "8").opt()); err != nil {
		return err
	}
	return p.showAs("home", "home", "The world")
}
