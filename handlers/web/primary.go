package web

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"

	"snowglobe/handlers/rest/schema"
)

// primaryView is a page about one network's P-Chain, X-Chain or C-Chain shared memory.
type primaryView struct {
	page          *page
	Network       string
	Letter, Chain string // such as p and p-chain
	ID, List      string
	Extra         any
}

var chainNames = map[string]string{"p": "p-chain", "x": "x-chain", "c": "c-chain"}

// primary makes the view that the first parts of a page's path name, before the page is shown.
func primary(show func(*page, *primaryView) error) func(*page) error {
	return func(p *page) error {
		letter, _, _ := strings.Cut(strings.TrimPrefix(p.r.URL.Path, "/"), "/")
		v := &primaryView{page: p, Network: p.arg("network"), Letter: letter, Chain: chainNames[letter], ID: p.arg("id"), List: p.r.URL.Query().Get("list")}
		p.Data, p.Nav = v, letter
		for _, n := range p.names.World.Networks {
			if n.Name == v.Network {
				return show(p, v)
			}
		}
		return notFound("there is no network %s in this world", clip(v.Network, 40))
	}
}

// call makes a call of the Data API about the view's chain.
func (v *primaryView) call(name, format string, args ...any) *Call {
	return get(name, "/v1/networks/%s/blockchains/%s"+format, append([]any{v.Network, v.Chain}, args...)...)
}

// Title returns the name of the chain.
func (v *primaryView) Title() string { return strings.ToUpper(v.Letter) + "-Chain " + v.Network }

// Path returns the URL of something on the view's chain.
func (v *primaryView) Path(kind string, id any) string {
	return v.page.URL("/"+v.Letter+"/", v.Network, "/"+kind+"/", id)
}

// TxOf returns the URL of a primary network transaction on the chain with an id.
func (v *primaryView) TxOf(chainID, hash any) template.HTML {
	if text(hash) == "" || text(hash) == primarySubnet {
		return `<span class="muted">genesis</span>`
	}
	letter := "x"
	for _, n := range v.page.names.World.Networks {
		switch text(chainID) {
		case primarySubnet:
			letter = "p"
		case n.CChainID:
			letter = "c"
		}
	}
	return v.page.Link(v.page.URL("/"+letter+"/", v.Network, "/tx/", hash), hash)
}

// Owner shows an address of the primary network by its name, if it has one.
func (v *primaryView) Owner(address any) template.HTML {
	a, label, class := text(address), "", ""
	if persona := v.page.names.Persona(a); persona != nil {
		label, class = persona.Name, "persona"
	}
	return v.page.link(v.Path("address", a), a, label, class)
}

// Node shows a node by its id, with the situation that it shows.
func (v *primaryView) Node(id any) template.HTML {
	shown := v.page.Link(v.page.URL("/p/", v.Network, "/node/", id), id)
	if role := v.page.names.Node(text(id)); role != "" {
		shown += template.HTML(` <span class="badge">` + esc(role) + `</span>`)
	}
	return shown
}

// Stake shows a validator's stake, or its weight on a permissioned subnet.
func (v *primaryView) Stake(validator any) template.HTML {
	if text(dig(validator, "subnetId")) == primarySubnet {
		return avax(dig(validator, "amountStaked"))
	}
	return template.HTML("weight <b>" + esc(count(dig(validator, "amountStaked"))) + "</b>")
}

// All rows share a timeline, so that starts and ends can be compared: it reaches this many days before and after the world's clock, one
// pixel for a day.
const daysBefore, daysAfter = 60, 120

// Bar draws a period on the timeline.
func (v *primaryView) Bar(start, end any) template.HTML {
	from, to, now := integer(start), integer(end), v.page.now
	if to <= from {
		return ""
	}
	place := func(unix int64) float64 {
		return min(max(float64(unix-now)/86400+daysBefore, 0), daysBefore+daysAfter)
	}
	over := min(max((now-from)*100/(to-from), 0), 100)
	rect := func(class string, from, to float64) string {
		return fmt.Sprintf(`<rect class="%s" x="%.1f" y="4" width="%.1f" height="8" rx="2"/>`, class, from, max(to-from, 0))
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 %[1]d 16" width="%[1]d" height="16" role="img" aria-label="%[2]d percent of the time have passed">`, daysBefore+daysAfter, over) +
		rect("all", 0, daysBefore+daysAfter) + rect("rest", place(from), place(to)) + rect("done", place(from), place(min(to, now))) +
		fmt.Sprintf(`<path class="now" d="M%d 0V16"/></svg>`, daysBefore))
}

