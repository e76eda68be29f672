package data

import "snowglobe/handlers"

// Parameters that many operations share.
var (
	chainParam    = handlers.Param{Name: "chainId", Kind: handlers.KindChain, Doc: "An EVM chain id or a blockchain id."}
	addressParam  = handlers.Param{Name: "address", Kind: handlers.KindAddress, Doc: "An EVM address."}
	networkParam  = handlers.Param{Name: "network", Kind: handlers.KindNetwork, Doc: "Only chains of this network; testnet is another name for fuji."}
	currencyParam = handlers.Param{Name: "currency", Kind: handlers.KindCurrency, Default: "usd", Doc: "The currency of prices and values."}
	statusParam   = handlers.Param{Name: "status", Kind: handlers.KindEnum, Enum: []string{"failed", "success"}, Doc: "Only transactions with this outcome."}
	atBlockParam  = handlers.Param{Name: "blockNumber", Kind: handlers.KindAmount, Doc: "The balance after this block, of the latest block unless given."}
	rangeParams   = []handlers.Param{
		{Name: "startBlock", Kind: handlers.KindInteger, Min: "0", NotAbove: "endBlock", Doc: "The first block of the range, inclusive; a range that ends where it starts is empty."},
		{Name: "endBlock", Kind: handlers.KindInteger, Min: "0", Doc: "The end of the range, exclusive."},
	}
)

// with joins parameters and lists of them.
func with(lists ...any) []handlers.Param {
	var all []handlers.Param
	for _, l := range lists {
		switch l := l.(type) {
		case handlers.Param:
			all = append(all, l)
		case []handlers.Param:
			all = append(all, l...)
		}
	}
	return all
}
