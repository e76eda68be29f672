package sim

import (
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// settle tells each EVM chain where it stands in its network.
func (w *World) settle() {
	for _, c := range w.Chains {
		for _, l := range w.Ledgers {
			if l.Network == c.Row.Network {
				c.Home = evm.Home{NetworkID: l.Rules.NetworkID, ChainID: ids.ID(c.Row.BlockchainID), SubnetID: ids.ID(c.Row.SubnetID), Network: neighbours{l}}
			}
		}
	}
}

// neighbours is a network as its EVM chains ask about it. What they ask for while they make a block is not to be cut short.
type neighbours struct{ *Ledger }

// SubnetOf is the subnet that validates a blockchain.
func (n neighbours) SubnetOf(blockchain ids.ID) (ids.ID, error) {
	return n.Ledger.SubnetOf(context.Background(), blockchain)
}

// WarpSet is the canonical set of a subnet after the last P-chain block before a block's epoch.
func (n neighbours) WarpSet(subnet ids.ID, time uint64) (*warp.CanonicalSet, error) {
	ctx, chain := context.Background(), n.Chain(primary.PChain)
	after, err := n.DB.FirstPrimarySince(ctx, chain, int64(evm.PView(time)))
	if err != nil {
		return nil, err
	}
	if after == 0 {
		return nil, fmt.Errorf("P-chain at %d: %w", time, store.ErrNotFound)
	}
	c, err := n.Committee(ctx, subnet, after-1)
	if err != nil {
		return nil, err
	}
	return c.CanonicalSet, nil
}

// Simulates tells whether a blockchain is one of the world's EVM chains.
func (n neighbours) Simulates(blockchain ids.ID) bool { return n.world.chainOf(blockchain) != nil }
