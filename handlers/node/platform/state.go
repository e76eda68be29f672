package platform

import (
	"context"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// State reads the state of a network's P-Chain after its last block and by the world's clock.
type State struct {
	Network *sim.Network
	indexes *query.StakerIndexes
}

// NewState reads a network's P-Chain, and its stakers from an index that others may share.
func NewState(network *sim.Network, indexes *query.StakerIndexes) State {
	return State{network, indexes}
}

// Stakers returns the stakers and L1 validators by the world's clock.
func (s State) Stakers(ctx context.Context) (*query.StakerIndex, error) {
	return s.indexes.Of(ctx, s.Network)
}

func (s State) storeChain() int { return s.Network.Chain(txs.PChain) }

// Head returns the last block with the chain's state after it.
func (s State) Head(ctx context.Context) (*store.PrimaryBlock, error) {
	return s.Network.DB.PrimaryHead(ctx, s.storeChain())
}

// Blockchain finds a chain that the P-Chain created; the error is store.ErrNotFound if there is none.
func (s State) Blockchain(ctx context.Context, id ids.ID) (*store.Blockchain, error) {
	row, err := s.Network.DB.Blockchain(ctx, id[:])
	if err == nil && row.ID.Chain() != s.storeChain() {
		return nil, store.ErrNotFound
	}
	return row, err
}

// errNotSubnet is the node's error for the id of another transaction.
var errNotSubnet = errors.New("is not a subnet")

// Subnet finds a subnet, with the errors of avalanchego's state.State.GetSubnetOwner.
func (s State) Subnet(ctx context.Context, id ids.ID) (*store.SubnetView, error) {
	row, err := s.Network.DB.Subnet(ctx, s.storeChain(), id[:])
	if s.otherTx(ctx, id, err) {
		return nil, fmt.Errorf("%q %w", id, errNotSubnet)
	}
	return row, err
}

// otherTx reports whether something was not found because its id is that of a P-Chain transaction of another type.
func (s State) otherTx(ctx context.Context, id ids.ID, err error) bool {
	if !errors.Is(err, store.ErrNotFound) {
		return false
	}
	_, err = s.Network.DB.PrimaryTxByHash(ctx, s.storeChain(), id[:])
	return err == nil
}

// Subnets returns the ids of all subnets, the primary network first.
func (s State) Subnets(ctx context.Context) ([]ids.ID, error) {
	rows, err := s.Network.DB.Subnets(ctx, s.storeChain())
	subnets := []ids.ID{ids.Empty}
	for i := range rows {
		subnets = append(subnets, ids.ID(rows[i].Hash))
	}
	return subnets, err
}

// ValidatorsAt returns a subnet's validators at a height, by node.
func (s State) ValidatorsAt(ctx context.Context, subnet ids.ID, height uint64) (ValidatorsAtReply, error) {
	return membersOf(s.Network.ValidatorsAt(ctx, subnet, height))
}

// ValidatorsNow returns a subnet's validators by the world's clock, by node.
func (s State) ValidatorsNow(ctx context.Context, subnet ids.ID) (ValidatorsAtReply, error) {
	index, err := s.Stakers(ctx)
	if err != nil {
		return nil, err
	}
	return membersOf(index.ValidatorSet(subnet), nil)
}
