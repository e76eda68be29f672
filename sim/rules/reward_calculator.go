package rules

import (
	"math/big"
	"math/bits"
)

// nanosecond scale: the network computes with durations in nanoseconds, and rounding depends on it.
const second = 1_000_000_000

// Reward returns the reward of a stake over a duration in seconds, if its uptime suffices, given the supply when it starts:
//
//	(cap - supply) * stake/supply * duration/mintingPeriod * rate
//
// where rate grows from the minimal to the maximal consumption rate with the share of the minting period staked. All in
// integers, divisions last and in the network's order, for each rounds down.
func (r *StakingRules) Reward(duration, stake, supply uint64) uint64 {
	period := product(r.MintingPeriod, second)
	staked := product(duration, second)

	rate := product(r.MaxConsumptionRate - r.MinConsumptionRate)
	rate.Mul(rate, staked)
	rate.Add(rate, new(big.Int).Mul(product(r.MinConsumptionRate), period))

	remaining := r.SupplyCap - supply
	reward := product(remaining, stake)
	reward.Mul(reward, rate)
	reward.Mul(reward, staked)
	reward.Div(reward, new(big.Int).Mul(period, product(PercentDenominator)))
	reward.Div(reward, product(supply))
	reward.Div(reward, period)
	if !reward.IsUint64() {
		return remaining
	}
	return min(remaining, reward.Uint64())
}

// product multiplies without overflow.
func product(factors ...uint64) *big.Int {
	p := big.NewInt(1)
	for _, f := range factors {
		p.Mul(p, new(big.Int).SetUint64(f))
	}
	return p
}

// SplitReward divides a delegator's reward into the validator's fee, in shares of a million, and the delegator's rest.
func SplitReward(reward uint64, shares uint32) (fee, rest uint64) {
	keep := PercentDenominator - uint64(shares)
	rest = keep * (reward / PercentDenominator)
	// Round before multiplying only for amounts that would overflow.
	if hi, lo := bits.Mul64(keep, reward); hi == 0 {
		rest = lo / PercentDenominator
	}
	return reward - rest, rest
}

// maxWeightFactor bounds delegation: own stake and delegations together may be at most five times the own stake (avalanchego's
// txs/executor.MaxValidatorWeightFactor).
const maxWeightFactor = 5

// MaxWeight returns the largest weight of a validator's own stake and its delegations together.
func (r *StakingRules) MaxWeight(ownStake uint64) uint64 {
	if hi, most := bits.Mul64(ownStake, maxWeightFactor); hi == 0 {
		return min(most, r.MaxValidatorStake)
	}
	return r.MaxValidatorStake
}
