package query

import (
	"cmp"
	"context"
	"slices"

	"snowglobe/sim/store"
)

// Kinds of reward outputs at the end of a stake, named as in the live API.
const (
	rewardOfValidator = "VALIDATOR"
	rewardOfDelegator = "DELEGATOR"
	feeOfValidator    = "VALIDATOR_FEE" // the validator's share of its delegators' rewards
)

// RewardKind returns the purpose of the n-th reward of a staker with a status. A validator gets the reward for validating first, if there
// is one, then its share of its delegators' rewards, in the order of avalanchego's proposalTxExecutor.rewardValidatorTx. An uncompleted
// stake counts as rewarded, since nobody knows yet.
func RewardKind(s *store.Staker, status, n int) string {
	switch {
	case s.Delegator:
		return rewardOfDelegator
	case n == 0 && s.PotentialReward > 0 && (s.Rewarded || status != store.StakerCompleted):
		return rewardOfValidator
	}
	return feeOfValidator
}

// RewardEntry is a paid or expected reward of a stake.
type RewardEntry struct {
	Staker *store.Staker // the staker
	Status int
	Kind   string
	Part   int // index within the stake, or among the outputs once paid
	Owner  []byte
	Amount uint64
}

// PaidKind returns the purpose of the n-th output that paid a reward at the end of a stake or cycle.
func PaidKind(ctx context.Context, db *store.DB, s *store.Staker, n int) (string, error) {
	if !s.AutoRenewed() {
		return RewardKind(s, store.StakerCompleted, n), nil
	}
	cycles, err := db.CyclesOfTx(ctx, s.Tx)
	if err != nil {
		return "", err
	}
	var next *store.Staker
	if i := slices.IndexFunc(cycles, func(c store.Staker) bool { return c.ID == s.ID }); i >= 0 && i+1 < len(cycles) {
		next = &cycles[i+1]
	}
	if paid := paidOfCycle(s, next); n < len(paid) {
		return paid[n].Kind, nil
	}
	return "", store.ErrNotFound
}

// paidOfCycle returns what the end of a cycle of an auto-renewed validator paid, in the order of the outputs: what the next cycle does not
// restake, or if there is none everything, with what earlier cycles restaked.
func paidOfCycle(s, next *store.Staker) []RewardEntry {
	validation, fees := uint64(0), uint64(s.DelegateeReward)
	if s.Rewarded {
		validation = uint64(s.PotentialReward)
	}
	validation += uint64(s.AccruedValidationRewards)
	fees += uint64(s.AccruedDelegateeRewards)
	if next != nil {
		validation -= uint64(next.AccruedValidationRewards)
		fees -= uint64(next.AccruedDelegateeRewards)
	}
	var paid []RewardEntry
	for _, e := range []RewardEntry{
		{s, store.StakerCompleted, rewardOfValidator, 0, s.Owner, validation},
		{s, store.StakerCompleted, feeOfValidator, 0, s.FeeOwner, fees},
	} {
		if e.Amount > 0 {
			e.Part = len(paid)
			paid = append(paid, e)
		}
	}
	return paid
}

// rewardCursor numbers rewards: when the newest come first, a stake's first reward still precedes its second.
func rewardCursor(e *RewardEntry) uint64 { return CursorOfTx(e.Staker.ID)<<1 | uint64(1-e.Part) }

// rewardEntries returns the rewards of a network's stakers, newest first, expected and paid. Once a validator
// completes, one output pays it the fees of all its delegations; until then each delegation's fee is a reward of its own.
func (x *StakerIndex) rewardEntries() []*RewardEntry {
	var all []*RewardEntry
	add := func(e RewardEntry) {
		if e.Amount > 0 {
			all = append(all, &e)
		}
	}
	next := map[string]*store.Staker{} // cycle of an auto-renewed validator, by transaction
	for _, v := range slices.Backward(x.Validators) {
		following := next[string(v.Tx)]
		if v.AutoRenewed() {
			next[string(v.Tx)] = &v.Staker
		}
		switch ended := v.StatusNow == store.StakerCompleted; {
		case !OnPrimaryNetwork(v.Subnet), ended && v.RewardTx == nil:
			continue
		case ended && v.AutoRenewed():
			for _, e := range paidOfCycle(&v.Staker, following) {
				add(e)
			}
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

// Granted returns the sum of rewards that stakers earned: what outputs paid, and what validators that renew themselves restaked.
func (x *StakerIndex) Granted() (sum uint64) {
	for _, e := range x.Rewards().items {
		if e.Status == store.StakerCompleted {
			sum += e.Amount
		}
	}
	for _, v := range x.Validators {
		if v.RewardTx == nil { // not a cycle that another one follows
			sum += uint64(v.AccruedValidationRewards + v.AccruedDelegateeRewards)
		}
	}
	return sum
}
