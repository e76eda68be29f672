package datatest

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/price"
	"snowglobe/sim/query"
)

// Price returns what a token's market asked for it at a time in Unix seconds, or nil without a market; the zero address stands for the native
// token.
func (g *Globe) Price(t testing.TB, chain int, token common.Address, currency string, unix int64) any {
	t.Helper()
	markets, err := query.ReadMarkets(t.Context(), g.DB, chain)
	if err != nil {
		t.Fatal(err)
	}
	series := markets.Native
	if token != (common.Address{}) {
		series = markets.Tokens[token].Series
	}
	if series == nil {
		return nil
	}
	hour, seed := unix/3600, g.Meta.Seed
	return Object{"currencyCode": currency, "value": price.Decimal(price.In(series.At(seed, hour), price.Rate(seed, currency, hour)), price.Decimals)}
}
