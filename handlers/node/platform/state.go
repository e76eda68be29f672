package platform

import (
	"context"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// State reads what a network's P-Chain knows after its last block and by the world's clock.
type State struct{ Network *sim.Network }

func (s State) storeChain() int { return s.Network.Chain(txs.PChain) }

// Head is the last block, with what the chain knows after it.
func (s State) Head(ctx context.Context) (*store.PrimaryBlock, error) {
	return s.Network.DB.PrimaryHead(ctx, s.storeChain())
}

// Blockchain finds a chain that the P-Chain made; without one it is store.ErrNotFound.
func (s State) Blockchain(ctx context.Context, id ids.ID) (*store.Blockchain, error) {
	row, err := s.Network.DB.Blockchain(ctx, id[:])
	if err == nil && row.ID.Chain() != s.storeChain() {
		return nil, store.ErrNotFound
	}
	return row, err
}

// Subnets are the ids of all subnets, the primary network first.
func (s State) Subnets(ctx context.Context) ([]ids.ID, error) {
	rows, err := s.Network.DB.Subnets(ctx, s.storeChain())
	subnets := []ids.ID{ids.Empty}
	for i := range rows {
		subnets = append(subnets, ids.ID(rows[i].Hash))
	}
	return subnets, err
}

// Nodes are the machines behind the validators.
func (s State) Nodes(ctx context.Context) (map[ids.NodeID]store.Node, error) {
	rows, err := s.Network.DB.Nodes(ctx, s.Network.Rules.NetworkID)
	nodes := make(map[ids.NodeID]store.Node, len(rows))
	for _, row := range rows {
		nodes[ids.NodeID(row.Node)] = row
	}
	return nodes, err
}

// Balance is what an L1 validator has left for the continuous fee of ACP-77 by the world's clock, given the last block.
func (s State) Balance(v *store.L1ValidatorView, head *store.PrimaryBlock) jsonrpc.Uint64 {
	return jsonrpc.Uint64(v.Balance(s.Network.Accrued(head)))
}

// ValidatorsAt is who validates a subnet at a height, by node.
func (s State) ValidatorsAt(ctx context.Context, subnet ids.ID, height uint64) (ValidatorsAtReply, error) {
	return membersOf(s.Network.ValidatorsAt(ctx, subnet, height))
}

// ValidatorsNow is who validates a subnet by the world's clock, by node.
func (s State) ValidatorsNow(ctx context.Context, subnet ids.ID) (ValidatorsAtReply, error) {
	return membersOf(s.Network.ValidatorsNow(ctx, subnet))
}
