package export

import (
	"bytes"
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/price"
	"snowglobe/sim/store"
)

const hour = 3600

// market knows the tokens of an EVM chain and what they cost.
type market struct {
	world  *World
	native *price.Series // nil without a market, as in series
	series map[common.Address]*price.Series
	tokens map[store.TokenID]*token
}

// token is one of them.
type token struct {
	store.Token
	address string
	series  *price.Series
}

func openMarket(ctx context.Context, w *World, chain int) (*market, error) {
	rows, err := w.DB.Markets(ctx, chain)
	if err != nil {
		return nil, err
	}
	m := &market{world: w, series: map[common.Address]*price.Series{}, tokens: map[store.TokenID]*token{}}
	for _, row := range rows {
		if row.Series == "" {
			continue
		}
		series := &price.Series{Name: row.Series, Middle: row.Price, Swing: row.Swing}
		if bytes.Equal(row.Address, make([]byte, common.AddressLength)) {
			m.native = series
		} else {
			m.series[common.BytesToAddress(row.Address)] = series
		}
	}
	return m, nil
}

// token is the one of an asset, read when it is first met.
func (m *market) token(ctx context.Context, asset store.AssetKey) (*token, error) {
	if t := m.tokens[asset.Token()]; t != nil {
		return t, nil
	}
	row, err := m.world.DB.Token(ctx, asset.Token())
	if err != nil {
		return nil, err
	}
	address := common.BytesToAddress(row.Address)
	t := &token{*row, address.Hex(), m.series[address]}
	m.tokens[asset.Token()] = t
	return t, nil
}

// dollars is what one whole unit cost at a time, in 10^-8; nil without a market.
func (m *market) dollars(series *price.Series, unix int64) *big.Int {
	if series == nil {
		return nil
	}
	return big.NewInt(series.At(m.world.Seed, unix/hour))
}

// worth writes the exact value of an amount, empty without a market.
func worth(amount *big.Int, decimals int, dollars *big.Int) string {
	if dollars == nil {
		return ""
	}
	return price.Decimal(new(big.Int).Mul(amount, dollars), decimals+price.Places)
}

// cost writes the price of one whole unit, empty without a market.
func cost(dollars *big.Int) string {
	if dollars == nil {
		return ""
	}
	return price.Decimal(dollars, price.Places)
}
