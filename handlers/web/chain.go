package web

import (
	"fmt"
)

const rows = "25"

// chain shows the latest blocks and transactions of an EVM chain.
func chain(p *page) error {
	c := p.Chain
	transactions := get("transactions", "/v1/chains/%s/transactions", c.ID).query("pageSize", rows).query("pageToken", p.arg("pageToken"))
	if p.part("chain-transactions") {
		return p.load(transactions)
	}
	return p.showAs("chain", "chain-"+c.ID, c.Label(), get("chain", "/v1/chains/%s", c.ID), get("blocks", "/v1/chains/%s/blocks", c.ID).query("pageSize", "12"),
		transactions, rpc("gasPrice", c.RPC, "eth_gasPrice").opt())
}

// block shows a block of an EVM chain.
func block(p *page) error {
	id := p.arg("block")
	transactions := get("transactions", "/v1/chains/%s/blocks/%s/transactions", p.Chain.ID, id).query("pageSize", rows).query("pageToken", p.arg("pageToken"))
	if p.part("chain-transactions") {
		return p.load(transactions)
	}
	if err := p.load(get("block", "/v1/chains/%s/blocks/%s", p.Chain.ID, id), transactions, get("chain", "/v1/chains/%s", p.Chain.ID)); err != nil {
		return err
	}
	height := integer(dig(p.Got["block"], "blockNumber"))
	if err := p.load(rpc("node", p.Chain.RPC, "eth_getBlockByNumber", fmt.Sprintf("%#x", height), false).opt(),
		get("next", "/v1/chains/%s/blocks/%d", p.Chain.ID, height+1).opt()); err != nil {
		return err
	}
	p.Data = J{"number": height, "previous": height - 1, "next": height + 1, "hasNext": p.Got["next"] != nil, "settledBy": p.settledBy(height),
		"settles": number(dig(p.Got["node"], "settledHeight")).Int64()}
	return p.showAs("block", "chain-"+p.Chain.ID, "Block "+count(height))
}

// mostSettled bounds the later blocks that settledBy asks for. Blocks settle after five seconds, so only a client's can be so many meanwhile.
const mostSettled = 64

// settledBy returns the number of the block whose header is the first that has the results of the page's block: nil if no header has them, or if
// the chain executes blocks when it accepts them.
func (p *page) settledBy(height int64) any {
	if dig(p.Got["node"], "settledHeight") == nil {
		return nil
	}
	for n := height + 1; n <= height+mostSettled; n++ {
		if p.load(rpc("later", p.Chain.RPC, "eth_getHeaderByNumber", fmt.Sprintf("%#x", n)).opt()) != nil || p.Got["later"] == nil {
			return nil
		}
		if number(dig(p.Got["later"], "settledHeight")).Int64() >= height {
			return n
		}
	}
	return nil
}

// messages lists the cross-chain messages of the world.
func messages(p *page) error {
	all := get("messages", "/v1/icm/messages").query("pageSize", rows).query("pageToken", p.arg("pageToken")).query("networkId", p.arg("networkId")).query("status", p.arg("status"))
	if p.part("message-list") {
		return p.load(all)
	}
	return p.showAs("messages", "messages", "Messages between chains", all, get("summary", "/v2/icm/summary").opt())
}

// message shows the journey of one message.
func message(p *page) error {
	return p.showAs("message", "messages", "Message "+short(p.arg("message")), get("message", "/v1/icm/messages/%s", p.arg("message")))
}

// AddrOn shows an address of a chain other than the page's.
func (p *page) AddrOn(chainID, v any) any {
	c := p.names.byChain[text(chainID)]
	if c == nil {
		return p.ID(v)
	}
	label, class := p.names.label(c, text(v))
	return p.link(p.URL("/sim/explorer/", c.ID, "/address/", v), text(v), label, class)
}
