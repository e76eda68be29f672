package primary

// release ends a staker: the stake returns to its owners, and the reward is paid or leaves the supply again.
func (p *Platform) release(s *Staker, commit bool) {
	stake, owners := stakeOf(s.Tx.Unsigned)
	index := len(s.Tx.Unsigned.Base().Outs)
	for _, out := range stake {
		p.create(s.Tx.output(index, out.AssetID, out.Out))
		index++
	}
	if !commit {
		set(&p.journal, &p.supply, p.supply-s.PotentialReward)
	}
	if s.Delegator {
		p.releaseDelegator(s, commit, index, owners[0])
	} else {
		p.releaseValidator(s, commit, index, owners)
	}
	p.end(s, Completed, commit)
}

// releaseDelegator pays a delegator its share; its validator's fee waits until the validator itself ends.
func (p *Platform) releaseDelegator(s *Staker, commit bool, index int, owner *OutputOwners) {
	if !commit {
		return
	}
	validator, found := p.current.validators[s.at()]
	if !found {
		return
	}
	fee, rest := SplitReward(s.PotentialReward, validator.Shares)
	p.pay(s, &index, rest, owner)
	if fee > 0 {
		credited := *validator
		credited.DelegateeReward += fee
		p.replace(validator, &credited)
	}
}

// releaseValidator pays a validator's reward, and in any case the fees that its delegators' rewards earned it.
func (p *Platform) releaseValidator(s *Staker, commit bool, index int, owners []*OutputOwners) {
	if commit {
		p.pay(s, &index, s.PotentialReward, owners[0])
	}
	p.pay(s, &index, s.DelegateeReward, owners[1])
}

// pay creates a reward as the next output of the staker's transaction.
func (p *Platform) pay(s *Staker, index *int, amount uint64, owner *OutputOwners) {
	if amount == 0 {
		return
	}
	u := s.Tx.output(*index, p.Network.AVAXAssetID, &TransferOutput{Amount: amount, OutputOwners: *owner})
	p.create(u)
	p.diff.Rewards = append(p.diff.Rewards, u)
	*index++
}

// stakeOf is what a staking transaction locks, and who owns its rewards: for a validator first those of validating, then
// those of delegations to it.
func stakeOf(unsigned Unsigned) ([]*TransferableOutput, []*OutputOwners) {
	switch u := unsigned.(type) {
	case *AddValidatorTx:
		return u.StakeOuts, []*OutputOwners{u.RewardsOwner.owners(), u.RewardsOwner.owners()}
	case *AddDelegatorTx:
		return u.StakeOuts, []*OutputOwners{u.RewardsOwner.owners()}
	case *AddPermissionlessValidatorTx:
		return u.StakeOuts, []*OutputOwners{u.ValidationOwner.owners(), u.DelegationOwner.owners()}
	case *AddPermissionlessDelegatorTx:
		return u.StakeOuts, []*OutputOwners{u.RewardsOwner.owners()}
	}
	return nil, nil
}

// Stake is what a staker's transaction locks and later returns.
func (s *Staker) Stake() []*TransferableOutput {
	stake, _ := stakeOf(s.Tx.Unsigned)
	return stake
}

// RewardOwners are who earns the rewards of a staker: for a validator first those of validating, then those of
// delegations to it.
func (s *Staker) RewardOwners() []*OutputOwners {
	_, owners := stakeOf(s.Tx.Unsigned)
	return owners
}

// NewStaker reads a staking transaction. Its start is the transaction's own, which only a genesis heeds.
func NewStaker(tx *Tx, status StakerStatus) (*Staker, error) {
	s := &Staker{TxID: tx.ID(), Tx: tx, Status: status}
	switch u := tx.Unsigned.(type) {
	case *AddValidatorTx:
		s.validator(u.Validator)
		s.Shares = u.Shares
	case *AddDelegatorTx:
		s.validator(u.Validator)
		s.Delegator = true
	case *AddPermissionlessValidatorTx:
		s.validator(u.Validator)
		s.SubnetID, s.Shares, s.BLS = u.SubnetID, u.DelegationShares, u.Signer.blsKey()
	case *AddPermissionlessDelegatorTx:
		s.validator(u.Validator)
		s.SubnetID, s.Delegator = u.SubnetID, true
	case *AddSubnetValidatorTx:
		s.validator(u.Validator.Validator)
		s.SubnetID = u.Validator.SubnetID
	default:
		return nil, ErrWrongTxType
	}
	return s, nil
}

func (s *Staker) validator(v Validator) {
	s.NodeID, s.Weight, s.Start, s.End = v.NodeID, v.Weight, v.Start, v.End
}
