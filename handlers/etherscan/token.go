package etherscan

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/metric"
	"snowglobe/sim/price"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

var tokenActions = map[string]action{
	"token.tokeninfo":        {handle: with((*request).needToken, tokenInfo)},
	"token.tokenholderlist":  {handle: holderList},
	"token.topholders":       {handle: holderList},
	"token.tokenholdercount": {handle: with((*request).needToken, holderCount)},
}

// information is the only row of tokeninfo. Fields that only a submission to Etherscan would fill are empty.
type information struct {
	ContractAddress string `json:"contractAddress"`
	TokenName       string `json:"tokenName"`
	Symbol          string `json:"symbol"`
	Divisor         string `json:"divisor"` // decimals
	TokenType       string `json:"tokenType"`
	TotalSupply     string `json:"totalSupply"`
	BlueCheckmark   string `json:"blueCheckmark"`
	Description     string `json:"description"`
	Website         string `json:"website"`
	Email           string `json:"email"`
	Blog            string `json:"blog"`
	Twitter         string `json:"twitter"`
	TokenPriceUSD   string `json:"tokenPriceUSD"`
}

var errNoToken = refusal("Error! There is no token at the contract address")

func (r *request) needToken() (*store.Token, error) {
	t, err := r.token()
	if err == nil && t == nil {
		err = errNoToken
	}
	return t, err
}

func tokenInfo(r *request, t *store.Token) (any, error) {
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	address := common.BytesToAddress(t.Address)
	i := information{
		ContractAddress: hexAddress(t.Address), TokenName: t.Name, Symbol: t.Symbol, Divisor: strconv.Itoa(t.Decimals), TokenPriceUSD: "0",
		TokenType: strings.ReplaceAll(t.ID.Standard().String(), "-", ""), BlueCheckmark: "false",
	}
	if i.TotalSupply, err = r.supplyOf(address, head); err != nil {
		return nil, err
	}
	markets, err := query.ReadMarkets(r.Context(), r.db(), r.chain.Row.ID)
	if err != nil {
		return nil, err
	}
	if series := markets.Tokens[address].Series; series != nil {
		i.TokenPriceUSD = price.Decimal(big.NewInt(series.At(r.world.Meta.Seed, r.world.Clock.Unix()/metric.SecondsPerHour)), price.Decimals)
	}
	return []information{i}, nil
}

// holders returns who holds a token now, and how much: of NFTs, how many. The largest come first.
func (r *request) holders(t *store.Token) (held []query.HeldRange, err error) {
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	_, err = query.TokenHolders(r.Context(), r.db(), r.chain, t, head.Number+1, head.Number, func(h *query.HeldRange) bool {
		if !h.Last.IsZero() {
			mu.Lock()
			held = append(held, *h)
			mu.Unlock()
		}
		return false
	})
	slices.SortFunc(held, func(a, b query.HeldRange) int { return cmp.Or(b.Last.Cmp(&a.Last), a.Owner.Cmp(b.Owner)) })
	return held, err
}

type holder struct {
	Address  string `json:"TokenHolderAddress"`
	Quantity string `json:"TokenHolderQuantity"`
}

func holderList(r *request) (any, error) {
	p, err := r.values.page(maxRows)
	if err != nil {
		return nil, err
	}
	t, err := r.needToken()
	if err != nil {
		return nil, err
	}
	held, err := r.holders(t)
	if err != nil {
		return nil, err
	}
	if held = of(p, held); len(held) == 0 {
		return nil, &refused{"No token holder found", []string{}}
	}
	list := make([]holder, len(held))
	for i := range held {
		list[i] = holder{hexAddress(held[i].Owner[:]), held[i].Last.Dec()}
	}
	return list, nil
}

func holderCount(r *request, t *store.Token) (any, error) {
	held, err := r.holders(t)
	return strconv.Itoa(len(held)), err
}
