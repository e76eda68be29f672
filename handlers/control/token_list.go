package control

import (
	"cmp"
	"context"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// TokenList is a list of tokens as wallets and exchanges read it: https://tokenlists.org, Uniswap's tokenlist.schema.json.
type TokenList struct {
	Name      string           `json:"name"`
	Timestamp string           `json:"timestamp" doc:"RFC 3339, the world's time."`
	Version   TokenListVersion `json:"version"`
	Tokens    []ListedToken    `json:"tokens"`
}

// TokenListVersion increases whenever the tokens change.
type TokenListVersion struct {
	Major int `json:"major"`
	Minor int `json:"minor"`
	Patch int `json:"patch"`
}

// ListedToken is a token in the list.
type ListedToken struct {
	ChainID  uint64 `json:"chainId"`
	Address  string `json:"address" format:"address"`
	Name     string `json:"name"`
	Symbol   string `json:"symbol"`
	Decimals int    `json:"decimals"`
	LogoURI  string `json:"logoURI" format:"url"`
}

// Limits of the schema.
var (
	listedName   = schema.Shape(`^[ \S]{1,60}$`)
	listedSymbol = schema.Shape(`^\S{1,20}$`)
)

const mostListed = 10_000

func (a *assetsAPI) tokenList(r *rest.Request) (any, error) {
	return tokenList(r.Context(), a.world, nil, r.BaseURL())
}

// tokenList lists the tokens of a chain, or of all, with logos below a URL.
func tokenList(ctx context.Context, w *sim.World, of *reader.Chain, base string) (*TokenList, error) {
	answer := &TokenList{Name: "Snowglobe", Timestamp: w.Clock.Now().Format(time.RFC3339), Version: TokenListVersion{Major: 1}, Tokens: []ListedToken{}}
	for _, c := range w.Chains {
		if of != nil && c != of {
			continue
		}
		logos, err := w.DB.Logos(ctx, c.Row.ID)
		if err != nil {
			return nil, err
		}
		tokens, err := listedTokens(ctx, w, c)
		if err != nil {
			return nil, err
		}
		answer.Version.Minor += len(tokens)
		for _, t := range tokens {
			if len(answer.Tokens) < mostListed {
				answer.Tokens = append(answer.Tokens, ListedToken{
					ChainID: c.Row.EVMID, Address: common.BytesToAddress(t.Address).Hex(), Name: t.Name, Symbol: t.Symbol, Decimals: t.Decimals,
					LogoURI: cmp.Or(logos[string(t.Address)], base+"/sim/logo/"+fixtures.LogoName(t.Symbol)+".svg"),
				})
			}
		}
	}
	return answer, nil
}

// listedTokens returns the ERC-20s of a chain that fit the schema.
func listedTokens(ctx context.Context, w *sim.World, c *reader.Chain) ([]store.Token, error) {
	markets, err := query.ReadMarkets(ctx, w.DB, c.Row.ID)
	if err != nil {
		return nil, err
	}
	all, err := w.DB.Tokens(ctx, c.Row.ID, store.ERC20, 0)
	if err != nil {
		return nil, err
	}
	var listed []store.Token
	for _, t := range all {
		m := markets.Tokens[common.BytesToAddress(t.Address)]
		if m.Reputation == query.Malicious || !listedName().MatchString(t.Name) || !listedSymbol().MatchString(t.Symbol) {
			continue
		}
		listed = append(listed, t)
	}
	return listed, nil
}
