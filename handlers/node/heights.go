package node

import (
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/txs"
)

// ChainHeight is a chain's height.
type ChainHeight struct {
	Network string
	Chain   string // P, X, C or a blockchain id
	Height  uint64
}

// Heights returns the height of every chain of a network.
func (n *Node) Heights(ctx context.Context, network string) ([]ChainHeight, error) {
	var all []ChainHeight
	for _, l := range n.options.Networks {
		if l.Name != network {
			continue
		}
		for _, chain := range []txs.Chain{txs.PChain, txs.XChain} {
			head, err := l.DB.PrimaryHead(ctx, l.Chain(chain))
			if err != nil {
				return nil, fmt.Errorf("%s-chain: %w", chain, err)
			}
			all = append(all, ChainHeight{network, chain.String(), head.ID.Number()})
		}
	}
	for _, m := range n.options.Miners {
		c := m.Chain
		if c.Row.Network != network {
			continue
		}
		head, err := c.Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("chain %s: %w", c.Row.Name, err)
		}
		all = append(all, ChainHeight{network, heightName(c), head.Number})
	}
	return all, nil
}

// heightName returns the node's name for an EVM chain: C, or the blockchain id of an L1.
func heightName(c *reader.Chain) string {
	if c.Kind == evm.KindC {
		return "C"
	}
	return ids.ID(c.Row.BlockchainID).String()
}
