package query

import (
	"context"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/price"
	"snowglobe/sim/store"
)

// Markets is what is known of the tokens of an EVM chain.
type Markets struct {
	Native *price.Series // of the chain's own token, nil without a market
	Tokens map[common.Address]Market
}

// Malicious is the reputation of tokens that are hidden unless they are asked for.
const Malicious = "Malicious"

// Market is what is known of a token.
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
