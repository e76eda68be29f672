package pchain

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// StakerStatus tells pending, active and past stakers apart.
type StakerStatus uint8

// Statuses of stakers.
const (
	Pending   StakerStatus = iota // will start
	Active                        // stakes
	Completed                     // its period is over
	Removed                       // the subnet's owner removed it early
)

// Staker is a validator or delegator of the primary network, or a validator of a permissioned subnet. A Staker is immutable: a new value
// replaces it.
type Staker struct {
	TxID            ids.ID
	NodeID          ids.NodeID
	SubnetID        ids.ID
	Weight          uint64
	Start           uint64
	End             uint64
	Shares          uint32 // the delegation fee, of a million
	Delegator       bool
	PotentialReward uint64
	DelegateeReward uint64 // fees from ended delegations, paid when the validator ends
	Status          StakerStatus
	Rewarded        bool // when completed: whether the reward was paid
	Tx              *txs.Tx
	BLS             *txs.ProofOfPossession
	Renewal         *Renewal // nil unless the validator renews itself
}

// Renewal says how an auto-renewed validator goes on after its present cycle, and what it restaked in earlier ones, which is a part of its
// weight: avalanchego's state.StakingInfo. A Staker is one cycle of such a validator.
type Renewal struct {
	NextPeriod               uint64 // in seconds; 0 ends the staking
	AutoCompoundRewardShares uint32 // of a million
	AccruedValidationRewards uint64
	AccruedDelegateeRewards  uint64
}

// permissioned reports whether the staker is a validator of a permissioned subnet, which stakes and earns nothing.
func (s *Staker) permissioned() bool { return s.SubnetID != ids.Empty }

// priority orders stakers that end at the same second: subnet validators go first, since time alone removes them, then delegators, so that
// their validator is still there.
func (s *Staker) priority() int {
	switch {
	case s.permissioned():
		return 0
	case s.Delegator:
		return 1
	}
	return 2
}

// StakeOf returns a staking transaction's locked outputs and reward owners: for a validator, first the owner of its own rewards, then of
// its delegation fees.
func StakeOf(unsigned txs.Unsigned) ([]*txs.TransferableOutput, []*txs.OutputOwners) {
	switch u := unsigned.(type) {
	case *txs.AddValidatorTx:
		return u.StakeOuts, []*txs.OutputOwners{u.RewardsOwner.Owners(), u.RewardsOwner.Owners()}
	case *txs.AddDelegatorTx:
		return u.StakeOuts, []*txs.OutputOwners{u.RewardsOwner.Owners()}
	case *txs.AddPermissionlessValidatorTx:
		return u.StakeOuts, []*txs.OutputOwners{u.ValidationOwner.Owners(), u.DelegationOwner.Owners()}
	case *txs.AddAutoRenewedValidatorTx:
		return u.StakeOuts, []*txs.OutputOwners{u.ValidationOwner.Owners(), u.DelegationOwner.Owners()}
	case *txs.AddPermissionlessDelegatorTx:
		return u.StakeOuts, []*txs.OutputOwners{u.RewardsOwner.Owners()}
	}
	return nil, nil
}

// Stake returns the outputs that a staker's transaction locks and later returns.
func (s *Staker) Stake() []*txs.TransferableOutput {
	stake, _ := StakeOf(s.Tx.Unsigned)
	return stake
}

// RewardOwners returns the owners of a staker's rewards: for a validator, first the owner of its own rewards, then of its delegation fees.
func (s *Staker) RewardOwners() []*txs.OutputOwners {
	_, owners := StakeOf(s.Tx.Unsigned)
	return owners
}

// NewStaker reads a staking transaction. Its start is the transaction's own, which counts only in a genesis.
func NewStaker(tx *txs.Tx, status StakerStatus) (*Staker, error) {
	s := &Staker{TxID: tx.ID(), Tx: tx, Status: status}
	switch u := tx.Unsigned.(type) {
	case *txs.AddValidatorTx:
		s.setValidator(u.Validator)
		s.Shares = u.Shares
	case *txs.AddDelegatorTx:
		s.setValidator(u.Validator)
		s.Delegator = true
	case *txs.AddPermissionlessValidatorTx:
		s.setValidator(u.Validator)
		s.SubnetID, s.Shares, s.BLS = u.SubnetID, u.DelegationShares, u.Signer.Key()
	case *txs.AddAutoRenewedValidatorTx: // its first cycle ends a period after its start
		s.NodeID, s.Weight, s.Shares, s.BLS = u.NodeID(), u.Weight(), u.DelegationShares, u.Signer.Key()
		s.Renewal = &Renewal{NextPeriod: u.Period, AutoCompoundRewardShares: u.AutoCompoundRewardShares}
	case *txs.AddPermissionlessDelegatorTx:
		s.setValidator(u.Validator)
		s.SubnetID, s.Delegator = u.SubnetID, true
	case *txs.AddSubnetValidatorTx:
		s.setValidator(u.Validator.Validator)
		s.SubnetID = u.Validator.SubnetID
	default:
		return nil, utxo.ErrWrongTxType
	}
	return s, nil
}

func (s *Staker) setValidator(v txs.Validator) {
	s.NodeID, s.Weight, s.Start, s.End = v.NodeID, v.Weight, v.Start, v.End
}
