package sim

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/network"
	"snowglobe/sim/store"
)

// Standing is a staker's status by the world's clock, which may be ahead of the last block: time alone lets a staker
// begin and end, and the block that says so may not be there yet.
func (l *Ledger) Standing(s *store.Staker) int {
	now := l.Clock.Unix()
	switch {
	case s.Status == store.StakerRemoved || s.Status == store.StakerCompleted:
		return s.Status
	case s.End <= now:
		return store.StakerCompleted
	case s.Start <= now:
		return store.StakerActive
	}
	return s.Status
}

// PotentialReward is what a staker earns if all goes well. The chain decides it in the block that lets the staker begin;
// before that block it is what the staker would earn if it began now, at the supply of the last block.
func (l *Ledger) PotentialReward(s *store.Staker, head *store.PrimaryBlock) store.Amount {
	if s.Status != store.StakerPending || ids.ID(s.Subnet) != ids.Empty {
		return s.Reward
	}
	return store.Amount(l.Rules.Staking.Reward(uint64(s.End-s.Start), uint64(s.Weight), uint64(head.Supply)))
}

// Accrued is what an L1 validator that was always active would have paid by the world's clock, in nAVAX, given the
// last block of the P-chain.
func (l *Ledger) Accrued(head *store.PrimaryBlock) store.Amount {
	return store.Amount(network.MeterOf(head).At(&l.Rules.ValidatorFees, uint64(l.Clock.Unix())).Accrued)
}
