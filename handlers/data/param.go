package data

import (
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// Parameters that many operations share.
var (
	ChainParam    = rest.Param{Name: "chainId", Kind: schema.KindChain, Doc: "An EVM chain id or a blockchain id."}
	AddressParam  = rest.Param{Name: "address", Kind: schema.KindAddress, Doc: "An EVM address."}
	NetworkParam  = rest.Param{Name: "network", Kind: schema.KindNetwork, Doc: "Only chains of this network; testnet is another name for fuji."}
	CurrencyParam = rest.Param{Name: "currency", Kind: schema.KindCurrency, Default: "usd", Doc: "The currency of prices and values."}
	StatusParam   = rest.Param{Name: "status", Kind: schema.KindEnum, Enum: []string{"failed", "success"}, Doc: "Only transactions with this outcome."}
	AtBlockParam  = rest.Param{Name: "blockNumber", Kind: schema.KindAmount, Doc: "The balance after this block. Default: the latest block."}
	RangeParams   = []rest.Param{
		{Name: "startBlock", Kind: schema.KindInteger, Min: "0", NotAbove: "endBlock", Doc: "The first block of the range. A range from a block to itself is empty."},
		{Name: "endBlock", Kind: schema.KindInteger, Min: "0", Doc: "The first block after the range."},
	}
)

// JoinParams joins parameters and lists of them.
func JoinParams(lists ...any) []rest.Param {
	var all []rest.Param
	for _, l := range lists {
		switch l := l.(type) {
		case rest.Param:
			all = append(all, l)
		case []rest.Param:
			all = append(all, l...)
		}
	}
	return all
}
