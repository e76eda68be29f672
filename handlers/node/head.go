package node

import (
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
)

// Head is how far a chain has come.
type Head struct {
	Network string
	Chain   string // P, X, C or a blockchain id
	Height  uint64
}

// Heads tells how far every chain of a network has come.
func (n *Node) Heads(ctx context.Context, network string) ([]Head, error) {
	var all []Head
	for _, l := range n.options.Ledgers {
		if l.Network != network {
			continue
		}
		for _, chain := range []primary.Chain{primary.PChain, primary.XChain} {
			head, err := l.DB.PrimaryHead(ctx, l.Chain(chain))
			if err != nil {
				return nil, fmt.Errorf("%s-chain: %w", chain, err)
			}
			all = append(all, Head{network, chain.String(), head.ID.Number()})
		}
	}
	for _, c := range n.options.Chains {
		if c.Row.Network != network {
			continue
		}
		head, err := c.Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("chain %s: %w", c.Row.Name, err)
		}
		all = append(all, Head{network, chainName(c), head.Number})
	}
	return all, nil
}

// chainName is how the node calls an EVM chain: C, or the blockchain id of an L1.
func chainName(c *evm.Chain) string {
	if c.Kind == evm.KindC {
		return "C"
	}
	return ids.ID(c.Row.BlockchainID).String()
}
