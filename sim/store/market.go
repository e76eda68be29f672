package store

import (
	"context"
	"database/sql"
)

// Market is what market watchers know of a token.
type Market struct {
	Chain      int
	Address    []byte // the zero address is the chain's own token
	Reputation string // Malicious, or empty when nothing is known
	Series     string // name of the price series, empty without a market
	Price      int64  // about which the series moves, 10^-8 US dollars
	Swing      int64  // how far it moves, millionths
}

// Markets lists what is known of the tokens of a chain.
func (db *DB) Markets(ctx context.Context, chain int) ([]Market, error) {
	return many(ctx, db, `SELECT chain, address, reputation, series, price, swing FROM market WHERE chain = ? ORDER BY address`, []any{chain},
		func(r *sql.Rows, m *Market) error {
			return r.Scan(&m.Chain, &m.Address, &m.Reputation, &m.Series, &m.Price, &m.Swing)
		})
}

// AddMarket writes what is known of a token.
func (b *Batch) AddMarket(m Market) error {
	b.named = true
	return b.exec(`INSERT INTO market (chain, address, reputation, series, price, swing) VALUES (?, ?, ?, ?, ?, ?)`,
		m.Chain, m.Address, m.Reputation, m.Series, m.Price, m.Swing)
}