// RunsOut returns when an L1 validator's balance runs out at the current price; "" if it has none.
func (v *primaryView) RunsOut(balance any) template.HTML {
	left, price := integer(balance), integer(dig(v.page.Got["l1fee"], "price"))
	if left == 0 || price == 0 {
		return ""
	}
	return v.page.When(v.page.now + left/price)
}

// l1Fee reads an L1 validator's fee per second.
func (v *primaryView) l1Fee() *Call {
	return rpcWith("l1fee", v.rpc(), "platform.getValidatorFeeState", J{}).opt()
}

// lists maps each chain to its lists, the default first.
var lists = map[string][]struct{ Name, Title string }{
	"p": {{"validators", "Validators"}, {"delegators", "Delegators"}, {"l1", "L1 validators"}, {"subnets", "Subnets and L1s"}, {"transactions", "Transactions"}, {"blocks", "Blocks"}},
	"x": {{"transactions", "Transactions"}, {"blocks", "Blocks"}},
}

// Lists returns the tabs.
func (v *primaryView) Lists() any { return lists[v.Letter] }

func (v *primaryView) listCall() *Call {
	switch v.List {
	case "validators":
		return get("list", "/v1/networks/%s/validators", v.Network).query("validationStatus", v.page.arg("status"))
	case "delegators":
		return get("list", "/v1/networks/%s/delegators", v.Network).query("delegationStatus", v.page.arg("status"))
	case "l1":
		return get("list", "/v1/networks/%s/l1Validators?includeInactiveL1Validators=true", v.Network)
	case "subnets":
		return get("list", "/v1/networks/%s/subnets", v.Network)
	case "transactions":
		return v.call("list", "/transactions")
	case "blocks":
		return v.call("list", "/blocks")
	}
	return nil
}

// Status returns the states by which a list can be filtered.
func (v *primaryView) Status() []string {
	switch {
	case v.Letter == "p" && v.List == "validators":
		return []string{"", "active", "pending", "completed", "removed"}
	case v.Letter == "p" && v.List == "delegators":
		return []string{"", "active", "pending", "completed"}
	}
	return nil
}

// primaryChain shows the P-Chain or the X-Chain.
func primaryChain(p *page, v *primaryView) error {
	v.List = cmp.Or(v.List, lists[v.Letter][0].Name)
	call := v.listCall()
	if call == nil {
		return notFound("there is no list %q of this chain", clip(v.List, 32))
	}
	call.query("pageSize", rows).query("pageToken", p.arg("pageToken"))
	calls := []*Call{call}
	if v.List == "l1" {
		calls = append(calls, v.l1Fee())
	}
	if p.part("primary-list") {
		return p.load(calls...)
	}
	if v.Letter == "p" {
		calls = append(calls, get("events", "/sim/clock/events").query("limit", "100").opt(), rpcWith("height", v.rpc(), "platform.getHeight", J{}).opt(),
			rpcWith("supply", v.rpc(), "platform.getCurrentSupply", J{}).opt(), rpcWith("fee", v.rpc(), "platform.getFeeState", J{}).opt())
	} else {
		calls = append(calls, rpcWith("height", v.rpc(), "avm.getHeight", J{}).opt())
	}
	if err := p.load(calls...); err != nil {
		return err
	}
	var coming []any
	for _, e := range list(dig(p.Got["events"], "events")) {
		if text(dig(e, "network")) == v.Network && len(coming) < 8 {
			coming = append(coming, e)
		}
	}
	v.Extra = coming
	return p.showAs("primary", v.Letter, v.Title())
}

// rpc returns the chain's path on the node's interface.
func (v *primaryView) rpc() string {
	return "/" + v.Network + "/ext/bc/" + strings.ToUpper(v.Letter)
}

