package data

import (
	"cmp"
	"slices"

	"snowglobe/sim/store"
)

// The kinds of outputs that the end of a stake pays beside the stake.
const (
	rewardOfValidator = "VALIDATOR"
	rewardOfDelegator = "DELEGATOR"
	feeOfValidator    = "VALIDATOR_FEE" // the validator's share of its delegators' rewards
)

// rewardKind says what the n-th reward of a staker with a status is for: of a validator the reward for validating comes
// first, if there is one, then its share of the delegators' rewards. avalanchego's proposalTxExecutor.rewardValidatorTx
// makes the outputs in this order. Until a stake is completed nobody knows whether it is rewarded:
// it counts as if it were.
func rewardKind(s *store.Staker, status, n int) string {
	switch {
	case s.Delegator:
		return rewardOfDelegator
	case n == 0 && s.Reward > 0 && (s.Rewarded || status != store.StakerCompleted):
		return rewardOfValidator
	}
	return feeOfValidator
}

// rewardEntry is one of the rewards of a staker; a validator has two.
type rewardEntry struct {
	staker *store.Staker
	status int
	kind   string
	part   int // among the outputs that the staker is paid
	owner  []byte
	amount uint64
}

// rewardCursor numbers rewards: a staker's first comes before its second when the newest come first.
func rewardCursor(e *rewardEntry) uint64 { return cursorOfTx(e.staker.ID)<<1 | uint64(1-e.part) }

// rewardEntries are the rewards of a network's stakers, newest first: what is still to expect, and what was paid.
func (x *stakerIndex) rewardEntries() []*rewardEntry {
	var all []*rewardEntry
	add := func(s *store.Staker, status, part int, owner []byte, amount uint64) {
		if amount > 0 {
			all = append(all, &rewardEntry{s, status, rewardKind(s, status, part), part, owner, amount})
		}
	}
	for _, v := range x.validators {
		if !onPrimaryNetwork(v.Subnet) || v.status == store.StakerCompleted && v.RewardTx == nil {
			continue
		}
		part := 0
		if rewardKind(&v.Staker, v.status, part) == rewardOfValidator {
			add(&v.Staker, v.status, part, v.Owner, uint64(v.Reward))
			part++
		}
		fees := uint64(v.Delegatee)
		if v.status == store.StakerActive {
			fees += v.fees
		}
		add(&v.Staker, v.status, part, v.FeeOwner, fees)
	}
	for _, d := range x.delegators {
		if d.status != store.StakerCompleted || d.Rewarded {
			add(&d.Staker, d.status, 0, d.Owner, d.netReward())
		}
	}
	slices.SortFunc(all, func(a, b *rewardEntry) int { return cmp.Compare(rewardCursor(b), rewardCursor(a)) })
	return all
}

// paid is what stakers were rewarded.
func (x *stakerIndex) paid() (sum uint64) {
	for _, e := range x.rewards.items {
		if e.status == store.StakerCompleted {
			sum += e.amount
		}
	}
	return sum
}
