package web

// session shows what was done to the world, line by line, with buttons to go back.
func session(p *page) error {
	if err := p.load(get("session", "/sim/session/lines")); err != nil {
		return err
	}
	return p.showAs("session", "session", "Session")
}
