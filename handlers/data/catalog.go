package data

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/price"
	"snowglobe/sim/store"
)

// tokenCatalog knows every token and every named contract, as answers name them at every turn. It is read anew when
// there is a new one.
type tokenCatalog struct {
	world *sim.World
	mu    sync.Mutex
	now   atomic.Pointer[tokenNames]
}

// tokenNames is one state of the catalog; it is never changed.
type tokenNames struct {
	version int64
	tokens  map[store.TokenID]*token
	entries map[chainAddress]*contractName
	native  map[int]*price.Series // of the chains' own tokens
}

// chainAddress is an address on a chain.
type chainAddress struct {
	chain   int
	address common.Address
}

// contractName is what an address reference shows of a contract.
type contractName struct {
	name  string
	token *token // nil for a contract that is none
}

// token is a token with what the market knows of it.
type token struct {
	store.Token
	hex        string        // the address, with its checksum
	reputation string        // Malicious or Benign, empty when nothing is known
	series     *price.Series // nil without a market
}

func newTokenCatalog(world *sim.World) *tokenCatalog { return &tokenCatalog{world: world} }

// read is the present state of the catalog.
func (c *tokenCatalog) read(ctx context.Context) (*tokenNames, error) {
	version := c.world.DB.Names()
	if n := c.now.Load(); n != nil && n.version == version {
		return n, nil
	}
	return c.renew(ctx, version)
}

// renew reads the catalog anew; it holds at least what was there at the version.
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
	n := &tokenNames{version: version, tokens: map[store.TokenID]*token{}, entries: map[chainAddress]*contractName{}, native: map[int]*price.Series{}}
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
	for _, r := range contracts {
		n.entries[chainAddress{chain, common.BytesToAddress(r.Address)}] = &contractName{name: r.Artifact}
	}
	for s := store.ERC20; s <= store.ERC1155; s++ {
		rows, err := c.world.DB.Tokens(ctx, chain, s, 0)
		if err != nil {
			return err
		}
		for _, row := range rows {
			address := common.BytesToAddress(row.Address)
			t := &token{Token: row, hex: address.Hex()}
			n.tokens[row.ID] = t
			n.entries[chainAddress{chain, address}] = &contractName{name: row.Name, token: t}
		}
	}
	return c.loadMarkets(ctx, n, chain)
}

func (c *tokenCatalog) loadMarkets(ctx context.Context, n *tokenNames, chain int) error {
	markets, err := c.world.DB.Markets(ctx, chain)
	if err != nil {
		return err
	}
	for _, m := range markets {
		var series *price.Series
		if m.Series != "" {
			series = &price.Series{Name: m.Series, Middle: m.Price, Swing: m.Swing}
		}
		if bytes.Equal(m.Address, make([]byte, common.AddressLength)) {
			n.native[chain] = series
		} else if e := n.entries[chainAddress{chain, common.BytesToAddress(m.Address)}]; e != nil && e.token != nil {
			e.token.series, e.token.reputation = series, m.Reputation
		}
	}
	return nil
}

// at is the token at an address, nil if there is none.
func (n *tokenNames) at(chain int, address common.Address) *token {
	if e := n.entries[chainAddress{chain, address}]; e != nil {
		return e.token
	}
	return nil
}

// logo is where the token's logo is; malicious tokens have none.
func (t *token) logo(r *handlers.Request) string {
	if t.reputation == malicious {
		return ""
	}
	return logoURL(r, t.Symbol)
}

// malicious is the reputation of tokens that are hidden unless they are asked for.
const malicious = "Malicious"

// logoURL is where the logo of a name is.
func logoURL(r *handlers.Request, name string) string {
	return r.BaseURL() + "/sim/logo/" + logoName(name) + ".svg"
}
