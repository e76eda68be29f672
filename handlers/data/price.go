package data

import (
	"math/big"

	"snowglobe/handlers"
	"snowglobe/sim/price"
)

// Price is an amount of money.
type Price struct {
	CurrencyCode string           `json:"currencyCode" enum:"usd,eur,aud,cad,chf,clp,cny,czk,dkk,gbp,hkd,huf,jpy,nzd"`
	Value        handlers.Decimal `json:"value"`
}

const hour = 3600

// currency is the one that the request asks for; operations without the parameter show US dollars.
func (s *scene) currency() string {
	if c := s.Text("currency"); c != "" {
		return c
	}
	return "usd"
}

// units is a price at a time in Unix seconds, in 10^-8 of the request's currency; nil without a market.
func (s *scene) units(series *price.Series, unix int64) *big.Int {
	if series == nil {
		return nil
	}
	seed := s.api.world.Meta.Seed
	return price.In(series.At(seed, unix/hour), price.Rate(seed, s.currency(), unix/hour))
}

// price is what one whole token costs at a time in Unix seconds.
func (s *scene) price(series *price.Series, unix int64) *Price {
	return s.money(s.units(series, unix), price.Places)
}

// money is an integer of 10^-places as an amount of money; nil stays nil.
func (s *scene) money(n *big.Int, places int) *Price {
	if n == nil {
		return nil
	}
	return &Price{CurrencyCode: s.currency(), Value: s.Dialect().Decimal(price.Decimal(n, places))}
}

// now is what one whole token costs by the world's clock.
func (s *scene) now(series *price.Series) *Price { return s.price(series, s.api.world.Clock.Unix()) }

// worth is the exact value of a balance.
func (s *scene) worth(series *price.Series, balance []byte, decimals int) *Price {
	n := s.units(series, s.api.world.Clock.Unix())
	if n == nil {
		return nil
	}
	return s.money(n.Mul(n, new(big.Int).SetBytes(balance)), price.Places+decimals)
}
