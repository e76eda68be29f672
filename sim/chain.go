package sim

import (
	"slices"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/parse"
	"snowglobe/sim/store"
)

// ChainAt is the EVM chain to which a position in the file belongs, or nil.
func (w *World) ChainAt(at store.Position) *reader.Chain {
	return w.find(func(c *reader.Chain) bool { return c.Row.ID == at.Chain() })
}

// ChainByEVMID is the EVM chain with an EVM chain id, or nil.
func (w *World) ChainByEVMID(id uint64) *reader.Chain {
	return w.find(func(c *reader.Chain) bool { return c.Row.EVMID == id })
}

// ChainByBlockchainID is the EVM chain with a blockchain id, or nil.
func (w *World) ChainByBlockchainID(id ids.ID) *reader.Chain {
	return w.find(func(c *reader.Chain) bool { return ids.ID(c.Row.BlockchainID) == id })
}

// ChainNamed is the EVM chain with this EVM chain id (decimal) or blockchain id (cb58), or nil.
func (w *World) ChainNamed(name string) *reader.Chain {
	if number, err := strconv.ParseUint(name, 10, 64); err == nil {
		return w.ChainByEVMID(number)
	}
	id, err := parse.ID(name)
	if err != nil {
		return nil
	}
	return w.ChainByBlockchainID(id)
}

func (w *World) find(matches func(*reader.Chain) bool) *reader.Chain {
	if i := slices.IndexFunc(w.Chains, matches); i >= 0 {
		return w.Chains[i]
	}
	return nil
}

// NetworkNamed is mainnet or fuji, or nil.
func (w *World) NetworkNamed(name string) *Network {
	if i := slices.IndexFunc(w.Networks, func(n *Network) bool { return n.Name == name }); i >= 0 {
		return w.Networks[i]
	}
	return nil
}

// NetworkOf is the network to which an EVM chain belongs.
func (w *World) NetworkOf(c *reader.Chain) *Network { return w.NetworkNamed(c.Row.Network) }

// CChain is the network's C-Chain.
func (n *Network) CChain() *reader.Chain { return n.World.ChainByBlockchainID(n.Rules.CChainID) }
