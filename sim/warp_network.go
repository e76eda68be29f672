package sim

import (
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
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
	ctx := context.Background()
	e, err := n.EpochAt(ctx, time)
	if err != nil {
		return nil, err
	}
	return n.CanonicalSet(ctx, subnet, e.PHeight)
}

// EpochAt is the epoch (ACP-181) of a block of an EVM chain at a time: they are numbered from the network's Granite upgrade on.
func (n *Network) EpochAt(ctx context.Context, time uint64) (e txs.Epoch, err error) {
	e.Start = evm.EpochStart(time)
	after, err := n.DB.FirstPrimarySince(ctx, n.Chain(txs.PChain), int64(e.Start))
	if err != nil {
		return e, err
	}
	if after == 0 {
		return e, fmt.Errorf("P-Chain at %d: %w", time, store.ErrNotFound)
	}
	e.PHeight = after - 1
	if upgrades := fixtures.Networks[n.index].Upgrades; time >= uint64(upgrades.Granite) {
		e.Number = evm.EpochsBetween(uint64(upgrades.Granite), time) + 1
	}
	return e, nil
}

// Simulates tells whether a blockchain is one of the world's EVM chains.
func (n warpNetwork) Simulates(blockchain ids.ID) bool {
	return n.World.ChainByBlockchainID(blockchain) != nil
}
