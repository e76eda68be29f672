package web

import "slices"

// faucet shows a form that pays any account.
func faucet(p *page) error {
	if !p.names.Serves("requestFunds") {
		return notFound("this server has no faucet")
	}
	p.Data = p.names.named("nobody")
	return p.showAs("faucet", "faucet", "Faucet")
}

// payable is a coin, a token or an asset that the faucet pays.
type payable struct {
	Symbol string
	Where  []string // chains
}

// Payable lists what the faucet pays, by symbol.
func (d *directory) Payable() (all []payable) {
	add := func(symbol, where string) {
		symbol = clip(symbol, 32)
		i := slices.IndexFunc(all, func(p payable) bool { return p.Symbol == symbol })
		if i < 0 {
			i, all = len(all), append(all, payable{Symbol: symbol})
		}
		if !slices.Contains(all[i].Where, where) {
			all[i].Where = append(all[i].Where, where)
		}
	}
	for _, n := range d.World.Networks {
		for _, a := range n.Assets {
			if a.Fungible {
				add(a.Symbol, "P and X "+n.Name)
			}
		}
	}
	for i, c := range d.Chains {
		add(c.Symbol, c.Label())
		for _, k := range d.World.Chains[i].Contracts {
			if k.Token != nil && k.Token.Decimals != nil {
				add(k.Token.Symbol, c.Label())
			}
		}
	}
	return all
}
