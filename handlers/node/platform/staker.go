package platform

import (
	"context"
	"math"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Stakers are those of a subnet who pass, of some nodes or of all when there are none, in the order in which they end.
func (s State) Stakers(ctx context.Context, subnet ids.ID, nodes []ids.NodeID, passes func(*store.Staker) bool) ([]store.Staker, error) {
	var rows []store.Staker
	var err error
	if len(nodes) == 0 {
		rows, err = s.Network.DB.StakersOfSubnet(ctx, s.storeChain(), subnet[:])
	}
	for _, node := range nodeSet(nodes) {
		var more []store.Staker
		if more, err = s.Network.DB.StakersOfNode(ctx, s.storeChain(), node[:]); err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	rows = slices.DeleteFunc(rows, func(s store.Staker) bool { return ids.ID(s.Subnet) != subnet || !passes(&s) })
	slices.SortStableFunc(rows, compareEnds)
	return rows, err
}

// nodeSet drops what is asked for twice.
func nodeSet(nodes []ids.NodeID) []ids.NodeID {
	var set []ids.NodeID
	for _, node := range nodes {
		if !slices.Contains(set, node) {
			set = append(set, node)
		}
	}
	return set
}

// compareEnds orders stakers as they leave: by end, delegators before validators, then by transaction. So does avalanchego's
// state.Staker.Less.
func compareEnds(a, b store.Staker) int {
	switch {
	case a.End != b.End:
		return int(a.End - b.End)
	case a.Delegator == b.Delegator:
		return ids.ID(a.Tx).Compare(ids.ID(b.Tx))
	case a.Delegator:
		return -1
	}
	return 1
}

// Current tells whether a staker counts.
func (s State) Current(staker *store.Staker) bool {
	return s.Network.StatusAt(staker) == store.StakerActive
}

// pending tells whether a staker waits to begin.
func (s State) pending(staker *store.Staker) bool {
	return s.Network.StatusAt(staker) == store.StakerPending
}

// locked tells whether a stake began and was not returned: that takes a block, which may come after the stake's end.
func (s State) locked(staker *store.Staker) bool {
	return staker.Ended == nil && !s.pending(staker)
}

// stakedBy are the outputs that the stakers lock whose transactions touched some addresses: current stakers first, then
// pending ones.
func (s State) stakedBy(ctx context.Context, owners []ids.ShortID, validatorsOnly bool) ([]*txs.TransferableOutput, error) {
	touched, err := s.touched(ctx, owners)
	if err != nil {
		return nil, err
	}
	var outs []*txs.TransferableOutput
	for _, passes := range []func(*store.Staker) bool{s.locked, s.pending} {
		stakers, err := s.Stakers(ctx, ids.Empty, nil, passes)
		if err != nil {
			return nil, err
		}
		for _, staker := range stakers {
			if !touched[staker.ID] || validatorsOnly && staker.Delegator {
				continue
			}
			stake, err := s.stake(ctx, staker.ID)
			if err != nil {
				return nil, err
			}
			outs = append(outs, stake...)
		}
	}
	return outs, nil
}

func (s State) touched(ctx context.Context, owners []ids.ShortID) (map[store.Position]bool, error) {
	touched := map[store.Position]bool{}
	chain := s.storeChain()
	for _, owner := range owners {
		transactions, err := s.Network.DB.ActivityOf(ctx, chain, owner[:], store.Last(chain), math.MaxInt64)
		if err != nil {
			return nil, err
		}
		for _, tx := range transactions {
			touched[tx] = true
		}
	}
	return touched, nil
}

// stake is what a staking transaction locks.
func (s State) stake(ctx context.Context, at store.Position) ([]*txs.TransferableOutput, error) {
	row, err := s.Network.DB.PrimaryTx(ctx, at)
	if err != nil {
		return nil, err
	}
	tx, err := txs.ParseTx(txs.PChain, row.Bytes)
	if err != nil {
		return nil, err
	}
	staker, err := pchain.NewStaker(tx, pchain.Active)
	if err != nil {
		return nil, err
	}
	return staker.Stake(), nil
}
