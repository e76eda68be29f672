package evm

import (
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/seed/population"
	"snowglobe/sim/price"
	"snowglobe/sim/store"
)

// quote is an average price and its swing.
type quote struct{ price, swing int64 } // 10^-8 US dollars, millionths

// quotes lists the markets of a world by series: native tokens by symbol, others by role. Other tokens have no market.
var quotes = map[string]quote{
	"AVAX":       {24_50000000, 350_000},
	"ICE":        {85000000, 500_000},
	"PWD":        {3100000, 600_000},
	"CRN":        {1_90000000, 400_000},
	"usdx":       {1_00000000, 1_500},
	"btcx":       {98_000_00000000, 280_000},
	"snow":       {42000000, 450_000},
	"floeckchen": {3_10000000, 300_000},
	"hail":       {870000, 700_000},
	"frost":      {12_40000000, 420_000},
	"eurx":       {1_08000000, 30_000},
	"ridge":      {19000000, 500_000},
	"mkx":        {1_450_00000000, 250_000},
	"usdc":       {1_00000000, 800},
	"usdt":       {1_00000000, 1_200},
	"usdc.e":     {99900000, 1_500},
	"usdt.e":     {99900000, 1_500},
	"dai.e":      {1_00000000, 1_500},
	"eurc":       {1_08000000, 30_000},
	"weth.e":     {3_240_00000000, 250_000},
	"wbtc.e":     {97_900_00000000, 280_000},
	"btc.b":      {98_000_00000000, 280_000},
	"link.e":     {14_60000000, 300_000},
	"aave.e":     {178_00000000, 320_000},
	"savax":      {30_20000000, 350_000},
	"joe":        {17000000, 450_000},
	"png":        {9500000, 500_000},
	"qi":         {720000, 450_000},
	"gmx":        {13_40000000, 350_000},
	"link":       {14_60000000, 300_000},
	"usdc.joe":   {1_00000000, 800},
}

// exactly returns the amount of a token that so many US dollars buy on average; for a token without a market, as many whole units.
func exactly(dollars int64, role string, decimals uint8) *big.Int {
	return ofCents(100*dollars, role, decimals)
}

// worth draws an amount of a token that is worth so many US dollars on average.
func worth(r *rand.Rand, role string, decimals uint8, least, most int64) *big.Int {
	return ofCents(population.Between(r, 100*least, 100*most), role, decimals)
}

func ofCents(cents int64, role string, decimals uint8) *big.Int {
	const perCent = price.Unit / 100
	q, traded := quotes[role]
	if !traded {
		return population.Units(cents/100, int(decimals))
	}
	amount := new(big.Int).Mul(population.Units(cents, int(decimals)), big.NewInt(perCent))
	return amount.Div(amount, big.NewInt(q.price))
}

// Markets returns the prices and reputations of a chain's tokens, including the native one.
func (c *Chain) Markets() []store.Market {
	rows := []store.Market{c.market(common.Address{}.Bytes(), c.Row.TokenSymbol)}
	for _, contract := range c.contracts {
		if slices.Contains(c.own, common.Address(contract.Address)) {
			continue // its file sets its price
		}
		series := contract.Role
		if contract.Role == fixtures.WrappedRole {
			series = c.Row.TokenSymbol
		}
		m := c.market(contract.Address, series)
		switch {
		case contract.Artifact == "Airdrop" || contract.Artifact == "SpamCollection":
			m.Reputation = "Malicious"
		case contract.Artifact == "ListedToken" || contract.Role == "usdx" || contract.Role == "btcx" || contract.Role == "eurx" || contract.Role == fixtures.WrappedRole:
			m.Reputation = "Benign"
		}
		if m.Series != "" || m.Reputation != "" {
			rows = append(rows, m)
		}
	}
	return rows
}

func (c *Chain) market(address []byte, series string) store.Market {
	m := store.Market{Chain: c.Row.ID, Address: address}
	q, traded := quotes[series]
	if c.quote != nil && series == c.Row.TokenSymbol {
		q, traded = quote{c.quote.Price, c.quote.Swing}, true
	}
	if traded {
		m.Series, m.Price, m.Amplitude = series, q.price, q.swing
	}
	return m
}
