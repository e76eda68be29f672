package web

import (
	"cmp"
	"strings"

	"snowglobe/handlers/control"
)

// histories lists an address's histories by the names of their tabs.
var histories = []struct{ Name, Title, Call string }{
	{"", "Transactions", "transactions"},
	{"erc20", "ERC-20", "transactions:listErc20"},
	{"erc721", "ERC-721", "transactions:listErc721"},
	{"erc1155", "ERC-1155", "transactions:listErc1155"},
	{"internal", "Internal", "transactions:listInternals"},
}

// address shows an address of an EVM chain.
func address(p *page) error {
	a, c := p.arg("address"), p.Chain
	tab := p.arg("history")
	call := ""
	for _, h := range histories {
		if h.Name == tab {
			call = h.Call
		}
	}
	if call == "" {
		return notFound("there is no list %q of an address", clip(tab, 32))
	}
	history := get("history", "/v1/chains/%s/addresses/%s/"+call, c.ID, a).query("pageSize", rows).query("pageToken", p.arg("pageToken"))
	tokens := get("tokens", "/v1/chains/%s/addresses/%s/balances:listErc20", c.ID, a).query("pageSize", rows).query("currency", "usd").query("filterSpamTokens", p.arg("spam")).
		query("pageToken", p.arg("pageToken"))
	pictures := get("pictures", "/v1/chains/%s/addresses/%s/balances:listCollectibles", c.ID, a).query("pageSize", "12").query("pageToken", p.arg("pageToken"))
	p.Data = &addressView{Address: a, Tab: tab}
	switch {
	case p.part("address-history"):
		return p.load(history)
	case p.part("address-tokens"):
		return p.load(tokens)
	case p.part("address-pictures"):
		return p.load(pictures)
	}
	if err := p.load(get("native", "/v1/chains/%s/addresses/%s/balances:getNative", c.ID, a).query("currency", "usd"), tokens.opt(), pictures.opt(), history,
		get("chains", "/v1/address/%s/chains", a).opt(), rpc("code", c.RPC, "eth_getCode", a, "latest").opt(), rpc("nonce", c.RPC, "eth_getTransactionCount", a, "latest").opt(),
		get("messages", "/v1/icm/addresses/%s/messages", a).query("pageSize", "5").opt(), get("contract", "/v1/chains/%s/addresses/%s", c.ID, a).opt()); err != nil {
		return err
	}
	v := &addressView{Address: a, Tab: tab, Persona: p.names.Persona(a), Contract: p.names.Contract(c, a), IsContract: len(text(p.Got["code"])) > 2}
	p.Data = v
	var calls []*Call
	if v.IsContract {
		known, err := p.knownContract("source", a)
		if err != nil {
			return err
		}
		v.Known = known != nil
		calls = append(calls, get("deployment", "/v1/chains/%s/contracts/%s/transactions:getDeployment", c.ID, a).opt())
	}
	if v.Persona != nil {
		v.Primary = v.Persona.Addresses[c.Network]
		calls = append(calls, get("pchain", "/v1/networks/%s/blockchains/p-chain/balances", c.Network).query("addresses", v.Primary).opt(),
			get("xchain", "/v1/networks/%s/blockchains/x-chain/balances", c.Network).query("addresses", v.Primary).opt())
	}
	label, _ := p.names.label(c, a)
	return p.showAs("address", "chain-"+c.ID, title(cmp.Or(label, short(a)))+" on "+c.Label(), calls...)
}

type addressView struct {
	Address, Tab string
	Persona      *control.Persona
	Contract     *control.Contract
	IsContract   bool
	Known        bool   // whether the contract's source is known
	Primary      string // on the P- and the X-Chain, without the chain's letter
}

// Histories returns the tabs of the list.
func (*addressView) Histories() any { return histories }

// anyAddress redirects to an address on the chain with the most to see.
func anyAddress(p *page) error {
	a := p.arg("address")
	if !strings.HasPrefix(a, "0x") {
		return searcher{p}.find(a)
	}
	if err := p.load(get("chains", "/v1/address/%s/chains", a)); err != nil {
		return err
	}
	on := p.names.Chains[0].ID
	if found := list(dig(p.Got["chains"], "indexedChains")); len(found) > 0 {
		on = text(dig(found[0], "chainId"))
	}
	return &redirectError{"/sim/explorer/" + on + "/address/" + a}
}

// token shows a token or a collection.
func token(p *page) error {
	a, c := p.arg("address"), p.Chain
	transfers := get("transfers", "/v1/chains/%s/tokens/%s/transfers", c.ID, a).query("pageSize", rows).query("pageToken", p.arg("pageToken"))
	items := get("items", "/v1/chains/%s/nfts/collections/%s/tokens", c.ID, a).query("pageSize", "24").query("pageToken", p.arg("pageToken"))
	p.Data = J{"address": a}
	switch {
	case p.part("token-transfers"):
		return p.load(transfers)
	case p.part("token-items"):
		return p.load(items)
	}
	if err := p.load(get("contract", "/v1/chains/%s/addresses/%s", c.ID, a)); err != nil {
		return err
	}
	calls := []*Call{get("deployment", "/v1/chains/%s/contracts/%s/transactions:getDeployment", c.ID, a).opt()}
	kind := text(dig(p.Got["contract"], "ercType"))
	switch kind {
	case "ERC-20":
		calls = append(calls, transfers, rpc("supply", c.RPC, "eth_call", J{"to": a, "data": "0x18160ddd"}, "latest").opt())
	case "ERC-721", "ERC-1155":
		calls = append(calls, items)
	default:
		return &redirectError{"/sim/explorer/" + c.ID + "/address/" + a}
	}
	return p.showAs("token", "chain-"+c.ID, clip(text(dig(p.Got["contract"], "name")), 64)+" ("+kind+")", calls...)
}

// anyToken redirects to a token on its chain.
func anyToken(p *page) error {
	for _, c := range p.names.Chains {
		if err := p.load(get("contract", "/v1/chains/%s/addresses/%s", c.ID, p.arg("address")).opt()); err != nil {
			return err
		}
		if text(dig(p.Got["contract"], "ercType")) != "" {
			return &redirectError{"/sim/explorer/" + c.ID + "/token/" + p.arg("address")}
		}
	}
	return notFound("no chain of this world has a token at %s", clip(p.arg("address"), 64))
}

// nft shows one item of a collection.
func nft(p *page) error {
	a, item := p.arg("address"), p.arg("item")
	if err := p.load(get("item", "/v1/chains/%s/nfts/collections/%s/tokens/%s", p.Chain.ID, a, item)); err != nil {
		return err
	}
	shown := cmp.Or(text(dig(p.Got["item"], "metadata", "name")), text(dig(p.Got["item"], "name"))+" #"+item)
	return p.showAs("nft", "chain-"+p.Chain.ID, clip(shown, 64))
}
