package sim

import (
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// joinNetworks gives each EVM chain what its warp precompile needs to know of its network.
func (w *World) joinNetworks() {
	for _, c := range w.Chains {
		if n := w.NetworkOf(c); n != nil {
			c.WarpContext = evm.WarpContext{NetworkID: n.Rules.NetworkID, ChainID: ids.ID(c.Row.BlockchainID), SubnetID: ids.ID(c.Row.SubnetID), Network: warpNetwork{n}}
		}
	}
}

// warpNetwork is a network as the warp precompile of its EVM chains sees it. A block under way is not cut short, so its
// questions have no context that ends.
type warpNetwork struct{ *Network }

// SubnetOf is the subnet that validates a blockchain.
func (n warpNetwork) SubnetOf(blockchain ids.ID) (ids.ID, error) {
	return n.Network.SubnetOf(context.Background(), blockchain)
}

// WarpSet is the canonical set of a subnet after the last P-Chain block before a block's epoch.
func (n warpNetwork) WarpSet(subnet ids.ID, time uint64) (*warp.CanonicalValidatorSet, error) {
	ctx, chain := context.Background(), n.Chain(txs.PChain)
	after, err := n.DB.FirstPrimarySince(ctx, chain, int64(evm.EpochStart(time)))
	if err != nil {
		return nil, err
	}
	if after == 0 {
		return nil, fmt.Errorf("P-Chain at %d: %w", time, store.ErrNotFound)
	}
	return n.CanonicalSet(ctx, subnet, after-1)
}

// Simulates tells whether a blockchain is one of the world's EVM chains.
func (n warpNetwork) Simulates(blockchain ids.ID) bool {
	return n.World.ChainByBlockchainID(blockchain) != nil
}
