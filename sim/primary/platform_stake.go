package primary

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/warp"
)

// The reasons why staking is refused, in the node's words.
var (
	errWeightTooSmall    = errors.New("weight of this validator is too low")
	errWeightTooLarge    = errors.New("weight of this validator is too large")
	errDelegationFee     = errors.New("staker charges an insufficient delegation fee")
	errTooManyShares     = errors.New("a staker can only require at most 100% of rewards from delegators")
	errStakeTooShort     = errors.New("staking period is too short")
	errStakeTooLong      = errors.New("staking period is too long")
	errStakedAsset       = errors.New("incorrect staked assetID")
	errStakeMismatch     = errors.New("validator weight mismatch")
	errEmptyNodeID       = errors.New("validator nodeID cannot be empty")
	errDuplicate         = errors.New("duplicate validator")
	errNotValidator      = errors.New("isn't a current or pending validator")
	errPeriodMismatch    = errors.New("proposed staking period is not inside dependent staking period")
	errOverDelegated     = errors.New("validator would be over delegated")
	errInvalidSigner     = errors.New("invalid signer")
	errInvalidPossession = errors.New("invalid proof of possession")
	errRewardOwner       = errors.New("invalid rewards owner")
)

// planValidator verifies that a node may become a validator of the primary network.
func (p *Platform) planValidator(tx *Tx, u *AddPermissionlessValidatorTx) (*plan, error) {
	rules := &p.Network.Staking
	switch {
	case u.SubnetID != ids.Empty: // only transformed subnets had such validators, and no subnet can be transformed any more
		return nil, fmt.Errorf("subnet %s is not permissionless: %w", u.SubnetID, errNotFound)
	case u.Validator.NodeID == ids.EmptyNodeID:
		return nil, errEmptyNodeID
	case u.Validator.Weight < rules.MinValidatorStake:
		return nil, errWeightTooSmall
	case u.Validator.Weight > rules.MaxValidatorStake:
		return nil, errWeightTooLarge
	case u.DelegationShares < rules.MinDelegationFee:
		return nil, errDelegationFee
	case u.DelegationShares > percentDenominator:
		return nil, errTooManyShares
	}
	if err := p.stakeWellFormed(u.Validator, u.StakeOuts, u.ValidationOwner, u.DelegationOwner); err != nil {
		return nil, err
	}
	if _, found := p.Validator(ids.Empty, u.Validator.NodeID); found {
		return nil, fmt.Errorf("%w: %s on %s", errDuplicate, u.Validator.NodeID, ids.Empty)
	}
	if err := p.signerValid(tx, u.Signer.blsKey()); err != nil {
		return nil, err
	}
	return p.planStaker(tx, u.StakeOuts)
}

// signerValid checks a primary network validator's key. Checking takes milliseconds, so proofs that this process made
// are believed.
func (p *Platform) signerValid(tx *Tx, signer *ProofOfPossession) error {
	switch {
	case signer == nil:
		return errInvalidSigner
	case p.trusts(tx):
		return nil
	}
	return signer.Verify()
}

// Verify checks that the holder of the key has its secret.
func (s *ProofOfPossession) Verify() error {
	key, err := warp.ParsePublicKey(s.PublicKey[:])
	if err != nil {
		return fmt.Errorf("%w: %w", errInvalidPossession, err)
	}
	proof, err := warp.ParseSignature(s.ProofOfPossession[:])
	if err != nil {
		return fmt.Errorf("%w: %w", errInvalidPossession, err)
	}
	if !key.VerifyPossession(proof) {
		return errInvalidPossession
	}
	return nil
}

// NewProofOfPossession makes the signer of a key; it takes about a millisecond.
func NewProofOfPossession(key *warp.SecretKey) (*ProofOfPossession, error) {
	proof, err := key.Prove()
	if err != nil {
		return nil, fmt.Errorf("proof of possession: %w", err)
	}
	return &ProofOfPossession{PublicKey: key.PublicKey().Compressed(), ProofOfPossession: proof.Bytes()}, nil
}

// stakeWellFormed checks what validators and delegators share: duration, staked amount and reward owners.
func (p *Platform) stakeWellFormed(v Validator, stake []*TransferableOutput, owners ...Authority) error {
	if err := p.durationAllowed(v.End); err != nil {
		return err
	}
	var f flow
	for _, out := range stake {
		if out.AssetID != p.Network.AVAXAssetID {
			return fmt.Errorf("%w: %s != %s", errStakedAsset, p.Network.AVAXAssetID, out.AssetID)
		}
		f.produce(out.AssetID, amountOf(out.Out))
	}
	if total := f.entry(flowKey{asset: p.Network.AVAXAssetID}).produced; f.err != nil || total != v.Weight {
		return fmt.Errorf("%w: weight %d != stake %d", errStakeMismatch, v.Weight, total)
	}
	for _, owner := range owners {
		if _, err := controlGroup(owner); err != nil {
			return fmt.Errorf("%w: %w", errRewardOwner, err)
		}
	}
	return p.outputsWellFormed(stake)
}

func (p *Platform) durationAllowed(end uint64) error {
	switch rules := &p.Network.Staking; {
	case end < p.time+rules.MinStakeDuration:
		return errStakeTooShort
	case end > p.time+rules.MaxStakeDuration:
		return errStakeTooLong
	}
	return nil
}

// planStaker makes a transaction's staker active from the chain's time on.
func (p *Platform) planStaker(tx *Tx, stake []*TransferableOutput) (*plan, error) {
	s, err := NewStaker(tx, Active)
	if err != nil {
		return nil, err
	}
	s.Start = p.time
	act := func() error {
		p.stake(s)
		return nil
	}
	return &plan{stake: stake, act: act}, nil
}

// planDelegator verifies that a validator can take a delegation.
func (p *Platform) planDelegator(tx *Tx, u *AddPermissionlessDelegatorTx) (*plan, error) {
	if u.SubnetID != ids.Empty {
		return nil, fmt.Errorf("subnet %s is not permissionless: %w", u.SubnetID, errNotFound)
	}
	if u.Validator.Weight < p.Network.Staking.MinDelegatorStake {
		return nil, errWeightTooSmall
	}
	if err := p.stakeWellFormed(u.Validator, u.StakeOuts, u.RewardsOwner); err != nil {
		return nil, err
	}
	validator, found := p.Validator(ids.Empty, u.Validator.NodeID)
	if !found {
		return nil, fmt.Errorf("failed to fetch the validator for %s on %s: %w", u.Validator.NodeID, ids.Empty, errNotFound)
	}
	if err := p.bounded(validator, u.Validator.End); err != nil {
		return nil, err
	}
	peak := p.current.peak(validator, p.pending, p.time, u.Validator.End)
	if peak+u.Validator.Weight > p.Network.Staking.MaxWeight(validator.Weight) {
		return nil, errOverDelegated
	}
	return p.planStaker(tx, u.StakeOuts)
}

// bounded checks that staking from now to end lies within another staker's time.
func (p *Platform) bounded(within *Staker, end uint64) error {
	if p.time < within.Start || end > within.End {
		return errPeriodMismatch
	}
	return nil
}

// Room is how much more may be delegated to a validator from now to a time.
func (p *Platform) Room(nodeID ids.NodeID, end uint64) uint64 {
	validator, found := p.Validator(ids.Empty, nodeID)
	if !found {
		return 0
	}
	peak := p.current.peak(validator, p.pending, p.time, end)
	return p.Network.Staking.MaxWeight(validator.Weight) - min(peak, p.Network.Staking.MaxWeight(validator.Weight))
}
