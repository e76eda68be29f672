package data

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/price"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// tokenCatalog caches every token and named contract, since almost every response names some. It reloads when the world gets a new one.
type tokenCatalog struct {
	world *sim.World
	mu    sync.Mutex
	now   atomic.Pointer[tokenNames]
}

// tokenNames is one immutable state of the catalog.
type tokenNames struct {
	version int64
	tokens  map[store.TokenID]*Token
	Entries map[ChainAddress]*contractName
	Native  map[int]*price.Series // of native tokens
}

// ChainAddress is an address on a chain.
type ChainAddress struct {
	Chain   int
	Address common.Address
}

// contractName holds the fields that an address reference shows of a contract.
type contractName struct {
	Name  string
	Token *Token // nil for a contract that is not a token
}

// Token is a token with its market.
type Token struct {
	store.Token
	Hex        string        // the address, with its checksum
	logo       string        // the file name of its logo, or the URL of one that a token list gave
	Reputation string        // Malicious or Benign, empty when nothing is known
	Series     *price.Series // nil without a market
}

// read returns the catalog's present state.
func (c *tokenCatalog) read(ctx context.Context) (*tokenNames, error) {
	version := c.world.DB.TokenCommits()
	if n := c.now.Load(); n != nil && n.version == version {
		return n, nil
	}
	return c.renew(ctx, version)
}

// renew reloads the catalog, which then holds at least everything from that version.
func (c *tokenCatalog) renew(ctx context.Context, version int64) (*tokenNames, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.load(ctx, version)
	if err == nil {
		c.now.Store(n)
	}
	return n, err
}

func (c *tokenCatalog) load(ctx context.Context, version int64) (*tokenNames, error) {
	n := &tokenNames{version: version, tokens: map[store.TokenID]*Token{}, Entries: map[ChainAddress]*contractName{}, Native: map[int]*price.Series{}}
	for _, chain := range c.world.Chains {
		if err := c.loadChain(ctx, n, chain.Row.ID); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (c *tokenCatalog) loadChain(ctx context.Context, n *tokenNames, chain int) error {
	contracts, err := c.world.DB.Contracts(ctx, chain)
	if err != nil {
		return err
	}
	logos, err := c.world.DB.Logos(ctx, chain)
	if err != nil {
		return err
	}
	for _, r := range contracts {
		n.Entries[ChainAddress{chain, common.BytesToAddress(r.Address)}] = &contractName{Name: r.Artifact}
	}
	for s := store.ERC20; s <= store.ERC1155; s++ {
		rows, err := c.world.DB.Tokens(ctx, chain, s, 0)
		if err != nil {
			return err
		}
		for _, row := range rows {
			address := common.BytesToAddress(row.Address)
			t := &Token{Token: row, Hex: address.Hex(), logo: cmp.Or(logos[string(row.Address)], fixtures.LogoName(row.Symbol))}
			n.tokens[row.ID] = t
			n.Entries[ChainAddress{chain, address}] = &contractName{Name: row.Name, Token: t}
		}
	}
	return c.loadMarkets(ctx, n, chain)
}

func (c *tokenCatalog) loadMarkets(ctx context.Context, n *tokenNames, chain int) error {
	markets, err := query.ReadMarkets(ctx, c.world.DB, chain)
	if err != nil {
		return err
	}
	n.Native[chain] = markets.Native
	for address, m := range markets.Tokens {
		if t := n.At(chain, address); t != nil {
			t.Series, t.Reputation = m.Series, m.Reputation
		}
	}
	return nil
}

// At returns the token at an address, or nil if there is none.
func (n *tokenNames) At(chain int, address common.Address) *Token {
	if e := n.Entries[ChainAddress{chain, address}]; e != nil {
		return e.Token
	}
	return nil
}

// Logo returns the URL of the token's logo, or nothing for a malicious token.
func (t *Token) Logo(r *rest.Request) string {
	if t.Reputation == query.Malicious {
		return ""
	}
	if strings.Contains(t.logo, ":") {
		return t.logo
	}
	return logoURL(r, t.logo)
}

// LogoURL returns the URL of the logo with a name.
func LogoURL(r *rest.Request, name string) string {
	return logoURL(r, fixtures.LogoName(name))
}

func logoURL(r *rest.Request, file string) string { return r.BaseURL() + "/sim/logo/" + file + ".svg" }
