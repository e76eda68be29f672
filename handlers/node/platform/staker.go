package platform

import (
	"context"
	"math"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// stakedBy returns the outputs locked by stakers whose transactions touched some addresses: current stakers first, then pending ones.
func (s State) stakedBy(ctx context.Context, owners []ids.ShortID, validatorsOnly bool) ([]*txs.TransferableOutput, error) {
	touched, err := s.touched(ctx, owners)
	if err != nil {
		return nil, err
	}
	index, err := s.Stakers(ctx)
	if err != nil {
		return nil, err
	}
	var outs []*txs.TransferableOutput
	locked, pending := index.Staked()
	for _, stakers := range [][]*store.Staker{locked, pending} {
		for _, staker := range stakers {
			at, err := s.Network.DB.StakingTx(ctx, staker)
			if err != nil {
				return nil, err
			}
			if !touched[at] || validatorsOnly && staker.Delegator {
				continue
			}
			stake, err := s.stake(ctx, at)
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
		transactions, err := s.Network.DB.ActivityOf(ctx, chain, owner[:], store.Last(chain), math.MaxInt)
		if err != nil {
			return nil, err
		}
		for _, tx := range transactions {
			touched[tx] = true
		}
	}
	return touched, nil
}

// stake returns the outputs that a staking transaction locks.
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
