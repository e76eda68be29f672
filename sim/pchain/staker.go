package pchain

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// StakerStatus says whether a staker is pending, active or no longer staking.
type StakerStatus uint8

// The statuses of stakers.
const (
	Pending   StakerStatus = iota // will start
	Active                        // stakes
	Completed                     // its time is over
	Removed                       // a subnet's owner removed it before its time
)

// Staker is a validator or delegator of the primary network, or a validator of a permissioned subnet. A Staker is never
// changed: a new value replaces it.
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
	DelegateeReward uint64 // fees from delegations that ended, paid when the validator ends
	Status          StakerStatus
	Rewarded        bool // when completed: whether the reward was paid
	Tx              *txs.Tx
	BLS             *txs.ProofOfPossession
}

// permissioned tells validators of permissioned subnets, who stake nothing and earn nothing.
func (s *Staker) permissioned() bool { return s.SubnetID != ids.Empty }

// priority orders stakers that end at the same second: subnet validators go first, since time alone removes them, then
// delegators, so that their validator is still there.
func (s *Staker) priority() int {
	switch {
	case s.permissioned():
		return 0
	case s.Delegator:
		return 1
	}
	return 2
}

// stakeOf is what a staking transaction locks, and who owns its rewards: for a validator first those of validating, then
// those of delegations to it.
func stakeOf(unsigned txs.Unsigned) ([]*txs.TransferableOutput, []*txs.OutputOwners) {
	switch u := unsigned.(type) {
	case *txs.AddValidatorTx:
		return u.StakeOuts, []*txs.OutputOwners{u.RewardsOwner.Owners(), u.RewardsOwner.Owners()}
	case *txs.AddDelegatorTx:
		return u.StakeOuts, []*txs.OutputOwners{u.RewardsOwner.Owners()}
	case *txs.AddPermissionlessValidatorTx:
		return u.StakeOuts, []*txs.OutputOwners{u.ValidationOwner.Owners(), u.DelegationOwner.Owners()}
	case *txs.AddPermissionlessDelegatorTx:
		return u.StakeOuts, []*txs.OutputOwners{u.RewardsOwner.Owners()}
	}
	return nil, nil
}

// Stake is what a staker's transaction locks and later returns.
func (s *Staker) Stake() []*txs.TransferableOutput {
	stake, _ := stakeOf(s.Tx.Unsigned)
	return stake
}

// RewardOwners are who earns the rewards of a staker: for a validator first those of validating, then those of
// delegations to it.
func (s *Staker) RewardOwners() []*txs.OutputOwners {
	_, owners := stakeOf(s.Tx.Unsigned)
	return owners
}

// NewStaker reads a staking transaction. Its start is the transaction's own, which counts in a genesis only.
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
