package query

import (
	"cmp"
	"slices"

	"snowglobe/sim/store"
)

// The kinds of outputs that the end of a stake pays beside the stake, by the live API's names.
const (
	rewardOfValidator = "VALIDATOR"
	rewardOfDelegator = "DELEGATOR"
	feeOfValidator    = "VALIDATOR_FEE" // the validator's share of its delegators' rewards
)

// RewardKind says what the n-th reward of a staker with a status is for: of a validator the reward for validating comes
// first, if there is one, then its share of the delegators' rewards. avalanchego's proposalTxExecutor.rewardValidatorTx
// makes the outputs in this order. Until a stake is completed nobody knows whether it is rewarded:
// it counts as if it were.
func RewardKind(s *store.Staker, status, n int) string {
	switch {
	case s.Delegator:
		return rewardOfDelegator
	case n == 0 && s.PotentialReward > 0 && (s.Rewarded || status != store.StakerCompleted):
		return rewardOfValidator
	}
	return feeOfValidator
}

// RewardEntry is one of the rewards of a staker; a validator has two.
type RewardEntry struct {
	Staker *store.Staker
	Status int
	Kind   string
	Part   int // among the outputs that the staker is paid
	Owner  []byte
	Amount uint64
}

// rewardCursor numbers rewards: a staker's first comes before its second when the newest come first.
func rewardCursor(e *RewardEntry) uint64 { return CursorOfTx(e.Staker.ID)<<1 | uint64(1-e.Part) }

// rewardEntries are the rewards of a network's stakers, newest first: what is still to expect, and what was paid.
func (x *StakerIndex) rewardEntries() []*RewardEntry {
	var all []*RewardEntry
	add := func(s *store.Staker, status, part int, owner []byte, amount uint64) {
		if amount > 0 {
			all = append(all, &RewardEntry{s, status, RewardKind(s, status, part), part, owner, amount})
		}
	}
	for _, v := range x.Validators {
		if !OnPrimaryNetwork(v.Subnet) || v.StatusNow == store.StakerCompleted && v.RewardTx == nil {
			continue
		}
		part := 0
		if RewardKind(&v.Staker, v.StatusNow, part) == rewardOfValidator {
			add(&v.Staker, v.StatusNow, part, v.Owner, uint64(v.PotentialReward))
			part++
		}
		fees := uint64(v.DelegateeReward)
		if v.StatusNow == store.StakerActive {
			fees += v.Fees
		}
		add(&v.Staker, v.StatusNow, part, v.FeeOwner, fees)
	}
	for _, d := range x.Delegators {
		if d.StatusNow != store.StakerCompleted || d.Rewarded {
			add(&d.Staker, d.StatusNow, 0, d.Owner, d.NetReward())
		}
	}
	slices.SortFunc(all, func(a, b *RewardEntry) int { return cmp.Compare(rewardCursor(b), rewardCursor(a)) })
	return all
}

// Paid is what stakers were rewarded.
func (x *StakerIndex) Paid() (sum uint64) {
	for _, e := range x.Rewards.items {
		if e.Status == store.StakerCompleted {
			sum += e.Amount
		}
	}
	return sum
}
