package export

import (
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/txs"
)

func (q *exportRequest) readPrimary() {
	o := &q.body.Options
	if len(o.Addresses)+len(o.CChainEvmAddresses) == 0 {
		q.fail("options.addresses or options.cChainEvmAddresses is required for %s", q.scope.Type)
	}
	q.accounts("cChainEvmAddresses", o.CChainEvmAddresses)
	owners := items[schema.PrimaryAddress](q, "addresses", o.Addresses, schema.KindPrimaryAddress)
	for _, owner := range owners {
		if network := q.networkOf(owner); !slices.Contains(q.scope.Owners[network], owner.ID) {
			q.scope.Owners[network] = append(q.scope.Owners[network], owner.ID)
		}
	}
	if !q.needChains() {
		return
	}
	var named [][]export.ChainRef
	for i, name := range o.IncludeChains {
		where := fmt.Sprintf("options.includeChains[%d]", i)
		if !slices.Contains(data.PrimaryIDs, name) {
			name = q.world.Alias("", name)
		}
		id, problem := rest.ReadItem[string](where, schema.KindEnum, name, data.PrimaryIDs...)
		if problem != "" {
			q.problems = append(q.problems, problem)
			continue
		}
		chains := q.chainsOf(id)
		for _, l := range chains {
			q.include(l)
		}
		named = append(named, chains)
	}
	if len(q.problems) == 0 { // then there are as many owners and names as texts
		q.checkOwners(owners)
		q.checkChains(named)
	}
}

func (q *exportRequest) networkOf(owner schema.PrimaryAddress) string {
	at := slices.IndexFunc(q.world.Networks, func(n *sim.Network) bool { return n.Rules.HRP == owner.HRP })
	return q.world.Networks[at].Name
}

// chainsOf resolves a chain name: an id belongs to one network, an alias means the chain on each network of the addresses. Accounts exist
// on both networks.
func (q *exportRequest) chainsOf(name string) (chains []export.ChainRef) {
	for _, n := range q.world.Networks {
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
			own := name == n.Rules.BlockchainID(kind).String() && kind != txs.PChain
			shared := name == data.ChainNames[kind] || kind == txs.PChain && name == ids.Empty.String()
			if own || shared && (len(q.scope.Owners) == 0 || len(q.scope.Owners[n.Name]) > 0) {
				chains = append(chains, export.ChainRef{Kind: export.Kind(kind.String()), Network: n.Name})
			}
		}
	}
	return chains
}

// checkOwners reports addresses of a network none of whose chains is included.
func (q *exportRequest) checkOwners(owners []schema.PrimaryAddress) {
	for i, owner := range owners {
		network := q.networkOf(owner)
		if !slices.ContainsFunc(q.scope.Chains, func(l export.ChainRef) bool { return l.Network == network }) {
			q.fail("options.addresses[%d] %q is on %s: expected a chain of %s in options.includeChains", i, q.body.Options.Addresses[i], network, network)
		}
	}
}

// checkChains reports chains that none of the addresses can use. Accounts use the C-Chain of either network, even if the list names other
// chains too.
func (q *exportRequest) checkChains(named [][]export.ChainRef) {
	names, accounts := q.body.Options.IncludeChains, len(q.scope.Accounts) > 0
	if len(q.scope.Owners) == 0 {
		if slices.ContainsFunc(q.scope.Chains, func(l export.ChainRef) bool { return l.Kind == export.KindC }) {
			return
		}
		for i, name := range names {
			q.fail("options.includeChains[%d] %q does not apply to options.cChainEvmAddresses: expected c-chain too, or options.addresses", i, name)
		}
		return
	}
	for i, chains := range named {
		concerned := func(l export.ChainRef) bool {
			return len(q.scope.Owners[l.Network]) > 0 || accounts && l.Kind == export.KindC
		}
		if !slices.ContainsFunc(chains, concerned) {
			network := chains[0].Network
			q.fail("options.includeChains[%d] %q is on %s: expected an address of %s in options.addresses", i, names[i], network, network)
		}
	}
}
