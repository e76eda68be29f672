package data

import (
	"context"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// ChainInfo says which primary chain a list is of.
type ChainInfo struct {
	ChainName string `json:"chainName" enum:"p-chain,x-chain,c-chain"`
	Network   string `json:"network" enum:"mainnet,fuji,testnet"`
}

// chainNames are the aliases of the primary chains, by their number.
var chainNames = []string{"p-chain", "x-chain", "c-chain"}

// primaryIDs is every name that the specification gives the primary chains of both networks.
var primaryIDs = append([]string{
	ids.Empty.String(), primary.Mainnet.XChainID.String(), primary.Fuji.XChainID.String(),
	primary.Mainnet.CChainID.String(), primary.Fuji.CChainID.String(),
}, chainNames...)

// sameChain is the alias of the primary chain that a name stands for.
func sameChain(name string) string {
	for _, rules := range []*primary.Network{primary.Mainnet, primary.Fuji} {
		for _, kind := range []primary.Chain{primary.PChain, primary.XChain, primary.CChain} {
			if name == rules.BlockchainID(kind).String() {
				return chainNames[kind]
			}
		}
	}
	return name
}

// Parameters of the primary network's operations.
var (
	pathNetworkParam = handlers.Param{Name: "network", Kind: handlers.KindNetwork, Doc: "testnet is another name for fuji."}
	primaryParam     = handlers.Param{Name: "blockchainId", Kind: handlers.KindEnum, Enum: primaryIDs, Same: sameChain, Doc: "A primary chain, by id or alias."}
	sortOrderParam   = handlers.Param{Name: "sortOrder", Kind: handlers.KindEnum, Enum: []string{"asc", "desc"}, Default: "desc",
		Doc: "desc lists the newest, or the largest, first."}
	nodeParam  = handlers.Param{Name: "nodeId", Kind: handlers.KindNodeID}
	nodesParam = handlers.Param{Name: "nodeIds", Kind: handlers.KindNodeID, List: true, MaxItems: 64, Doc: "Only of these nodes, by their whole ids."}
	timeParams = []handlers.Param{
		{Name: "startTimestamp", Kind: handlers.KindTimestamp, NotAbove: "endTimestamp", Doc: "The start of the time range, inclusive; a range that ends where it starts is empty."},
		{Name: "endTimestamp", Kind: handlers.KindTimestamp, Doc: "The end of the time range, exclusive."},
	}
)

// primaryChain is one of the three chains of a network.
type primaryChain struct {
	*sim.Ledger
	kind primary.Chain
	evm  *evm.Chain // of a C-Chain
}

// network is the network that the request names.
func (b *base) network(r *handlers.Request) (*sim.Ledger, error) {
	name := r.Text("network")
	for _, l := range b.world.Ledgers {
		if l.Network == name {
			return l, nil
		}
	}
	return nil, handlers.NotFound("network %s does not exist", name)
}

// onNetwork turns a handler for one network into one that finds the network first.
func (b *base) onNetwork(handle func(*handlers.Request, *sim.Ledger) (any, error)) func(*handlers.Request) (any, error) {
	return func(r *handlers.Request) (any, error) {
		l, err := b.network(r)
		if err != nil {
			return nil, err
		}
		return handle(r, l)
	}
}

// onPrimary turns a handler for one primary chain into one that finds the chain first.
func (b *base) onPrimary(handle func(*handlers.Request, *primaryChain) (any, error)) func(*handlers.Request) (any, error) {
	return b.onNetwork(func(r *handlers.Request, l *sim.Ledger) (any, error) {
		name := r.Text("blockchainId")
		for _, kind := range []primary.Chain{primary.PChain, primary.XChain, primary.CChain} {
			if name == chainNames[kind] || name == l.Rules.BlockchainID(kind).String() {
				return handle(r, &primaryChain{l, kind, b.readers.evmOf(l, kind)})
			}
		}
		return nil, handlers.NotFound("blockchain %s is not of network %s", name, l.Network)
	})
}

// number is what the file calls the chain of UTXOs.
func (c *primaryChain) number() int { return c.Chain(c.kind) }

// blocks is what the file calls the chain of blocks.
func (c *primaryChain) blocks() int {
	if c.evm != nil {
		return c.evm.Row.ID
	}
	return c.number()
}

// more is what pages say beside their items.
func (c *primaryChain) more() map[string]any { return map[string]any{"chainInfo": c.info()} }

func (c *primaryChain) info() ChainInfo { return ChainInfo{chainNames[c.kind], c.Network} }

func (c *primaryChain) height(ctx context.Context) (uint64, error) {
	if c.evm != nil {
		head, err := c.evm.Head(ctx)
		if err != nil {
			return 0, err
		}
		return head.Row.ID.Number(), nil
	}
	head, err := c.DB.PrimaryHead(ctx, c.number())
	return head.ID.Number(), err
}

// since is the height of the first block at or after a time; the next height when there is none.
func (c *primaryChain) since(ctx context.Context, unix int64) (uint64, error) {
	if c.evm != nil {
		return c.DB.FirstSince(ctx, c.blocks(), unix)
	}
	return c.DB.FirstPrimarySince(ctx, c.blocks(), unix)
}

// span is the part of the chain that a page may show: from its newest position down to the oldest.
func (c *primaryChain) span(r *handlers.Request, number int) (high, low store.Position, err error) {
	high, low, err = c.times(r, number)
	if n, resumed := r.PositionNumber(); resumed {
		high = min(high, store.First(number)+store.Position(n)-1)
	}
	return high, low, err
}

// times is the part of the chain that the request's time range allows.
func (c *primaryChain) times(r *handlers.Request, number int) (high, low store.Position, err error) {
	high, low = store.Last(number), store.First(number)
	if r.Given("startTimestamp") {
		first, err := c.since(r.Context(), r.Int("startTimestamp"))
		if err != nil {
			return 0, 0, err
		}
		low = store.At(number, first, 0)
	}
	if r.Given("endTimestamp") {
		end, err := c.since(r.Context(), r.Int("endTimestamp"))
		if err != nil {
			return 0, 0, err
		}
		high = store.At(number, end, 0) - 1
	}
	return high, low, nil
}
