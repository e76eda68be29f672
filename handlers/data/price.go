package data

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim/price"
	"snowglobe/sim/store"
)

// Price is an amount of money.
type Price struct {
	CurrencyCode string           `json:"currencyCode" enum:"usd,eur,aud,cad,chf,clp,cny,czk,dkk,gbp,hkd,huf,jpy,nzd"`
	Value        handlers.Decimal `json:"value"`
}

const hour = 3600

// day is how old something must be to have a historical price, in seconds.
const day = 86_400

// priceView is what a chain's tokens are called and cost, for the answer to one request.
type priceView struct {
	*handlers.Request
	*tokenNames
	base  *base
	chain int
}

// prices opens the catalog for a request.
func (b *base) prices(r *handlers.Request, chain int) (*priceView, error) {
	n, err := b.tokens.read(r.Context())
	return &priceView{Request: r, tokenNames: n, base: b, chain: chain}, err
}

// of is the token of an asset. One that came with a block after the view was opened is looked up anew.
func (s *priceView) of(asset store.AssetKey) *token {
	if t := s.tokens[asset.Token()]; t != nil {
		return t
	}
	if n, err := s.base.tokens.renew(s.Context(), s.version); err == nil {
		s.tokenNames = n
	}
	if t := s.tokens[asset.Token()]; t != nil {
		return t
	}
	return &token{hex: common.Address{}.Hex()} // the request was cancelled: nobody reads this
}

// currency is the one that the request asks for; operations without the parameter show US dollars.
func (s *priceView) currency() string {
	if c := s.Text("currency"); c != "" {
		return c
	}
	return "usd"
}

// units is a price at a time in Unix seconds, in 10^-8 of the request's currency; nil without a market.
func (s *priceView) units(series *price.Series, unix int64) *big.Int {
	if series == nil {
		return nil
	}
	seed := s.base.world.Meta.Seed
	return price.In(series.At(seed, unix/hour), price.Rate(seed, s.currency(), unix/hour))
}

// price is what one whole token costs at a time in Unix seconds.
func (s *priceView) price(series *price.Series, unix int64) *Price {
	return s.money(s.units(series, unix), price.Places)
}

// money is an integer of 10^-places as an amount of money; nil stays nil.
func (s *priceView) money(n *big.Int, places int) *Price {
	if n == nil {
		return nil
	}
	return &Price{CurrencyCode: s.currency(), Value: s.Dialect().Decimal(price.Decimal(n, places))}
}

// now is what one whole token costs by the world's clock.
func (s *priceView) now(series *price.Series) *Price {
	return s.price(series, s.base.world.Clock.Unix())
}

// worth is the exact value of a balance.
func (s *priceView) worth(series *price.Series, balance []byte, decimals int) *Price {
	n := s.units(series, s.base.world.Clock.Unix())
	if n == nil {
		return nil
	}
	return s.money(n.Mul(n, new(big.Int).SetBytes(balance)), price.Places+decimals)
}
