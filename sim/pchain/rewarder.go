package pchain

import (
	"math/big"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// rewarder decides about a staker whose staking period is over, as avalanchego's executor of proposal transactions does for a RewardValidatorTx
// or a RewardAutoRenewedValidatorTx.
type rewarder struct {
	*State
	staker *Staker
	tx     *txs.Tx // of which the rewards are outputs: the staker's, or the one that rewards an auto-renewed validator
	index  int     // of the next reward
}

// reward returns the stake to its owners, and pays the reward or takes it out of the supply again. A validator that renews itself and earned
// its reward begins its next cycle instead.
func (r *rewarder) reward(commit bool) {
	if commit && r.staker.Renewal != nil && r.staker.Renewal.NextPeriod > 0 {
		r.renew()
		return
	}
	returned := r.unstake()
	if r.staker.Renewal == nil {
		r.index = returned
	}
	if !commit {
		utxo.Set(r.journal, &r.supply, r.supply-r.staker.PotentialReward)
	}
	_, owners := StakeOf(r.staker.Tx.Unsigned)
	if r.staker.Delegator {
		r.rewardDelegator(commit, owners[0])
	} else {
		r.rewardValidator(commit, owners)
	}
	r.deleteStaker(r.staker, Completed, commit)
}

// unstake returns the stake to its owners, and the index of the output after it.
func (r *rewarder) unstake() int {
	index := len(r.staker.Tx.Unsigned.Base().Outs)
	for _, out := range r.staker.Stake() {
		r.AddUTXO(r.staker.Tx.NewUTXO(index, out.AssetID, out.Out))
		index++
	}
	return index
}

// rewardDelegator pays a delegator its share; its validator's fee waits until the validator itself ends.
func (r *rewarder) rewardDelegator(commit bool, owner *txs.OutputOwners) {
	if !commit {
		return
	}
	validator, found := r.current.validators[r.staker.key()]
	if !found {
		return
	}
	fee, rest := rules.SplitReward(r.staker.PotentialReward, validator.Shares)
	r.pay(rest, owner)
	if fee > 0 {
		credited := *validator
		credited.DelegateeReward += fee
		r.updateStaker(validator, &credited)
	}
}

// rewardValidator pays a validator's reward, and in any case its fees from delegators' rewards and what it restaked in earlier cycles.
func (r *rewarder) rewardValidator(commit bool, owners []*txs.OutputOwners) {
	var validation uint64
	fees := r.staker.DelegateeReward
	if commit {
		validation = r.staker.PotentialReward
	}
	if renewal := r.staker.Renewal; renewal != nil {
		validation += renewal.AccruedValidationRewards
		fees += renewal.AccruedDelegateeRewards
	}
	r.pay(validation, owners[0])
	r.pay(fees, owners[1])
}

// renew pays the part of a cycle's rewards that is not restaked, and begins the next cycle with the rest. What would exceed the greatest stake
// is paid, too. Source: avalanchego's proposalTxExecutor.restakeAutoRenewedValidatorOnCommit.
func (r *rewarder) renew() {
	ended := r.staker
	validation, _ := rules.SplitReward(ended.PotentialReward, ended.Renewal.AutoCompoundRewardShares)
	fees, _ := rules.SplitReward(ended.DelegateeReward, ended.Renewal.AutoCompoundRewardShares)
	room := r.Network.StakingAt(ended.End).MaxValidatorStake - ended.Weight
	if both := validation + fees; both > room {
		part := new(big.Int).SetUint64(validation)
		part.Mul(part, new(big.Int).SetUint64(room)).Div(part, new(big.Int).SetUint64(both))
		validation = part.Uint64()
		fees = room - validation
	}
	_, owners := StakeOf(ended.Tx.Unsigned)
	r.pay(ended.PotentialReward-validation, owners[0])
	r.pay(ended.DelegateeReward-fees, owners[1])
	r.deleteStaker(ended, Completed, true)

	next, renewal := *ended, *ended.Renewal
	renewal.AccruedValidationRewards += validation
	renewal.AccruedDelegateeRewards += fees
	next.Renewal, next.DelegateeReward = &renewal, 0
	next.Weight += validation + fees
	next.Start, next.End = ended.End, ended.End+renewal.NextPeriod
	r.addStaker(&next)
}

func (r *rewarder) pay(amount uint64, owner *txs.OutputOwners) {
	if amount == 0 {
		return
	}
	u := r.tx.NewUTXO(r.index, r.Network.AVAXAssetID, &txs.TransferOutput{Amount: amount, OutputOwners: *owner})
	r.AddUTXO(u)
	r.diff.Rewards = append(r.diff.Rewards, u)
	r.index++
}
