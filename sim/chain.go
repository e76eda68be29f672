package sim

import (
	"slices"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/sim/evm"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/parse"
	"snowglobe/sim/store"
)

// Members finds the chains and networks of a world by their names.
type Members struct {
	Chains   []*reader.Chain
	Networks []*Network     // mainnet, fuji
	Miners   []*miner.Miner // in the order of Chains
}

// ChainAt returns the EVM chain of a position in the file, or nil.
func (m *Members) ChainAt(at store.Position) *reader.Chain {
	return m.find(func(c *reader.Chain) bool { return c.Row.ID == at.Chain() })
}

// ChainByEVMID returns the EVM chain with an EVM chain id, or nil.
func (m *Members) ChainByEVMID(id uint64) *reader.Chain {
	return m.find(func(c *reader.Chain) bool { return c.Row.EVMID == id })
}

// ChainByBlockchainID returns the EVM chain with a blockchain id, or nil.
func (m *Members) ChainByBlockchainID(id ids.ID) *reader.Chain {
	return m.find(func(c *reader.Chain) bool { return ids.ID(c.Row.BlockchainID) == id })
}

// ChainNamed returns the EVM chain with an EVM chain id (decimal) or a blockchain id (cb58), or nil.
func (m *Members) ChainNamed(name string) *reader.Chain {
	if number, err := strconv.ParseUint(name, 10, 64); err == nil {
		return m.ChainByEVMID(number)
	}
	id, err := parse.ID(name)
	if err != nil {
		return nil
	}
	return m.ChainByBlockchainID(id)
}

func (m *Members) find(matches func(*reader.Chain) bool) *reader.Chain {
	if i := slices.IndexFunc(m.Chains, matches); i >= 0 {
		return m.Chains[i]
	}
	return nil
}

// NetworkNamed returns mainnet or fuji by name, or nil.
func (m *Members) NetworkNamed(name string) *Network {
	if i := slices.IndexFunc(m.Networks, func(n *Network) bool { return n.Name == name }); i >= 0 {
		return m.Networks[i]
	}
	return nil
}

// NetworkOf returns the network of an EVM chain.
func (m *Members) NetworkOf(c *reader.Chain) *Network { return m.NetworkNamed(c.Row.Network) }

// MinerOf returns the miner of one of the world's EVM chains, or nil.
func (m *Members) MinerOf(c *reader.Chain) *miner.Miner {
	if i := slices.IndexFunc(m.Miners, func(of *miner.Miner) bool { return of.Chain == c }); i >= 0 {
		return m.Miners[i]
	}
	return nil
}

// Alias resolves a name given by admin.aliasChain to a blockchain id, on one network or, if network is empty, on any. Built-in and unknown
// names are returned unchanged, so that they mean the same on both networks.
func (m *Members) Alias(network, name string) string {
	if m.ChainNamed(name) != nil {
		return name
	}
	given := name
	for _, n := range m.Networks {
		id, known := n.Aliases.Lookup(name)
		switch _, later := n.Aliases.Given(name); {
		case known && !later:
			return name
		case known && given == name && (network == "" || network == n.Name):
			given = id.String()
		}
	}
	return given
}

// CChain returns the network's C-Chain.
func (n *Network) CChain() *reader.Chain { return n.World.ChainByBlockchainID(n.Rules.CChainID) }

// ChainName returns the name of a network's chain C, P or X for people: the letter on mainnet, and fuji/ with the letter on fuji.
func ChainName(network, letter string) string {
	if network == fixtures.Networks[0].Name {
		return letter
	}
	return network + "/" + letter
}

// NameOf returns the name of an EVM chain for people; an L1's is its EVM chain id.
func NameOf(c *reader.Chain) string {
	if c.Kind == evm.KindC {
		return ChainName(c.Row.Network, "C")
	}
	return strconv.FormatUint(c.Row.EVMID, 10)
}
