package export

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/price"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// market caches the tokens of an EVM chain with their prices.
type market struct {
	*query.Markets
	world *sim.World
	read  map[store.TokenID]*token
}

type token struct {
	store.Token
	address string
	series  *price.Series // nil without a market
}

func openMarket(ctx context.Context, w *sim.World, chain int) (*market, error) {
	m, err := query.ReadMarkets(ctx, w.DB, chain)
	return &market{Markets: m, world: w, read: map[store.TokenID]*token{}}, err
}

// token returns an asset's token, read on first use.
func (m *market) token(ctx context.Context, asset store.AssetKey) (*token, error) {
	if t := m.read[asset.Token()]; t != nil {
		return t, nil
	}
	row, err := m.world.DB.Token(ctx, asset.Token())
	if err != nil {
		return nil, err
	}
	address := common.BytesToAddress(row.Address)
	t := &token{*row, address.Hex(), m.Tokens[address].Series}
	m.read[asset.Token()] = t
	return t, nil
}

// dollars returns the price of one whole unit at a time, in 10^-8; nil without a market.
func (m *market) dollars(series *price.Series, unix int64) *big.Int {
	if series == nil {
		return nil
	}
	return big.NewInt(series.At(m.world.Meta.Seed, unix/metric.SecondsPerHour))
}

// worth formats the exact value of an amount, empty without a market.
func worth(amount *big.Int, decimals int, dollars *big.Int) string {
	if dollars == nil {
		return ""
	}
	return price.Decimal(new(big.Int).Mul(amount, dollars), decimals+price.Decimals)
}

// cost formats the price of one whole unit, empty without a market.
func cost(dollars *big.Int) string {
	if dollars == nil {
		return ""
	}
	return price.Decimal(dollars, price.Decimals)
}
