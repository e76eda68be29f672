package seed

import (
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store"
)

// quote is about what something costs, and how far that moves.
type quote struct{ price, swing int64 } // 10^-8 US dollars, millionths

// quotes are the markets of a world by series: the chains' own tokens by symbol, others by role. What is not listed
// here has no market.
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
}

// markets is what the market knows of a chain's tokens, the chain's own among them.
func (s *evmChain) markets() []store.Market {
	rows := []store.Market{s.market(common.Address{}.Bytes(), s.chain.TokenSymbol)}
	for _, c := range s.contracts {
		series := c.Role
		if c.Role == "wrapped" {
			series = s.chain.TokenSymbol
		}
		m := s.market(c.Address, series)
		switch {
		case c.Artifact == "Airdrop" || c.Artifact == "SpamCollection":
			m.Reputation = "Malicious"
		case c.Role == "usdx" || c.Role == "btcx" || c.Role == "eurx" || c.Role == "wrapped":
			m.Reputation = "Benign"
		}
		if m.Series != "" || m.Reputation != "" {
			rows = append(rows, m)
		}
	}
	return rows
}

func (s *evmChain) market(address []byte, series string) store.Market {
	m := store.Market{Chain: s.chain.ID, Address: address}
	if q, ok := quotes[series]; ok {
		m.Series, m.Price, m.Swing = series, q.price, q.swing
	}
	return m
}
