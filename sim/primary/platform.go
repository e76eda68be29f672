package primary

import (
	"maps"
	"math"

	"github.com/ava-labs/avalanchego/ids"
)

// Platform is the state of the P-chain.
type Platform struct {
	State
	Strict bool // recover every signature and check every proof, even those that this process made

	current *stakerSet
	pending *stakerSet
	supply  uint64
	fees    FeeState
	excess  uint64 // of the continuous fee
	accrued uint64 // what an L1 validator that was always active would have paid

	subnets     map[ids.ID]*Subnet
	blockchains map[ids.ID]*Blockchain
	l1          map[ids.ID]*L1Validator
	members     map[ids.ID][]*L1Validator // of a subnet, oldest first
	active      []*L1Validator            // by EndAccumulatedFee
	registered  map[ids.ID]uint64
	proposal    *Staker // whose reward the next block decides
}

// PlatformState is everything that a Platform begins with: a genesis, or a stored chain.
type PlatformState struct {
	Time         uint64
	Supply       uint64
	Fees         FeeState
	Excess       uint64
	Accrued      uint64
	UTXOs        []*UTXO
	Stakers      []*Staker // pending and active ones
	Subnets      []*Subnet
	Blockchains  []*Blockchain
	L1Validators []*L1Validator    // not removed ones
	Registered   map[ids.ID]uint64 // expiry of registration messages that were used
}

// NewPlatform begins at a genesis, or where a stored chain stands.
func NewPlatform(n *Network, shared *SharedMemory, at PlatformState) *Platform {
	p := &Platform{
		State:       newState(n, PChain, shared, at.UTXOs),
		current:     newStakerSet(func(s *Staker) uint64 { return s.End }),
		pending:     newStakerSet(func(s *Staker) uint64 { return s.Start }),
		supply:      at.Supply,
		fees:        at.Fees,
		excess:      at.Excess,
		accrued:     at.Accrued,
		subnets:     make(map[ids.ID]*Subnet),
		blockchains: make(map[ids.ID]*Blockchain),
		l1:          make(map[ids.ID]*L1Validator),
		members:     make(map[ids.ID][]*L1Validator),
		registered:  make(map[ids.ID]uint64),
	}
	p.time = at.Time
	p.load(at)
	return p
}

func (p *Platform) load(at PlatformState) {
	for _, s := range at.Stakers {
		if s.Status == Pending {
			p.pending.insert(s)
			continue
		}
		p.current.insert(s)
	}
	for _, s := range at.Subnets {
		p.subnets[s.ID] = s
	}
	for _, b := range at.Blockchains {
		p.blockchains[b.ID] = b
	}
	for _, v := range at.L1Validators {
		p.l1[v.ValidationID] = v
		p.members[v.SubnetID] = append(p.members[v.SubnetID], v)
		p.activate(v)
	}
	maps.Copy(p.registered, at.Registered)
}

// Supply is how much AVAX there is, counting the potential rewards of those who stake.
func (p *Platform) Supply() uint64 { return p.supply }

// Fees is the state of the dynamic fee.
func (p *Platform) Fees() FeeState { return p.fees }

// ValidatorFees is the excess and the accrued sum of the continuous fee.
func (p *Platform) ValidatorFees() (excess, accrued uint64) { return p.excess, p.accrued }

// ActiveL1Validators is the number of L1 validators that pay the continuous fee.
func (p *Platform) ActiveL1Validators() int { return len(p.active) }

// Subnet finds a subnet.
func (p *Platform) Subnet(subnetID ids.ID) (*Subnet, bool) {
	s, found := p.subnets[subnetID]
	return s, found
}

// Blockchain finds a chain by its id.
func (p *Platform) Blockchain(blockchainID ids.ID) (*Blockchain, bool) {
	b, found := p.blockchains[blockchainID]
	return b, found
}

// L1Validator finds a validator of an L1 that is not removed.
func (p *Platform) L1Validator(validationID ids.ID) (*L1Validator, bool) {
	v, found := p.l1[validationID]
	return v, found
}

// Validator finds an active validator, or one that waits to begin.
func (p *Platform) Validator(subnetID ids.ID, nodeID ids.NodeID) (*Staker, bool) {
	if v, found := p.current.validators[stakerKey{subnetID, nodeID}]; found {
		return v, true
	}
	v, found := p.pending.validators[stakerKey{subnetID, nodeID}]
	return v, found
}

// Delegators are the active delegations to a validator, oldest first.
func (p *Platform) Delegators(nodeID ids.NodeID) []*Staker {
	return p.current.delegators[stakerKey{ids.Empty, nodeID}]
}

// NextChange is the next time at which validators begin, end or run out of balance. No block may skip it.
func (p *Platform) NextChange() uint64 {
	next := uint64(math.MaxUint64)
	if len(p.current.queue) > 0 {
		next = p.current.queue[0].End
	}
	if len(p.pending.queue) > 0 {
		next = min(next, p.pending.queue[0].Start)
	}
	if len(p.active) > 0 && next > p.time {
		funds := p.active[0].EndAccumulatedFee - p.accrued
		lasts := p.Network.ValidatorFees.Seconds(uint64(len(p.active)), p.excess, funds, next-p.time)
		next = p.time + lasts
	}
	return next
}

// NextReward is the staker that the next proposal must reward, if its time has come at this time.
func (p *Platform) NextReward(time uint64) (*Staker, bool) {
	for _, s := range p.current.queue {
		switch {
		case s.End > time:
			return nil, false
		case !s.permissioned():
			return s, true
		}
	}
	return nil, false
}
