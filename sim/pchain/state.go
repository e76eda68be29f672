package pchain

import (
	"math"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/warp"
)

// State is the state of the P-Chain, like avalanchego's platformvm/state.State: outputs, stakers, subnets and their chains, L1 validators,
// the supply and the state of the fees. Changes go through the Journal and into the current Diff.
type State struct {
	utxo.UTXOState
	Strict bool                          // recover every signature and check every proof, even those that this process made
	Tx     func(ids.ID) (*txs.Tx, error) // finds an accepted transaction, or utxo.ErrNotFound; nil if nobody keeps those of stakers that have ended

	journal     *utxo.Journal
	diff        *Diff
	current     *stakerSet
	pending     *stakerSet
	l1          *l1Validators
	supply      uint64
	fees        rules.FeeState
	subnets     map[ids.ID]*Subnet
	blockchains map[ids.ID]*Blockchain
	proposal    *proposal
	publicKeys  map[[warp.PublicKeyLen]byte]*warp.PublicKey
}

// proposal is the reward that the next block decides.
type proposal struct {
	staker *Staker
	tx     *txs.Tx
}

// Snapshot holds a State's initial values, from a genesis or a stored chain.
type Snapshot struct {
	Time         uint64
	Supply       uint64
	Fees         rules.FeeState
	Excess       uint64
	Accrued      uint64
	UTXOs        []*txs.UTXO
	Stakers      []*Staker // pending and active
	Subnets      []*Subnet
	Blockchains  []*Blockchain
	L1Validators []*L1Validator    // not removed
	Registered   map[ids.ID]uint64 // expiry of used registration messages
}

func newState(n *rules.Network, shared *utxo.SharedMemory, at Snapshot) *State {
	journal := &utxo.Journal{}
	s := &State{
		UTXOState:   utxo.NewUTXOState(n, txs.PChain, shared, journal, at.UTXOs),
		journal:     journal,
		current:     newStakerSet(func(s *Staker) uint64 { return s.End }),
		pending:     newStakerSet(func(s *Staker) uint64 { return s.Start }),
		l1:          newL1Validators(journal, &n.ValidatorFees, at),
		supply:      at.Supply,
		fees:        at.Fees,
		subnets:     make(map[ids.ID]*Subnet),
		blockchains: make(map[ids.ID]*Blockchain),
		publicKeys:  map[[warp.PublicKeyLen]byte]*warp.PublicKey{},
	}
	s.SetTip(ids.Empty, 0, at.Time)
	shared.SubnetOf = s.SubnetOf
	for _, staker := range at.Stakers {
		if staker.Status == Pending {
			s.pending.insert(staker)
			continue
		}
		s.current.insert(staker)
	}
	for _, subnet := range at.Subnets {
		s.subnets[subnet.ID] = subnet
	}
	for _, b := range at.Blockchains {
		s.blockchains[b.ID] = b
	}
	return s
}

// Supply returns the amount of AVAX, including the potential rewards of current stakers.
func (s *State) Supply() uint64 { return s.supply }

// Fees returns the state of the dynamic fee (ACP-103).
func (s *State) Fees() rules.FeeState { return s.fees }

// ValidatorFees returns the excess and the accrued sum of the continuous fee (ACP-77).
func (s *State) ValidatorFees() (excess, accrued uint64) { return s.l1.excess, s.l1.accrued }

// ActiveL1Validators returns the number of L1 validators that pay the continuous fee.
func (s *State) ActiveL1Validators() int { return len(s.l1.active) }

// L1Validator finds an L1's validator that was not removed.
func (s *State) L1Validator(validationID ids.ID) (*L1Validator, bool) {
	v, found := s.l1.byID[validationID]
	return v, found
}

// Validator finds an active or pending validator.
func (s *State) Validator(subnetID ids.ID, nodeID ids.NodeID) (*Staker, bool) {
	if v, found := s.current.validators[stakerKey{subnetID, nodeID}]; found {
		return v, true
	}
	v, found := s.pending.validators[stakerKey{subnetID, nodeID}]
	return v, found
}

