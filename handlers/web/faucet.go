package web

// faucet shows a form that pays any account.
func faucet(p *page) error {
	if !p.names.Serves("requestFunds") {
		return notFound("this server has no faucet")
	}
	p.Data = p.names.named("nobody")
	return p.showAs("faucet", "faucet", "Faucet")
}
