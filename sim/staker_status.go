package sim

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// StatusAt is a staker's status at the world's clock, which may be ahead of the last block: a staker begins and ends by
// time, before the block that records it.
func (n *Network) StatusAt(s *store.Staker) int {
	now := n.Clock.Unix()
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

// PotentialReward is what a staker earns if its uptime suffices. The P-Chain fixes it in the block in which the staker
// begins; before, it is what the staker would earn if it began now, at the supply of the last block.
func (n *Network) PotentialReward(s *store.Staker, head *store.PrimaryBlock) store.Amount {
	if s.Status != store.StakerPending || ids.ID(s.Subnet) != ids.Empty {
		return s.PotentialReward
	}
	return store.Amount(n.Rules.Staking.Reward(uint64(s.End-s.Start), uint64(s.Weight), uint64(head.Supply)))
}

// Accrued is the accrued fee of ACP-77 at the world's clock, in nAVAX, given the last block of the P-Chain: what an L1
// validator that was always active would have paid.
func (n *Network) Accrued(head *store.PrimaryBlock) store.Amount {
	return n.AccruedAt(head, n.Clock.Unix())
}

// AccruedAt is the accrued fee at a time not before the given block of the P-Chain, while no other block comes.
func (n *Network) AccruedAt(head *store.PrimaryBlock, unix int64) store.Amount {
	return store.Amount(primary.ValidatorFeeStateOf(head).At(&n.Rules.ValidatorFees, uint64(unix)).Accrued)
}
