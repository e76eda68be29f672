package data

import (
	"cmp"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
)

// ChainNames lists the aliases of the primary chains by number.
var ChainNames = []string{"p-chain", "x-chain", "c-chain"}

// PrimaryIDs lists every name that the specification gives the primary chains of both networks.
var PrimaryIDs = append([]string{
	ids.Empty.String(), rules.Mainnet.XChainID.String(), rules.Fuji.XChainID.String(),
	rules.Mainnet.CChainID.String(), rules.Fuji.CChainID.String(),
}, ChainNames...)

// aliases maps the primary chains' ids to their aliases.
var aliases = aliasesByID()

func aliasesByID() map[string]string {
	all := map[string]string{}
	for _, network := range []*rules.Network{rules.Mainnet, rules.Fuji} {
		for kind, name := range ChainNames {
			all[network.BlockchainID(txs.Chain(kind)).String()] = name
		}
	}
	return all
}

// SameChain returns the alias of the primary chain with that name.
func SameChain(name string) string { return cmp.Or(aliases[name], name) }

// Parameters of the operations on the primary network.
var (
	PathNetworkParam = rest.Param{Name: "network", Kind: schema.KindNetwork, Doc: "testnet is another name for fuji."}
	PrimaryParam     = rest.Param{Name: "blockchainId", Kind: schema.KindEnum, Enum: PrimaryIDs, Same: SameChain, Doc: "A primary chain, by id or alias."}
	SortOrderParam   = rest.Param{Name: "sortOrder", Kind: schema.KindEnum, Enum: []string{"asc", "desc"}, Default: "desc",
		Doc: "desc lists the newest or largest first."}
	NodeParam  = rest.Param{Name: "nodeId", Kind: schema.KindNodeID}
	NodesParam = rest.Param{Name: "nodeIds", Kind: schema.KindNodeID, List: true, MaxItems: 64, Doc: "Only delegations to these nodes, by their full ids."}
	TimeParams = []rest.Param{
		{Name: "startTimestamp", Kind: schema.KindTimestamp, NotAbove: "endTimestamp", Doc: "The start of the time range, inclusive. A range from a time to itself is empty."},
		{Name: "endTimestamp", Kind: schema.KindTimestamp, Doc: "The end of the time range, exclusive."},
	}
)

// network returns the network that the request names.
func (b *Base) network(r *rest.Request) (*sim.Network, error) {
	name := r.Text("network")
	if n := b.World.NetworkNamed(name); n != nil {
		return n, nil
	}
	return nil, rest.NotFound("network %s does not exist", name)
}

// OnNetwork turns a handler for one network into one that finds the network first.
func (b *Base) OnNetwork(handle func(*rest.Request, *sim.Network) (any, error)) func(*rest.Request) (any, error) {
	return rest.With(b.network, handle)
}
