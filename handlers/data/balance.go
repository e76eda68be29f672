package data

import (
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// NativeBalance is what an address holds of the chain's own token.
type NativeBalance struct {
	Name         string `json:"name"`
	Symbol       string `json:"symbol"`
	Decimals     int    `json:"decimals"`
	LogoURI      string `json:"logoUri" format:"url"`
	ChainID      string `json:"chainId" format:"uint"`
	Price        *Price `json:"price,omitempty"`
	Balance      string `json:"balance" format:"uint"`
	BalanceValue *Price `json:"balanceValue,omitempty"`
}

// Erc20Balance is what an address holds of an ERC-20.
type Erc20Balance struct {
	Erc20Token
	ChainID         string  `json:"chainId" format:"uint"`
	Balance         string  `json:"balance" format:"uint"`
	BalanceValue    *Price  `json:"balanceValue,omitempty" doc:"Absent for a token without a market."`
	TokenReputation *string `json:"tokenReputation" enum:"Malicious,Benign" doc:"On the C-Chain only; null when nothing is known."`
}

type nativeAnswer struct {
	NativeTokenBalance NativeBalance `json:"nativeTokenBalance"`
}

type erc20Balances struct {
	NextPageToken      string         `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	NativeTokenBalance NativeBalance  `json:"nativeTokenBalance"`
	Erc20TokenBalances []Erc20Balance `json:"erc20TokenBalances"`
}

func (a *tokenAPI) balanceOperations() []handlers.Operation {
	return []handlers.Operation{
		{ID: "getNativeBalance", Path: "/v1/chains/{chainId}/addresses/{address}/balances:getNative", Summary: "Get what an address holds of the chain's own token",
			Params: with(chainParam, addressParam, atBlockParam, currencyParam), Answer: reflect.TypeFor[nativeAnswer](), Handle: a.onChain(a.getNative)},
		{ID: "listErc20Balances", Path: "/v1/chains/{chainId}/addresses/{address}/balances:listErc20", Summary: "List what an address holds of ERC-20s", Spec: "Balances",
			Params: with(chainParam, addressParam, atBlockParam, handlers.Paging(10, 500),
				handlers.Param{Name: "filterSpamTokens", Kind: handlers.KindBoolean, Default: "true", Doc: "Whether to leave out malicious tokens."},
				handlers.Param{Name: "contractAddresses", Kind: handlers.KindAddress, List: true, MaxItems: 64, Doc: "Only these tokens."}, currencyParam),
			Answer: reflect.TypeFor[erc20Balances](), Handle: a.onChain(a.listErc20)},
	}
}

// height is the block after which the request wants the balances; without one it is the latest there is.
func (a *tokenAPI) height(r *handlers.Request, c *evm.Chain) (uint64, error) {
	n := r.Amount("blockNumber")
	if n == nil {
		return store.MaxNumber, nil
	}
	missing := handlers.NotFound("block %s does not exist on chain %d", n, c.Row.EVMID)
	if !n.IsUint64() {
		return 0, missing
	}
	_, err := a.world.DB.Block(r.Context(), c.Row.ID, n.Uint64())
	return n.Uint64(), or(err, missing)
}

// native is what the address in the request holds of the chain's own token after a block.
func (s *tokenView) nativeBalance(c *evm.Chain, block uint64) (NativeBalance, error) {
	address := s.Address("address")
	row, err := s.base.world.DB.Account(s.Context(), c.Row.ID, address[:], block)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return NativeBalance{}, err
	}
	series := s.native[c.Row.ID]
	return NativeBalance{
		Name: c.Row.TokenName, Symbol: c.Row.TokenSymbol, Decimals: nativeDecimals, LogoURI: logoURL(s.Request, c.Row.TokenSymbol),
		ChainID: strconv.FormatUint(c.Row.EVMID, 10), Price: s.now(series), Balance: amount(row.Balance),
		BalanceValue: s.worth(series, row.Balance, nativeDecimals),
	}, nil
}

func (a *tokenAPI) getNative(r *handlers.Request, c *evm.Chain) (any, error) {
	s, err := a.view(r, c.Row.ID)
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

func (a *tokenAPI) listErc20(r *handlers.Request, c *evm.Chain) (any, error) {
	s, err := a.view(r, c.Row.ID)
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
	rows, answer.NextPageToken = cut(r, rows, func(v *store.HoldingView) []byte { return v.Asset.Key() })
	answer.Erc20TokenBalances = list(rows, func(v *store.HoldingView) Erc20Balance { return s.erc20Balance(c, v) })
	return answer, nil
}

// erc20Rows reads a page of balances.
func (a *tokenAPI) erc20Rows(s *tokenView, block uint64) ([]store.HoldingView, error) {
	address := s.Address("address")
	wanted := handlers.List[common.Address](s.Request, "contractAddresses")
	after, before := assetsOf(s.chain, store.ERC20, store.ERC20)
	return s.fill(after, func(after store.AssetKey, limit int) ([]store.HoldingView, error) {
		return a.world.DB.Holdings(s.Context(), address[:], after, before, block, limit)
	}, func(v *store.HoldingView) bool { return s.shows(s.of(v.Asset), wanted) })
}

// fill reads a page of holdings and one more. For what the filter leaves out it reads on.
func (s *tokenView) fill(after store.AssetKey, read func(after store.AssetKey, limit int) ([]store.HoldingView, error),
	keep func(*store.HoldingView) bool) ([]store.HoldingView, error) {
	if position, resumed := s.Position(); resumed {
		after = store.AssetOf(s.chain, position)
	}
	limit := s.PageSize() + 1
	var page []store.HoldingView
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
func (s *tokenView) shows(t *token, wanted []common.Address) bool {
	if t.reputation == malicious && s.Bool("filterSpamTokens") {
		return false
	}
	return len(wanted) == 0 || slices.Contains(wanted, common.BytesToAddress(t.Token.Address))
}

// assetsOf are the bounds, both exclusive, of the assets of a range of standards on a chain.
func assetsOf(chain int, first, last store.Standard) (after, before store.AssetKey) {
	low, high := store.NewTokenID(chain, first, 0), store.NewTokenID(chain, last, store.MaxTokens)
	return low.Asset(nil), high.Asset(nil)
}

func (s *tokenView) erc20Balance(c *evm.Chain, v *store.HoldingView) Erc20Balance {
	t := s.of(v.Asset)
	shown := Erc20Balance{Erc20Token: s.erc20Token(t), ChainID: strconv.FormatUint(c.Row.EVMID, 10), Balance: amount(v.Amount),
		BalanceValue: s.worth(t.series, v.Amount, t.Decimals)}
	if t.reputation != "" && c.Kind == evm.KindC {
		shown.TokenReputation = &t.reputation
	}
	return shown
}
