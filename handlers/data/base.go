package data

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Options are what the user may choose about the Data API.
type Options struct {
	KnownOnly bool // sign only messages that the world knows
}

// base is what the families of operations share: the world, and what was read of it lately.
type base struct {
	world   *sim.World
	tokens  *tokenCatalog
	stakers *stakerIndexes
	readers *chainReaders
}

func newBase(w *sim.World) *base {
	return &base{world: w, tokens: newTokenCatalog(w), stakers: newStakerIndexes(), readers: newChainReaders(w)}
}

// chain is the EVM chain that the request names.
func (b *base) chain(r *handlers.Request) (*evm.Chain, error) {
	id := r.Chain("chainId")
	for _, c := range b.world.Chains {
		if id.EVM != 0 && c.Row.EVMID == id.EVM || id.EVM == 0 && string(c.Row.BlockchainID) == string(id.Blockchain[:]) {
			return c, nil
		}
	}
	return nil, handlers.NotFound("EVM chain %s does not exist: GET /v1/chains lists those that do", id)
}

// onChain turns a handler for one chain into one that finds the chain first.
func (b *base) onChain(handle func(*handlers.Request, *evm.Chain) (any, error)) func(*handlers.Request) (any, error) {
	return func(r *handlers.Request) (any, error) {
		c, err := b.chain(r)
		if err != nil {
			return nil, err
		}
		return handle(r, c)
	}
}

// chainsOf are the EVM chains of the network that the request names, or all.
func (b *base) chainsOf(r *handlers.Request) []*evm.Chain {
	if !r.Given("network") {
		return b.world.Chains
	}
	var some []*evm.Chain
	for _, c := range b.world.Chains {
		if c.Row.Network == r.Text("network") {
			some = append(some, c)
		}
	}
	return some
}

// chainAt is the EVM chain of a position, nil if there is none.
func (b *base) chainAt(at store.Position) *evm.Chain {
	for _, c := range b.world.Chains {
		if c.Row.ID == at.Chain() {
			return c
		}
	}
	return nil
}

// chainOf is the EVM chain with a blockchain id, nil if the world does not simulate it.
func (b *base) chainOf(blockchain ids.ID) *evm.Chain {
	for _, c := range b.world.Chains {
		if ids.ID(c.Row.BlockchainID) == blockchain {
			return c
		}
	}
	return nil
}

// evmID is the EVM chain id of a blockchain, empty if the world does not simulate it.
func (b *base) evmID(blockchain ids.ID) string {
	if c := b.chainOf(blockchain); c != nil {
		return decimals(c.Row.EVMID)
	}
	return ""
}
