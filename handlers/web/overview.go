package web

import (
	"slices"
	"strings"

	"snowglobe/fixtures"
)

// home shows who and what is in the world.
func home(p *page) error {
	if p.part("balances") {
		return p.wealth()
	}
	if err := p.load(get("world", "/sim/world").query("expected", "false").query("abis", "false"), get("blocks", "/v1/blocks").query("pageSize", "6").opt(),
		get("transactions", "/v1/transactions").query("pageSize", "8").opt()); err != nil {
		return err
	}
	return p.showAs("home", "home", "The world")
}

// wealth is what everybody has of AVAX, on the C-Chain and on the P-Chain of the first network: a call for each, which the page makes
// when it is shown already.
func (p *page) wealth() error {
	var calls []*Call
	network := p.names.World.Networks[0].Name
	for _, persona := range p.names.World.Personas {
		if persona.Address != "" {
			calls = append(calls, rpc(persona.Name, p.names.Chains[0].RPC, "eth_getBalance", persona.Address, "latest").opt())
		}
		if primary := persona.Addresses[network]; primary != "" {
			calls = append(calls, rpcWith("P "+persona.Name, "/"+network+"/ext/bc/P", "platform.getBalance", J{"addresses": []string{"P-" + primary}}).opt())
		}
	}
	return p.load(calls...)
}

// PBalance is what a persona has on the P-Chain.
func (p *page) PBalance(persona string) any {
	if n := text(dig(p.Got["P "+persona], "balance")); strings.Trim(n, "0") != "" {
		return n
	}
	return nil
}

// roleOf says what a node with a role is there for.
func roleOf(role any) string {
	for _, r := range slices.Concat(fixtures.NodeRoles, fixtures.L1Roles) {
		if r.Name == text(role) {
			return strings.ReplaceAll(r.Node, "`", "")
		}
	}
	return ""
}
