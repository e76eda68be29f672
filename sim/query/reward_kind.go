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

// RewardEntry is a reward that somebody was paid or can expect of a stake.
type RewardEntry struct {
	Staker *store.Staker // whose stake it is
	Status int
	Kind   string
	Part   int // among those of the stake; of paid ones, among the outputs
	Owner  []byte
	Amount uint64
}

// rewardCursor numbers rewards: a stake's first comes before its second when the newest come first.
func rewardCursor(e *RewardEntry) uint64 { return CursorOfTx(e.Staker.ID)<<1 | uint64(1-e.Part) }

// rewardEntries are the rewards of a network's stakers, newest first: what is still to expect, and what was paid. A
// delegation pays its validator's fee with the validator's reward, in one output; until then each is a reward of its own.
func (x *StakerIndex) rewardEntries() []*RewardEntry {
	var all []*RewardEntry
	add := func(e RewardEntry) {
		if e.Amount > 0 {
			all = append(all, &e)
		}
	}
	for _, v := range x.Validators {
		if !OnPrimaryNetwork(v.Subnet) || v.StatusNow == store.StakerCompleted && v.RewardTx == nil {
			continue
		}
		part := 0
		if RewardKind(&v.Staker, v.StatusNow, part) == rewardOfValidator {
			add(RewardEntry{&v.Staker, v.StatusNow, rewardOfValidator, part, v.Owner, uint64(v.PotentialReward)})
			part++
		}
		if v.StatusNow == store.StakerCompleted {
			add(RewardEntry{&v.Staker, v.StatusNow, feeOfValidator, part, v.FeeOwner, uint64(v.DelegateeReward)})
		}
	}
	for _, d := range x.Delegators {
		if d.StatusNow != store.StakerCompleted || d.Rewarded {
			add(RewardEntry{&d.Staker, d.StatusNow, rewardOfDelegator, 0, d.Owner, d.NetReward()})
		}
		if d.StatusNow == store.StakerActive && d.Validator != nil {
			add(RewardEntry{&d.Staker, d.StatusNow, feeOfValidator, 1, d.Validator.FeeOwner, uint64(d.PotentialReward) - d.NetReward()})
		}
	}
	slices.SortFunc(all, func(a, b *RewardEntry) int { return cmp.Compare(rewardCursor(b), rewardCursor(a)) })
	return all
}

// Paid is what stakers were rewarded.
func (x *StakerIndex) Paid() (sum uint64) {
	for _, e := range x.Rewards().items {
		if e.Status == store.StakerCompleted {
			sum += e.Amount
		}
	}
	return sum
}