// NextStakerChangeTime returns the next time at which validators begin, end or run out of balance (avalanchego's
// state.GetNextStakerChangeTime). No block may skip it.
func (s *State) NextStakerChangeTime() uint64 {
	next := uint64(math.MaxUint64)
	if len(s.current.queue) > 0 {
		next = s.current.queue[0].End
	}
	if len(s.pending.queue) > 0 {
		next = min(next, s.pending.queue[0].Start)
	}
	return s.l1.nextChange(s.Time(), next)
}

// UptimeRequirement returns the share of its time, of a million, that a staker's node must have been up for a reward. It depends on when the
// node's validator started, for delegators too: avalanchego's block/executor.options.prefersCommit.
func (s *State) UptimeRequirement(staker *Staker) uint32 {
	start := staker.Start
	if validator, found := s.current.validators[stakerKey{ids.Empty, staker.NodeID}]; found {
		start = validator.Start
	}
	return s.Network.StakingAt(start).UptimeRequirement
}

// NextStakerToReward returns the staker that the next proposal must reward, if it is due at this time.
func (s *State) NextStakerToReward(time uint64) (*Staker, bool) {
	for _, staker := range s.current.queue {
		switch {
		case staker.End > time:
			return nil, false
		case !staker.permissioned():
			return staker, true
		}
	}
	return nil, false
}

// record begins a new Diff, which receives all changes from now on.
func (s *State) record(txID ids.ID) *Diff {
	s.diff = &Diff{Diff: utxo.Diff{TxID: txID}}
	s.SetDiff(&s.diff.Diff)
	return s.diff
}

// addStaker activates a staker; its potential reward counts as supply from now on.
func (s *State) addStaker(staker *Staker) {
	started := *staker
	started.Status = Active
	if !staker.permissioned() {
		started.PotentialReward = s.Network.StakingAt(staker.Start).Reward(staker.End-staker.Start, staker.Weight, s.supply)
		utxo.Set(s.journal, &s.supply, s.supply+started.PotentialReward)
	}
	s.current.put(s.journal, &started)
	s.diff.Stakers = append(s.diff.Stakers, &started)
}

func (s *State) deleteStaker(staker *Staker, status StakerStatus, rewarded bool) {
	s.current.remove(s.journal, staker)
	ended := *staker
	ended.Status, ended.Rewarded = status, rewarded
	s.diff.Stakers = append(s.diff.Stakers, &ended)
}

func (s *State) updateStaker(old, updated *Staker) {
	s.current.remove(s.journal, old)
	s.current.put(s.journal, updated)
	s.diff.Stakers = append(s.diff.Stakers, updated)
}

func (s *State) putSubnet(subnet *Subnet) {
	utxo.Put(s.journal, s.subnets, subnet.ID, subnet)
	s.diff.Subnets = append(s.diff.Subnets, subnet)
}

func (s *State) addBlockchain(b *Blockchain) {
	utxo.Put(s.journal, s.blockchains, b.ID, b)
	s.diff.Blockchains = append(s.diff.Blockchains, b)
}

// putL1Validator sets an L1 validator's new value; weight 0 removes it.
func (s *State) putL1Validator(v *L1Validator) {
	s.l1.put(v)
	s.diff.L1Validators = append(s.diff.L1Validators, v)
}

// deactivateBelow deactivates L1 validators whose balance is used up below an accrued fee.
func (s *State) deactivateBelow(accrued uint64) {
	for len(s.l1.active) > 0 && s.l1.active[0].EndAccumulatedFee < accrued {
		s.deactivate(s.l1.active[0])
	}
}

func (s *State) deactivate(v *L1Validator) {
	inactive := *v
	inactive.EndAccumulatedFee = 0
	s.putL1Validator(&inactive)
}
