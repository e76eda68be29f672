package web

import (
	"cmp"
	"encoding/json"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"snowglobe/fixtures"
)

// home shows the world's people and chains.
func home(p *page) error {
	if p.part("balances") {
		return p.wealth()
	}
	return p.showAs("home", "home", "The world", get("world", "/sim/world").query("expected", "false").query("abis", "false"),
		get("blocks", "/v1/blocks").query("pageSize", "6").opt(), get("transactions", "/v1/transactions").query("pageSize", "8").opt())
}

// wealth reads everybody's AVAX, on the C-Chain and on the P-Chain of the first network: one call each, after the page is shown.
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

// PBalance returns a persona's balance on the P-Chain.
func (p *page) PBalance(persona string) any {
	if n := text(dig(p.Got["P "+persona], "balance")); strings.Trim(n, "0") != "" {
		return n
	}
	return nil
}

// roleOf describes the situation that a node shows.
func roleOf(role any) string {
	for _, r := range slices.Concat(fixtures.NodeRoles, fixtures.L1Roles) {
		if r.Name == text(role) {
			return strings.ReplaceAll(r.Node, "`", "")
		}
	}
	return ""
}

// Serves reports whether the server has an operation.
func (d *directory) Serves(operation string) bool {
	return slices.ContainsFunc(d.World.Endpoints, func(e endpoint) bool { return slices.Contains(e.Operations, operation) })
}

// controlBar returns every page's bar of controls over the world.
func controlBar(p *page) error {
	p.fragment = "control-bar"
	calls := []*Call{get("events", "/sim/clock/events").query("limit", "100").opt()}
	for _, c := range []struct {
		operation string
		call      *Call
	}{
		{"listSnapshots", get("snapshots", "/sim/snapshots")}, {"listFaults", get("faults", "/sim/faults")},
		{"getIndex", get("index", "/sim/index")}, {"listWorlds", get("worlds", "/sim/worlds")},
	} {
		if p.names.Serves(c.operation) {
			calls = append(calls, c.call.opt())
		}
	}
	if err := p.load(calls...); err != nil {
		return err
	}
	v := J{"chain": cmp.Or(p.names.byChain[p.arg("chain")], p.names.Chains[0])}
	for _, e := range list(dig(p.Got["events"], "events")) {
		if integer(dig(e, "unix")) > p.now {
			v["next"] = e
			break
		}
	}
	p.Data = v
	return nil
}

// Do holds the data of a button whose call changes the world; the page's script makes the call.
func (p *page) Do(method, path string, body ...any) template.HTMLAttr {
	attr := `data-do data-method="` + esc(method) + `" data-path="` + esc(path) + `"`
	if len(body) > 0 {
		b, err := json.Marshal(body[0])
		if err == nil {
			attr += ` data-body="` + esc(string(b)) + `"`
		}
	}
	return template.HTMLAttr(attr)
}

// World returns the first page of a world of this process, by the world's URL.
func (p *page) World(world any) string {
	u, err := url.Parse(text(world))
	if err != nil {
		return p.base + "/"
	}
	return u.Path + "/"
}

// IsWorld reports whether the page belongs to the world with a URL.
func (p *page) IsWorld(world any) bool { return p.World(world) == p.base+"/" }

// Seconds formats a number of seconds as a span for the clock.
func (p *page) SpanTo(unix any) string {
	return strconv.FormatInt(max(integer(unix)-p.now, 1), 10) + "s"
}

// RPCBody makes the body of a JSON-RPC call.
func rpcBody(method string, params ...any) J {
	return J{"jsonrpc": "2.0", "id": 1, "method": method, "params": append([]any{}, params...)}
}
