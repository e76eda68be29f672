package etherscan

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/metric"
	"snowglobe/sim/price"
	"snowglobe/sim/query"
)

// The names with avax are Snowtrace's.
var statsActions = map[string]action{
	"stats.ethsupply":          {handle: nativeSupply},
	"stats.avaxsupply":         {handle: nativeSupply},
	"stats.ethprice":           {handle: nativePrice},
	"stats.avaxprice":          {handle: nativePrice},
	"stats.tokensupply":        {handle: with(addressIn("contractaddress"), tokenSupply)},
	"stats.tokensupplyhistory": {handle: with(addressIn("contractaddress"), tokenSupply)},
	"stats.tokenholdercount":   {handle: with((*request).needToken, holderCount)},
}

// nativeSupply adds up the balances of all accounts of the chain, in wei.
func nativeSupply(r *request) (any, error) {
	sum, err := query.NativeSupply(r.Context(), r.db(), r.chain)
	if err != nil {
		return nil, err
	}
	return sum.String(), nil
}

type nativePrices struct {
	BTC     string `json:"ethbtc"`
	BTCTime string `json:"ethbtc_timestamp"`
	USD     string `json:"ethusd"`
	USDTime string `json:"ethusd_timestamp"`
}

// nativePrice shows the price of the chain's token by the world's clock. Without a market it is 0.
func nativePrice(r *request) (any, error) {
	native, bitcoin, err := r.series()
	if err != nil {
		return nil, err
	}
	seed, unix := r.world.Meta.Seed, r.world.Clock.Unix()
	p := nativePrices{BTC: "0", USD: "0", BTCTime: strconv.FormatInt(unix, 10), USDTime: strconv.FormatInt(unix, 10)}
	if native == nil {
		return p, nil
	}
	dollars := big.NewInt(native.At(seed, unix/metric.SecondsPerHour))
	p.USD = price.Decimal(dollars, price.Decimals)
	if bitcoin != nil {
		if of := bitcoin.At(seed, unix/metric.SecondsPerHour); of > 0 {
			share := new(big.Int).Mul(dollars, big.NewInt(price.Unit))
			p.BTC = price.Decimal(share.Div(share, big.NewInt(of)), price.Decimals)
		}
	}
	return p, nil
}

// series returns the price series of the chain's token and of a token that stands for bitcoin: the first by chain and address.
func (r *request) series() (native, bitcoin *price.Series, err error) {
	for _, c := range r.world.Chains {
		m, err := query.ReadMarkets(r.Context(), r.db(), c.Row.ID)
		if err != nil {
			return nil, nil, err
		}
		if c.Row.ID == r.chain.Row.ID {
			native = m.Native
		}
		for _, address := range slices.SortedFunc(maps.Keys(m.Tokens), common.Address.Cmp) {
			market := m.Tokens[address]
			if market.Series == nil || bitcoin != nil {
				continue
			}
			t, err := r.db().TokenAt(r.Context(), c.Row.ID, address[:])
			if err == nil && strings.HasPrefix(strings.ToUpper(t.Symbol), "BTC") && market.Series.Middle > 1000*price.Unit {
				bitcoin = market.Series
			}
		}
	}
	return native, bitcoin, nil
}

var totalSupply = hexutil.Bytes(crypto.Keccak256([]byte("totalSupply()"))[:4])

// supplyOf calls totalSupply of a contract after a block; "0" if it does not answer.
func (r *request) supplyOf(contract common.Address, b *reader.Block) (string, error) {
	result, err := r.chain.Call(r.Context(), b, &reader.Call{To: &contract, Input: &totalSupply}, reader.Overrides{})
	if err != nil {
		return "", err
	}
	if result.Failed() || len(result.ReturnData) != 32 {
		return "0", nil
	}
	return wei(result.ReturnData), nil
}

func tokenSupply(r *request, contract common.Address) (any, error) {
	n, err := r.atBlock()
	if err != nil {
		return nil, err
	}
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	b, err := r.chain.Block(r.Context(), min(n, head.Number))
	if err != nil {
		return nil, err
	}
	return r.supplyOf(contract, b)
}