// primaryTransaction shows a transaction's inputs and outputs.
func primaryTransaction(p *page, v *primaryView) error {
	calls := []*Call{v.call("tx", "/transactions/%s", v.ID)}
	switch v.Letter {
	case "p":
		calls = append(calls, rpcWith("node", v.rpc(), "platform.getTx", J{"txID": v.ID, "encoding": "json"}).opt())
	case "x":
		calls = append(calls, rpcWith("node", v.rpc(), "avm.getTx", J{"txID": v.ID, "encoding": "json"}).opt())
	case "c":
		calls = append(calls, rpcWith("node", "/"+v.Network+"/ext/bc/C/avax", "avax.getAtomicTx", J{"txID": v.ID, "encoding": "hex"}).opt())
	}
	if err := p.load(calls...); err != nil {
		return err
	}
	return p.showAs("primary-tx", v.Letter, text(dig(p.Got["tx"], "txType"))+" "+short(v.ID))
}

// Indented formats a response as text.
func (v *primaryView) Indented(name string) string { return clip(indented(v.page.Got[name]), 20_000) }

// Memo decodes a transaction's memo if it is text.
func (v *primaryView) Memo(m any) string {
	return clip(hexText(text(m)), 500)
}

// primaryBlock shows a block of the P- or the X-Chain.
func primaryBlock(p *page, v *primaryView) error {
	if err := p.load(v.call("block", "/blocks/%s", v.ID)); err != nil {
		return err
	}
	return p.showAs("primary-block", v.Letter, v.Title()+" block "+count(dig(p.Got["block"], "blockNumber")))
}

// primaryAddress shows an address's holdings on the P- or the X-Chain.
func primaryAddress(p *page, v *primaryView) error {
	transactions := v.call("list", "/transactions").query("addresses", v.ID).query("pageSize", rows).query("pageToken", p.arg("pageToken"))
	v.List = "transactions"
	if p.part("primary-list") {
		return p.load(transactions)
	}
	if err := p.load(v.call("balances", "/balances").query("addresses", v.ID), v.call("utxos", "/utxos").query("addresses", v.ID).query("pageSize", rows), transactions); err != nil {
		return err
	}
	shown := short(v.ID)
	if persona := p.names.Persona(v.ID); persona != nil {
		shown, v.Extra = title(persona.Name), persona
	}
	return p.showAs("primary-address", v.Letter, shown+" on the "+v.Title())
}

// ownerOnC redirects from the owner of an output on its way to the C-Chain to the owner's page on the P-Chain.
func ownerOnC(p *page) error {
	return &redirectError{"/p/" + p.arg("network") + "/address/" + p.arg("id")}
}

// node shows a validator with its history and its delegators.
func node(p *page, v *primaryView) error {
	if err := p.load(v.l1Fee(), get("validators", "/v1/networks/%s/validators/%s?pageSize=100", v.Network, v.ID).opt(), rpcWith("current", v.rpc(), "platform.getCurrentValidators", J{"nodeIDs": []any{v.ID}}).opt(),
		get("delegators", "/v1/networks/%s/delegators", v.Network).query("nodeIds", v.ID).query("pageSize", rows).opt(),
		get("l1", "/v1/networks/%s/l1Validators?includeInactiveL1Validators=true", v.Network).query("nodeId", v.ID).opt(), get("blocks", "/v1/networks/%s/blockchains/p-chain/nodes/%s/blocks", v.Network, v.ID).query("pageSize", "8").opt()); err != nil {
		return err
	}
	if p.Got["validators"] == nil && len(list(dig(p.Got["l1"], "validators"))) == 0 {
		return notFound("%s validates nothing on %s", clip(v.ID, 60), v.Network)
	}
	var err error
	if v.Extra, err = v.validations(); err != nil {
		return err
	}
	return p.showAs("node", "p", short(v.ID))
}

// subnet shows a subnet with its chains and validators.
func subnet(p *page, v *primaryView) error {
	return p.showAs("subnet", "p", "Subnet "+short(v.ID), v.l1Fee(), get("subnet", "/v1/networks/%s/subnets/%s", v.Network, v.ID),
		get("l1", "/v1/networks/%s/l1Validators?includeInactiveL1Validators=true", v.Network).query("subnetId", v.ID).opt(),
		get("validators", "/v1/networks/%s/validators", v.Network).query("subnetId", v.ID).query("pageSize", rows).opt())
}

