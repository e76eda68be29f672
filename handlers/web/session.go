package web

// session shows what was done to the world, line by line, with buttons to go back.
func session(p *page) error {
	return p.showAs("session", "session", "Session", get("session", "/sim/session/lines"))
}
