package pchain

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// The reasons why staking is refused, in the node's words.
var (
	errWeightTooSmall = errors.New("weight of this validator is too low")
	errWeightTooLarge = errors.New("weight of this validator is too large")
	errDelegationFee  = errors.New("staker charges an insufficient delegation fee")
	errTooManyShares  = errors.New("a staker can only require at most 100% of rewards from delegators")
	errStakeTooShort  = errors.New("staking period is too short")
	errStakeTooLong   = errors.New("staking period is too long")
	errStakedAsset    = errors.New("incorrect staked assetID")
	errStakeMismatch  = errors.New("validator weight mismatch")
	errEmptyNodeID    = errors.New("validator nodeID cannot be empty")
	errDuplicate      = errors.New("duplicate validator")
	errNotValidator   = errors.New("isn't a current or pending validator")
	errPeriodMismatch = errors.New("proposed staking period is not inside dependent staking period")
	errOverDelegated  = errors.New("validator would be over delegated")
	errInvalidSigner  = errors.New("invalid signer")
	errRewardOwner    = errors.New("invalid rewards owner")
)

// addPermissionlessValidatorTx verifies that a node may become a validator of the primary network.
func (e *txExecutor) addPermissionlessValidatorTx(u *txs.AddPermissionlessValidatorTx) (*execution, error) {
	networkRules := &e.Network.Staking
	switch {
	case u.SubnetID != ids.Empty: // only transformed subnets had such validators, and no subnet can be transformed any more
		return nil, fmt.Errorf("subnet %s is not permissionless: %w", u.SubnetID, utxo.ErrNotFound)
	case u.Validator.NodeID == ids.EmptyNodeID:
		return nil, errEmptyNodeID
	case u.Validator.Weight < networkRules.MinValidatorStake:
		return nil, errWeightTooSmall
	case u.Validator.Weight > networkRules.MaxValidatorStake:
		return nil, errWeightTooLarge
	case u.DelegationShares < networkRules.MinDelegationFee:
		return nil, errDelegationFee
	case u.DelegationShares > rules.PercentDenominator:
		return nil, errTooManyShares
	}
	if err := e.verifyStake(u.Validator, u.StakeOuts, u.ValidationOwner, u.DelegationOwner); err != nil {
		return nil, err
	}
	if _, found := e.Validator(ids.Empty, u.Validator.NodeID); found {
		return nil, fmt.Errorf("%w: %s on %s", errDuplicate, u.Validator.NodeID, ids.Empty)
	}
	if err := e.verifySigner(u.Signer.Key()); err != nil {
		return nil, err
	}
	return e.newStaker(u.StakeOuts)
}

// verifySigner checks a primary network validator's key. Checking takes milliseconds, so proofs that this process made
// are believed.
func (e *txExecutor) verifySigner(signer *txs.ProofOfPossession) error {
	switch {
	case signer == nil:
		return errInvalidSigner
	case e.trusted():
		return nil
	}
	return signer.Verify()
}

// verifyStake checks what validators and delegators share: duration, staked amount and reward owners.
func (e *txExecutor) verifyStake(v txs.Validator, stake []*txs.TransferableOutput, owners ...txs.Owner) error {
	if err := e.verifyDuration(v.End); err != nil {
		return err
	}
	var f utxo.FlowChecker
	for _, out := range stake {
		if out.AssetID != e.Network.AVAXAssetID {
			return fmt.Errorf("%w: %s != %s", errStakedAsset, e.Network.AVAXAssetID, out.AssetID)
		}
		f.Produce(out.AssetID, txs.AmountOf(out.Out))
	}
	if total, err := f.Produced(e.Network.AVAXAssetID); err != nil || total != v.Weight {
		return fmt.Errorf("%w: weight %d != stake %d", errStakeMismatch, v.Weight, total)
	}
	for _, owner := range owners {
		if _, err := utxo.VerifyOwner(owner); err != nil {
			return fmt.Errorf("%w: %w", errRewardOwner, err)
		}
	}
	return e.VerifyOutputs(stake)
}

func (e *txExecutor) verifyDuration(end uint64) error {
	switch networkRules := &e.Network.Staking; {
	case end < e.Time()+networkRules.MinStakeDuration:
		return errStakeTooShort
	case end > e.Time()+networkRules.MaxStakeDuration:
		return errStakeTooLong
	}
	return nil
}

// newStaker makes a transaction's staker active from the chain's time on.
func (e *txExecutor) newStaker(stake []*txs.TransferableOutput) (*execution, error) {
	s, err := NewStaker(e.tx, Active)
	if err != nil {
		return nil, err
	}
	s.Start = e.Time()
	return &execution{stake: stake, run: func() { e.addStaker(s) }}, nil
}

// addPermissionlessDelegatorTx verifies that a validator can take a delegation.
func (e *txExecutor) addPermissionlessDelegatorTx(u *txs.AddPermissionlessDelegatorTx) (*execution, error) {
	if u.SubnetID != ids.Empty {
		return nil, fmt.Errorf("subnet %s is not permissionless: %w", u.SubnetID, utxo.ErrNotFound)
	}
	if u.Validator.Weight < e.Network.Staking.MinDelegatorStake {
		return nil, errWeightTooSmall
	}
	if err := e.verifyStake(u.Validator, u.StakeOuts, u.RewardsOwner); err != nil {
		return nil, err
	}
	validator, found := e.Validator(ids.Empty, u.Validator.NodeID)
	if !found {
		return nil, fmt.Errorf("failed to fetch the validator for %s on %s: %w", u.Validator.NodeID, ids.Empty, utxo.ErrNotFound)
	}
	if err := e.verifyWithin(validator, u.Validator.End); err != nil {
		return nil, err
	}
	maxWeight := e.current.maxWeight(validator, e.pending, e.Time(), u.Validator.End)
	if maxWeight+u.Validator.Weight > e.Network.Staking.MaxWeight(validator.Weight) {
		return nil, errOverDelegated
	}
	return e.newStaker(u.StakeOuts)
}

// verifyWithin checks that staking from now to end lies within another staker's time.
func (e *txExecutor) verifyWithin(within *Staker, end uint64) error {
	if e.Time() < within.Start || end > within.End {
		return errPeriodMismatch
	}
	return nil
}
