package export

import (
	"math/big"
	"strconv"

	"snowglobe/sim/price"
)

type evmRow struct {
	*evmReader
	number    string
	time      int64
	hash      string
	kind      string // NATIVE, INTERNAL, ERC-20, ERC-721 or ERC-1155
	succeeded bool
	method    string
	log       string
	from, to  string
	direction string
	token     *token // nil for the native token
	item      string
	amount    *big.Int
	dollars   *big.Int // price of one whole unit, 10^-8, nil without a market
	gas       *gas     // of a transaction
}

// gas is the gas that a transaction used and paid for.
type gas struct {
	used  uint64
	price *big.Int
	fee   *big.Int
}

const nativeDecimals = 18

var evmTable = table[evmRow]{
	{Column{"ChainName", "name of the chain"}, func(t *evmRow) string { return t.source.evm.Row.Name }},
	{Column{"TxHash", "hash of the transaction"}, func(t *evmRow) string { return t.hash }},
	{Column{"ChainId", "EVM chain id"}, func(t *evmRow) string { return t.chainID }},
	{Column{"BlockNumber", "number of the block"}, func(t *evmRow) string { return t.number }},
	{Column{"BlockTimestamp", "time of the block, RFC 3339 in UTC"}, func(t *evmRow) string { return rfc3339(t.time) }},
	{
		Column{"TransferType", "`NATIVE` (a transaction), `INTERNAL` (a call or creation in one), `ERC-20`, `ERC-721` or `ERC-1155`"},
		func(t *evmRow) string { return t.kind },
	},
	{Column{"Status", "`SUCCESS`, or `FAILED` for a failed transaction or a reverted call: nothing was moved"}, (*evmRow).status},
	{
		Column{"Method", "the called method's name or selector; for an internal transaction, `CALL`, `CREATE` and the like"},
		func(t *evmRow) string { return t.method },
	},
	{Column{"LogIndex", "index of a token transfer's log in its block; the items of a batch share one"}, func(t *evmRow) string { return t.log }},
	{Column{"Direction", "`IN`, `OUT` or `SELF`, from the point of view of the export's addresses"}, func(t *evmRow) string { return t.direction }},
	{Column{"From", "sender"}, func(t *evmRow) string { return t.from }},
	{Column{"To", "recipient; of a creation, the created contract"}, func(t *evmRow) string { return t.to }},
	{
		Column{"TokenAddress", "contract of the token, empty for the chain's own"},
		func(t *evmRow) string { return t.of(func(k *token) string { return k.address }, "") },
	},
	{Column{"TokenName", "name of the token"}, func(t *evmRow) string {
		return t.of(func(k *token) string { return k.Name }, t.source.evm.Row.TokenName)
	}},
	{Column{"TokenSymbol", "symbol of the token"}, func(t *evmRow) string {
		return t.of(func(k *token) string { return k.Symbol }, t.source.evm.Row.TokenSymbol)
	}},
	{Column{"TokenDecimals", "decimals of the token"}, func(t *evmRow) string { return strconv.Itoa(t.decimals()) }},
	{Column{"TokenId", "id of the ERC-721 or ERC-1155 item"}, func(t *evmRow) string { return t.item }},
	{Column{"Value", "amount in the token's smallest unit"}, func(t *evmRow) string { return t.amount.String() }},
	{Column{"Amount", "the same in whole tokens, exact"}, func(t *evmRow) string { return price.Decimal(t.amount, t.decimals()) }},
	{Column{"PriceUSD", "price of one whole token in the hour of the block, empty without a market"}, func(t *evmRow) string { return cost(t.dollars) }},
	{Column{"ValueUSD", "value of the amount, exact"}, func(t *evmRow) string { return worth(t.amount, t.decimals(), t.dollars) }},
	{Column{"GasUsed", "gas used; only for a transaction"}, func(t *evmRow) string {
		return t.paid(func(g *gas) string { return strconv.FormatUint(g.used, 10) })
	}},
	{Column{"GasPrice", "wei; only for a transaction"}, func(t *evmRow) string { return t.paid(func(g *gas) string { return g.price.String() }) }},
	{Column{"Fee", "fee that the sender paid, in whole tokens of the chain"}, func(t *evmRow) string {
		return t.paid(func(g *gas) string { return price.Decimal(g.fee, nativeDecimals) })
	}},
	{Column{"FeeUSD", "value of the fee"}, func(t *evmRow) string {
		return t.paid(func(g *gas) string { return worth(g.fee, nativeDecimals, t.dollars) })
	}},
}

func (t *evmRow) status() string {
	if t.succeeded {
		return "SUCCESS"
	}
	return "FAILED"
}

// of returns a property of the token, or its substitute for the native token.
func (t *evmRow) of(what func(*token) string, native string) string {
	if t.token == nil {
		return native
	}
	return what(t.token)
}

func (t *evmRow) decimals() int {
	if t.token == nil {
		return nativeDecimals
	}
	return t.token.Decimals
}

func (t *evmRow) paid(what func(*gas) string) string {
	if t.gas == nil {
		return ""
	}
	return what(t.gas)
}
