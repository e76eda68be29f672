package export

import "snowglobe/sim/store"

// The kinds of reward outputs, by the live API's names.
const (
	RewardOfValidator = "VALIDATOR"
	RewardOfDelegator = "DELEGATOR"
	RewardOfFees      = "VALIDATOR_FEE" // the share of its delegators' rewards
)

// RewardKind says what the nth reward output of a staking transaction is for, counted from 0 after its outputs and its
// stake. avalanchego's rewardValidatorTx (vms/platformvm/txs/executor) pays a validator for validating first, if its uptime
// earned that, and then what its delegators owe it.
func RewardKind(s *store.Staker, n int) string {
	switch {
	case s.Delegator:
		return RewardOfDelegator
	case n == 0 && s.Rewarded && s.Reward > 0:
		return RewardOfValidator
	}
	return RewardOfFees
}
