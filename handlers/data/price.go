package data

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/metric"
	"snowglobe/sim/price"
	"snowglobe/sim/store"
)

// Price is an amount of money.
type Price struct {
	CurrencyCode string         `json:"currencyCode" enum:"usd,eur,aud,cad,chf,clp,cny,czk,dkk,gbp,hkd,huf,jpy,nzd"`
	Value        schema.Decimal `json:"value"`
}

// PriceView holds the names and prices of a chain's tokens for one response.
type PriceView struct {
	*rest.Request
	*tokenNames
	Base  *Base
	Chain int
}

// Prices opens the catalog for a request.
func (b *Base) Prices(r *rest.Request, chain int) (*PriceView, error) {
	n, err := b.tokens.read(r.Context())
	return &PriceView{Request: r, tokenNames: n, Base: b, Chain: chain}, err
}

// TokenOf returns an asset's token. It looks up tokens created after the view was opened.
func (s *PriceView) TokenOf(asset store.AssetKey) *Token {
	if t := s.tokens[asset.Token()]; t != nil {
		return t
	}
	n, err := s.Base.tokens.renew(s.Context(), s.version)
	if err == nil {
		s.tokenNames = n
		if t := s.tokens[asset.Token()]; t != nil {
			return t
		}
		err = fmt.Errorf("token %d: %w", asset.Token(), store.ErrNotFound)
	}
	s.Fail(err)
	return &Token{Hex: common.Address{}.Hex()} // never shown
}

// currency returns the request's currency; operations without the parameter show US dollars.
func (s *PriceView) currency() string {
	if c := s.Text("currency"); c != "" {
		return c
	}
	return "usd"
}

// units returns a price at a time in Unix seconds, in 10^-8 of the request's currency; nil without a market.
func (s *PriceView) units(series *price.Series, unix int64) *big.Int {
	if series == nil {
		return nil
	}
	seed := s.Base.World.Meta.Seed
	return price.In(series.At(seed, unix/metric.SecondsPerHour), price.Rate(seed, s.currency(), unix/metric.SecondsPerHour))
}

// Price returns the price of one whole token at a time in Unix seconds.
func (s *PriceView) Price(series *price.Series, unix int64) *Price {
	return s.money(s.units(series, unix), price.Decimals)
}

// money turns an integer of 10^-places into an amount of money; nil stays nil.
func (s *PriceView) money(n *big.Int, places int) *Price {
	if n == nil {
		return nil
	}
	return &Price{CurrencyCode: s.currency(), Value: s.Dialect().Decimal(price.Decimal(n, places))}
}

// CurrentPrice returns the price of one whole token at the world's clock.
func (s *PriceView) CurrentPrice(series *price.Series) *Price {
	return s.Price(series, s.Base.World.Clock.Unix())
}

// Worth returns the exact value of a balance.
func (s *PriceView) Worth(series *price.Series, balance []byte, decimals int) *Price {
	n := s.units(series, s.Base.World.Clock.Unix())
	if n == nil {
		return nil
	}
	return s.money(n.Mul(n, new(big.Int).SetBytes(balance)), price.Decimals+decimals)
}