// assetPage shows an asset of the X-Chain.
func assetPage(p *page, v *primaryView) error {
	transactions := v.call("list", "/assets/%s/transactions", v.ID).query("pageSize", rows).query("pageToken", p.arg("pageToken"))
	v.List = "transactions"
	if p.part("primary-list") {
		return p.load(transactions)
	}
	if err := p.load(v.call("asset", "/assets/%s", v.ID), transactions); err != nil {
		return err
	}
	return p.showAs("asset", "x", clip(text(dig(p.Got["asset"], "name")), 64))
}

// byID finds the objects with a cb58 id on the networks.
func (p searcher) byID(id string) ([]result, error) {
	if c := p.names.byChain[id]; c != nil {
		return []result{{"chain", id, c.Label(), "/sim/explorer/" + c.ID}}, nil
	}
	var all []candidate
	for _, n := range p.names.World.Networks {
		v := &primaryView{page: p.page, Network: n.Name}
		add := func(kind, letter, page string, c *Call) {
			all = append(all, candidate{c, result{kind, id, strings.ToUpper(letter) + "-Chain " + n.Name, "/" + letter + "/" + n.Name + "/" + page + "/" + id}})
		}
		for _, letter := range []string{"p", "x", "c"} {
			v.Letter, v.Chain = letter, chainNames[letter]
			add("transaction", letter, "tx", v.call("", "/transactions/%s", id))
			if letter != "c" {
				add("block", letter, "block", v.call("", "/blocks/%s", id))
			}
		}
		v.Chain = "x-chain"
		add("asset", "x", "asset", v.call("", "/assets/%s", id))
		add("subnet", "p", "subnet", get("", "/v1/networks/%s/subnets/%s", n.Name, id))
	}
	found, err := p.which(all)
	if err != nil || len(found) > 0 {
		return found, err
	}
	for _, n := range p.names.World.Networks {
		for _, node := range n.Nodes {
			if node.ValidationID == id {
				return []result{{"L1 validator", node.NodeID, n.Name, "/p/" + n.Name + "/node/" + node.NodeID}}, nil
			}
		}
		if err := p.load(get("validation", "/v1/networks/%s/l1Validators?includeInactiveL1Validators=true", n.Name).query("l1ValidationId", id).opt(), get("blockchain", "/v1/networks/%s/blockchains/%s", n.Name, id).opt()); err != nil {
			return nil, err
		}
		if found := list(dig(p.Got["validation"], "validators")); len(found) == 1 {
			return []result{{"L1 validator", id, n.Name, "/p/" + n.Name + "/node/" + text(dig(found[0], "nodeId"))}}, nil
		}
		if subnet := text(dig(p.Got["blockchain"], "subnetId")); subnet != "" && subnet != primarySubnet {
			return []result{{"blockchain", id, n.Name, "/p/" + n.Name + "/subnet/" + subnet}}, nil
		}
	}
	return nil, nil
}

// byNode finds the networks on which a node validates.
func (p searcher) byNode(id string) ([]result, error) {
	var all []candidate
	for _, n := range p.names.World.Networks {
		all = append(all, candidate{get("", "/v1/networks/%s/validators/%s", n.Name, id), result{"node", id, n.Name, "/p/" + n.Name + "/node/" + id}})
	}
	found, err := p.which(all)
	if err != nil || len(found) > 0 {
		return found, err
	}
	for _, n := range p.names.World.Networks {
		if err := p.load(get("l1", "/v1/networks/%s/l1Validators?includeInactiveL1Validators=true", n.Name).query("nodeId", id).opt()); err != nil {
			return nil, err
		}
		if len(list(dig(p.Got["l1"], "validators"))) > 0 {
			found = append(found, result{"node", id, n.Name, "/p/" + n.Name + "/node/" + id})
		}
	}
	return found, nil
}

var bech32 = schema.Shape(`^([PXC]-)?((avax|fuji)1[0-9a-z]{38})$`)

// byBech32 redirects to an address of the primary network.
func byBech32(query string) []result {
	m := bech32().FindStringSubmatch(query)
	network, letter := "mainnet", "p"
	if m[3] == "fuji" {
		network = "fuji"
	}
	if m[1] == "X-" {
		letter = "x"
	}
	return []result{{"address", m[2], strings.ToUpper(letter) + "-Chain " + network, "/" + letter + "/" + network + "/address/" + m[2]}}
}
