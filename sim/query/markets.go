package query

import (
	"context"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/price"
	"snowglobe/sim/store"
)

// Markets holds the markets of an EVM chain's tokens.
type Markets struct {
	Native *price.Series // of the native token, nil without a market
	Tokens map[common.Address]Market
}

// Malicious is the reputation of tokens that stay hidden unless a request asks for them.
const Malicious = "Malicious"

// Market holds a token's price and reputation.
type Market struct {
	Series     *price.Series // nil without a market
	Reputation string        // Malicious or Benign, empty when nothing is known
}

// ReadMarkets reads the markets of a chain.
func ReadMarkets(ctx context.Context, db *store.DB, chain int) (*Markets, error) {
	rows, err := db.Markets(ctx, chain)
	if err != nil {
		return nil, err
	}
	m := &Markets{Tokens: map[common.Address]Market{}}
	for _, row := range rows {
		var series *price.Series
		if row.Series != "" {
			series = &price.Series{Name: row.Series, Middle: row.Price, Amplitude: row.Amplitude}
		}
		if address := common.BytesToAddress(row.Address); address == (common.Address{}) {
			m.Native = series
		} else {
			m.Tokens[address] = Market{series, row.Reputation}
		}
	}
	return m, nil
}
