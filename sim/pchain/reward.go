package pchain

import (
	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// rewarder removes a staker whose staking period is over, as avalanchego's executor of proposal transactions does for a RewardValidatorTx.
type rewarder struct {
	*State
	staker *Staker
	index  int // of the next output of the staker's transaction
}

// end returns the stake to its owners, and pays the reward or takes it out of the supply again.
func (r *rewarder) end(commit bool) {
	stake, owners := stakeOf(r.staker.Tx.Unsigned)
	for _, out := range stake {
		r.AddUTXO(r.staker.Tx.NewUTXO(r.index, out.AssetID, out.Out))
		r.index++
	}
	if !commit {
		utxo.Set(r.journal, &r.supply, r.supply-r.staker.PotentialReward)
	}
	if r.staker.Delegator {
		r.rewardDelegator(commit, owners[0])
	} else {
		r.rewardValidator(commit, owners)
	}
	r.deleteStaker(r.staker, Completed, commit)
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

// rewardValidator pays a validator's reward, and in any case its fees from delegators' rewards.
func (r *rewarder) rewardValidator(commit bool, owners []*txs.OutputOwners) {
	if commit {
		r.pay(r.staker.PotentialReward, owners[0])
	}
	r.pay(r.staker.DelegateeReward, owners[1])
}

// pay creates a reward as the next output of the staker's transaction.
func (r *rewarder) pay(amount uint64, owner *txs.OutputOwners) {
	if amount == 0 {
		return
	}
	u := r.staker.Tx.NewUTXO(r.index, r.Network.AVAXAssetID, &txs.TransferOutput{Amount: amount, OutputOwners: *owner})
	r.AddUTXO(u)
	r.diff.Rewards = append(r.diff.Rewards, u)
	r.index++
}
