package data

import (
	"net/http"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/query"
)

// Options configures the Data API.
type Options struct {
	KnownOnly bool                 // sign only messages that the world contains
	Metadata  *http.Client         // fetches NFT metadata when a client asks for a reindex; nil reads on-chain metadata only
	Stakers   *query.StakerIndexes // shared with the other lists of stakers; nil makes one for the Data API alone
}

// Base holds what every family of operations shares: the world and its caches.
type Base struct {
	World   *sim.World
	tokens  *tokenCatalog
	Stakers *query.StakerIndexes
	Readers *query.ChainReaders
	Fetch   *http.Client // Options.Metadata
}

func NewBase(w *sim.World, o Options) *Base {
	if o.Stakers == nil {
		o.Stakers = query.NewStakerIndexes()
	}
	return &Base{World: w, tokens: &tokenCatalog{world: w}, Stakers: o.Stakers, Readers: query.NewChainReaders(w.DB.Caches()), Fetch: o.Metadata}
}

// chain returns the EVM chain that the request names.
func (b *Base) chain(r *rest.Request) (*reader.Chain, error) {
	id := r.Chain("chainId")
	c := b.World.ChainByBlockchainID(id.Blockchain)
	if id.EVM != 0 {
		c = b.World.ChainByEVMID(id.EVM)
	}
	if c != nil {
		return c, nil
	}
	return nil, rest.NotFound("EVM chain %s does not exist: GET /v1/chains lists all chains", id)
}

// OnChain turns a handler for one chain into one that finds the chain first.
func (b *Base) OnChain(handle func(*rest.Request, *reader.Chain) (any, error)) func(*rest.Request) (any, error) {
	return rest.With(b.chain, handle)
}

// ChainsOf returns the EVM chains of the network that the request names, or all of them.
func (b *Base) ChainsOf(r *rest.Request) []*reader.Chain {
	if !r.Given("network") {
		return b.World.Chains
	}
	return slices.DeleteFunc(slices.Clone(b.World.Chains), func(c *reader.Chain) bool { return c.Row.Network != r.Text("network") })
}

// EVMID returns the EVM chain id of a blockchain, or "" if the world does not simulate it.
func (b *Base) EVMID(blockchain ids.ID) string {
	if c := b.World.ChainByBlockchainID(blockchain); c != nil {
		return Decimals(c.Row.EVMID)
	}
	return ""
}
