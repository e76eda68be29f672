package evm

import (
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// NativeBalance is an address's balance in the chain's native token.
type NativeBalance struct {
	Name         string      `json:"name"`
	Symbol       string      `json:"symbol"`
	Decimals     int         `json:"decimals"`
	LogoURI      string      `json:"logoUri" format:"url"`
	ChainID      string      `json:"chainId" format:"uint"`
	Price        *data.Price `json:"price,omitempty"`
	Balance      string      `json:"balance" format:"uint"`
	BalanceValue *data.Price `json:"balanceValue,omitempty"`
}

// Erc20Balance is an address's balance in an ERC-20.
type Erc20Balance struct {
	Erc20Token
	ChainID         string      `json:"chainId" format:"uint"`
	Balance         string      `json:"balance" format:"uint"`
	BalanceValue    *data.Price `json:"balanceValue,omitempty" doc:"Absent for a token without a market."`
	TokenReputation *string     `json:"tokenReputation" enum:"Malicious,Benign" doc:"filterSpamTokens hides Malicious tokens; only the C-Chain has Benign ones; null when nothing is known."`
}

type nativeAnswer struct {
	NativeTokenBalance NativeBalance `json:"nativeTokenBalance"`
}

type erc20Balances struct {
	NextPageToken      string         `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	NativeTokenBalance NativeBalance  `json:"nativeTokenBalance"`
	Erc20TokenBalances []Erc20Balance `json:"erc20TokenBalances"`
}

func (a *tokenAPI) balanceOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "getNativeBalance", Path: "/v1/chains/{chainId}/addresses/{address}/balances:getNative", Summary: "Get an address's balance of the chain's own token",
			Params: data.JoinParams(data.ChainParam, data.AddressParam, data.AtBlockParam, data.CurrencyParam), Answer: reflect.TypeFor[nativeAnswer](), Handle: a.OnChain(a.getNative)},
		{ID: "listErc20Balances", Path: "/v1/chains/{chainId}/addresses/{address}/balances:listErc20", Summary: "List the ERC-20 balances of an address", Spec: "Balances",
			Params: data.JoinParams(data.ChainParam, data.AddressParam, data.AtBlockParam, rest.Paging(10, 500),
				rest.Param{Name: "filterSpamTokens", Kind: schema.KindBoolean, Default: "true", Doc: "Whether to leave out malicious tokens."},
				rest.Param{Name: "contractAddresses", Kind: schema.KindAddress, List: true, MaxItems: 64, Doc: "Only these tokens."}, data.CurrencyParam),
			Answer: reflect.TypeFor[erc20Balances](), Handle: a.OnChain(a.listErc20)},
	}
}

// height returns the block after which the request wants the balances; by default the latest.
func (a *tokenAPI) height(r *rest.Request, c *reader.Chain) (uint64, error) {
	n := r.Amount("blockNumber")
	if n == nil {
		return store.MaxNumber, nil
	}
	missing := rest.NotFound("block %s does not exist on chain %d", n, c.Row.EVMID)
	head, err := c.Head(r.Context())
	switch {
	case err != nil:
		return 0, err
	case !n.IsUint64() || n.Uint64() > head.Number:
		return 0, missing
	}
	return n.Uint64(), nil
}

// native returns the native balance of the request's address after a block.
func (s *tokenView) nativeBalance(c *reader.Chain, block uint64) (NativeBalance, error) {
	address := s.Address("address")
	row, err := s.Base.World.DB.Account(s.Context(), c.Row.ID, address[:], block)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return NativeBalance{}, err
	}
	series := s.Native[c.Row.ID]
	return NativeBalance{
		Name: c.Row.TokenName, Symbol: c.Row.TokenSymbol, Decimals: nativeDecimals, LogoURI: data.LogoURL(s.Request, c.Row.TokenSymbol),
		ChainID: strconv.FormatUint(c.Row.EVMID, 10), Price: s.CurrentPrice(series), Balance: data.Amount(row.Balance),
		BalanceValue: s.Worth(series, row.Balance, nativeDecimals),
	}, nil
}

func (a *tokenAPI) getNative(r *rest.Request, c *reader.Chain) (any, error) {
	s, err := a.fungible(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	block, err := a.height(r, c)
	if err != nil {
		return nil, err
	}
	balance, err := s.nativeBalance(c, block)
	return nativeAnswer{balance}, err
}

func (a *tokenAPI) listErc20(r *rest.Request, c *reader.Chain) (any, error) {
	s, err := a.fungible(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	block, err := a.height(r, c)
	if err != nil {
		return nil, err
	}
	var answer erc20Balances
	if answer.NativeTokenBalance, err = s.nativeBalance(c, block); err != nil {
		return nil, err
	}
	rows, err := a.erc20Rows(s, block)
	if err != nil {
		return nil, err
	}
	rows, answer.NextPageToken = data.CutPage(r, rows, func(v *store.TokenBalanceView) []byte { return v.Asset.Key() })
	answer.Erc20TokenBalances = data.List(rows, func(v *store.TokenBalanceView) Erc20Balance { return s.erc20Balance(c, v) })
	return answer, nil
}

// erc20Rows reads a page of balances.
func (a *tokenAPI) erc20Rows(s *tokenView, block uint64) ([]store.TokenBalanceView, error) {
	address := s.Address("address")
	wanted := rest.List[common.Address](s.Request, "contractAddresses")
	after, before := assetsOf(s.Chain, store.ERC20, store.ERC20)
	return s.fill(after, func(after store.AssetKey, limit int) ([]store.TokenBalanceView, error) {
		return a.holdings.ERC20(s.Context(), address, s.Chain, after, before, block, limit)
	}, func(v *store.TokenBalanceView) bool { return s.shows(s.TokenOf(v.Asset), wanted) })
}

// fill reads one holding more than a page needs, and reads on past those that the filter drops.
func (s *tokenView) fill(after store.AssetKey, read func(after store.AssetKey, limit int) ([]store.TokenBalanceView, error),
	keep func(*store.TokenBalanceView) bool) ([]store.TokenBalanceView, error) {
	if position, resumed := s.Position(); resumed {
		after = store.AssetOf(s.Chain, position)
	}
	limit := s.PageSize() + 1
	var page []store.TokenBalanceView
	for {
		rows, err := read(after, limit)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if len(page) < limit && keep(&rows[i]) {
				page = append(page, rows[i])
			}
		}
		if len(page) == limit || len(rows) < limit {
			return page, nil
		}
		after = rows[len(rows)-1].Asset
	}
}

// shows reports whether the request's filters let a token through.
func (s *tokenView) shows(t *data.Token, wanted []common.Address) bool {
	if t.Reputation == query.Malicious && s.Bool("filterSpamTokens") {
		return false
	}
	return len(wanted) == 0 || slices.Contains(wanted, common.BytesToAddress(t.Token.Address))
}

// assetsOf returns the exclusive bounds of a chain's assets in a range of token standards.
func assetsOf(chain int, first, last store.Standard) (after, before store.AssetKey) {
	low, high := store.NewTokenID(chain, first, 0), store.NewTokenID(chain, last, store.MaxTokens)
	return low.Asset(nil), high.Asset(nil)
}

func (s *tokenView) erc20Balance(c *reader.Chain, v *store.TokenBalanceView) Erc20Balance {
	t := s.TokenOf(v.Asset)
	return Erc20Balance{Erc20Token: s.erc20Token(t), ChainID: strconv.FormatUint(c.Row.EVMID, 10), Balance: data.Amount(v.Amount),
		BalanceValue: s.Worth(t.Series, v.Amount, t.Decimals), TokenReputation: reputation(c, t)}
}

// reputation returns a token's reputation: benign, and on the C-Chain only.
func reputation(c *reader.Chain, t *data.Token) *string {
	if t.Reputation == query.Malicious || t.Reputation != "" && c.Kind == evm.KindC {
		return &t.Reputation
	}
	return nil
}
