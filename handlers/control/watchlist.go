package control

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm"
	"snowglobe/sim/metric"
	"snowglobe/sim/price"
	"snowglobe/sim/query"
)

// WatchedToken is a token with its price as Core's proxy reports it at /watchlist/tokens (@avalabs/vm-module-types,
// WatchlistTokenResponseSchema). Nobody knows the world's market capitalisations and volumes.
type WatchedToken struct {
	InternalID string            `json:"internalId" doc:"NATIVE-avax, or the chain and the token's address."`
	ID         string            `json:"id"`
	Symbol     string            `json:"symbol"`
	Name       string            `json:"name"`
	Image      string            `json:"image" format:"url"`
	Price      json.Number       `json:"current_price"`
	Change     json.Number       `json:"price_change_percentage_24h"`
	Platforms  map[string]string `json:"platforms" doc:"Addresses by chain, such as eip155:43114."`
}

// watchlist lists the native tokens and the ERC-20s that have a price, by their symbols.
func (a *assetsAPI) watchlist(r *rest.Request) (any, error) {
	all, wanted := []WatchedToken{}, strings.Split(strings.ToLower(r.Text("tokens")), ",")
	currency := cmp.Or(strings.ToLower(r.Text("currency")), "usd")
	seed, hour := a.world.Meta.Seed, a.world.Clock.Unix()/metric.SecondsPerHour
	if price.Rate(seed, currency, hour) == 0 {
		return nil, rest.BadRequest("currency " + strconv.Quote(currency) + " is not known")
	}
	add := func(t WatchedToken, series *price.Series) {
		if series == nil || !slices.Contains(wanted, strings.ToLower(t.Symbol)) {
			return
		}
		now, before := series.At(seed, hour), series.At(seed, hour-24)
		t.Price = json.Number(price.Decimal(price.In(now, price.Rate(seed, currency, hour)), price.Decimals))
		t.Change = json.Number(new(big.Rat).SetFrac64(100*(now-before), before).FloatString(2))
		t.Image = r.BaseURL() + "/sim/logo/" + fixtures.LogoName(t.Symbol) + ".svg"
		all = append(all, t)
	}
	for _, c := range a.world.Chains {
		markets, err := query.ReadMarkets(r.Context(), a.world.DB, c.Row.ID)
		if err != nil {
			return nil, err
		}
		symbol := strings.ToLower(c.Row.TokenSymbol)
		if c.Kind != evm.KindC || c.Row.Network == fixtures.MainnetName { // AVAX is listed once
			add(WatchedToken{InternalID: "NATIVE-" + symbol, ID: symbol, Symbol: symbol, Name: c.Row.TokenName, Platforms: map[string]string{}}, markets.Native)
		}
		tokens, err := listedTokens(r.Context(), a.world, c)
		if err != nil {
			return nil, err
		}
		chain := "eip155:" + strconv.FormatUint(c.Row.EVMID, 10)
		for _, t := range tokens {
			address := common.BytesToAddress(t.Address)
			id := chain + "-" + address.Hex()
			add(WatchedToken{InternalID: id, ID: id, Symbol: strings.ToLower(t.Symbol), Name: t.Name, Platforms: map[string]string{chain: address.Hex()}}, markets.Tokens[address].Series)
		}
	}
	return all, nil
}
