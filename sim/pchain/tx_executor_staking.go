package pchain

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Reasons for refusing a stake, in the node's words.
var (
	errWeightTooLarge = errors.New("weight of this validator is too large")
	errDelegationFee  = errors.New("staker charges an insufficient delegation fee")
	errStakeTooShort  = errors.New("staking period is too short")
	errStakeTooLong   = errors.New("staking period is too long")
	errStakedAsset    = errors.New("incorrect staked assetID")
	errDuplicate      = errors.New("duplicate validator")
	errNotValidator   = errors.New("isn't a current or pending validator")
	errPeriodMismatch = errors.New("proposed staking period is not inside dependent staking period")
	errOverDelegated  = errors.New("validator would be over delegated")
)

func (e *txExecutor) addPermissionlessValidatorTx(u *txs.AddPermissionlessValidatorTx) (*execution, error) {
	if u.SubnetID != ids.Empty { // only transformed subnets had such validators, and no subnet can be transformed any more
		return nil, utxo.ErrNotFound
	}
	if err := e.verifyValidatorStake(u.Validator.Weight, u.DelegationShares); err != nil {
		return nil, err
	}
	if err := e.verifyStaking(u.Validator.End, e.staking().MinValidationDuration, u.StakeOuts); err != nil {
		return nil, err
	}
	if _, found := e.Validator(ids.Empty, u.Validator.NodeID); found {
		return nil, fmt.Errorf("%w: %s on %s", errDuplicate, u.Validator.NodeID, ids.Empty)
	}
	return e.newStaker(u.StakeOuts)
}

func (e *txExecutor) verifyValidatorStake(weight uint64, shares uint32) error {
	networkRules := e.staking()
	switch {
	case weight < networkRules.MinValidatorStake:
		return e.weightError(errWeightTooSmall, weight, networkRules.MinValidatorStake, networkRules.MaxValidatorStake)
	case weight > networkRules.MaxValidatorStake:
		return e.weightError(errWeightTooLarge, weight, networkRules.MinValidatorStake, networkRules.MaxValidatorStake)
	case shares < networkRules.MinDelegationFee:
		return advised(errDelegationFee, "it charges %d millionths; on %s it takes at least %d", shares, e.Network.Name, networkRules.MinDelegationFee)
	}
	return nil
}

// staking returns the rules for stakes that start now.
func (e *txExecutor) staking() *rules.StakingRules { return e.Network.StakingAt(e.Time()) }

// verifyStaking runs the checks that validators and delegators share: duration and staked asset.
func (e *txExecutor) verifyStaking(end, least uint64, stake []*txs.TransferableOutput) error {
	if err := e.verifyDuration(end, least); err != nil {
		return err
	}
	if asset := stake[0].AssetID; asset != e.Network.AVAXAssetID {
		return fmt.Errorf("%w: %s != %s", errStakedAsset, e.Network.AVAXAssetID, asset)
	}
	return nil
}

// verifyDuration follows the staker's rules of avalanchego's verifyAddPermissionlessValidatorTx. An end beyond signed numbers lies in the past,
// as in avalanchego's Validator.EndTime.
func (e *txExecutor) verifyDuration(end, least uint64) error {
	most := e.staking().MaxStakeDuration
	switch duration := time.Unix(int64(end), 0).Sub(time.Unix(int64(e.Time()), 0)); {
	case duration < time.Duration(least)*time.Second:
		return e.periodError(errStakeTooShort, least, most)
	case duration > time.Duration(most)*time.Second:
		return e.periodError(errStakeTooLong, least, most)
	}
	return nil
}

// advisedError is a refusal in the node's words, with the numbers that those leave out.
type advisedError struct {
	error
	advice string
}

func (e *advisedError) Unwrap() error { return e.error }

// Advice completes the node's error, for the log.
func (e *advisedError) Advice() string { return e.advice }

func advised(err error, format string, args ...any) error {
	return &advisedError{err, fmt.Sprintf(format, args...)}
}

func (e *txExecutor) periodError(err error, least, most uint64) error {
	return advised(err, "on %s it takes %d to %d hours, so it ends from %s to %s", e.Network.Name, least/3600, most/3600, timeText(e.Time()+least), timeText(e.Time()+most))
}

// weightError names the stakes that the network accepts.
func (e *txExecutor) weightError(err error, staked, least, most uint64) error {
	return advised(err, "%d nAVAX are staked; on %s it takes %d to %d", staked, e.Network.Name, least, most)
}

func timeText(unix uint64) string { return time.Unix(int64(unix), 0).UTC().Format(time.RFC3339) }

// newStaker activates a transaction's staker from the chain's time on.
func (e *txExecutor) newStaker(stake []*txs.TransferableOutput) (*execution, error) {
	s, err := NewStaker(e.tx, Active)
	if err != nil {
		return nil, err
	}
	s.Start = e.Time()
	return &execution{stake: stake, run: func() { e.addStaker(s) }}, nil
}

// addPermissionlessDelegatorTx verifies that a validator has room for a delegation.
func (e *txExecutor) addPermissionlessDelegatorTx(u *txs.AddPermissionlessDelegatorTx) (*execution, error) {
	networkRules := e.staking()
	switch {
	case u.SubnetID != ids.Empty:
		return nil, utxo.ErrNotFound
	case u.Validator.Weight < networkRules.MinDelegatorStake:
		return nil, advised(errWeightTooSmall, "%d nAVAX are delegated; on %s it takes at least %d", u.Validator.Weight, e.Network.Name, networkRules.MinDelegatorStake)
	}
	if err := e.verifyStaking(u.Validator.End, networkRules.MinDelegationDuration, u.StakeOuts); err != nil {
		return nil, err
	}
	validator, found := e.Validator(ids.Empty, u.Validator.NodeID)
	if !found {
		return nil, fmt.Errorf("failed to fetch the validator for %s on %s: %w", u.Validator.NodeID, ids.Empty, utxo.ErrNotFound)
	}
	if err := e.verifyWithin(validator, u.Validator.End); err != nil {
		return nil, err
	}
	maxWeight, most := e.current.maxWeight(validator, e.pending, e.Time(), u.Validator.End), networkRules.MaxWeight(validator.Weight)
	if u.Validator.Weight > math.MaxUint64-maxWeight {
		return nil, utxo.ErrOverflow
	}
	if maxWeight+u.Validator.Weight > most {
		return nil, advised(errOverDelegated, "%d nAVAX are delegated; until then the validator has room for %d", u.Validator.Weight, most-maxWeight)
	}
	return e.newStaker(u.StakeOuts)
}

// verifyWithin checks that staking from now to end lies within another staker's period.
func (e *txExecutor) verifyWithin(within *Staker, end uint64) error {
	if e.Time() < within.Start || end > within.End {
		return advised(errPeriodMismatch, "it ends at %s; the validator's period is from %s to %s", timeText(end), timeText(within.Start), timeText(within.End))
	}
	return nil
}
