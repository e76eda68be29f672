package data

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/primary"
)

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
