package primary

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
)

// StakerStatus is where a staker stands in its life.
type StakerStatus uint8

// The stations of a staker's life.
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
	Tx              *Tx
	BLS             *ProofOfPossession
}

// permissioned tells validators of permissioned subnets, who stake nothing and earn nothing.
func (s *Staker) permissioned() bool { return s.SubnetID != ids.Empty }

// stakerKey is where a node validates.
type stakerKey struct {
	subnet ids.ID
	node   ids.NodeID
}

func (s *Staker) at() stakerKey { return stakerKey{s.SubnetID, s.NodeID} }

// rank orders stakers that end at the same second: subnet validators go first, since time alone removes them, then
// delegators, so that their validator is still there.
func (s *Staker) rank() int {
	switch {
	case s.permissioned():
		return 0
	case s.Delegator:
		return 1
	}
	return 2
}

// stakerSet is a set of stakers in the order in which their time comes: their end, or for pending ones their start.
type stakerSet struct {
	when       func(*Staker) uint64
	queue      []*Staker
	validators map[stakerKey]*Staker
	delegators map[stakerKey][]*Staker
}

func newStakerSet(when func(*Staker) uint64) *stakerSet {
	return &stakerSet{when: when, validators: make(map[stakerKey]*Staker), delegators: make(map[stakerKey][]*Staker)}
}

func (s *stakerSet) compare(a, b *Staker) int {
	return cmp.Or(
		cmp.Compare(s.when(a), s.when(b)),
		cmp.Compare(a.rank(), b.rank()),
		bytes.Compare(a.TxID[:], b.TxID[:]),
	)
}

func (s *stakerSet) insert(v *Staker) {
	i, _ := slices.BinarySearchFunc(s.queue, v, s.compare)
	s.queue = slices.Insert(s.queue, i, v)
	if v.Delegator {
		s.delegators[v.at()] = append(s.delegators[v.at()], v)
		return
	}
	s.validators[v.at()] = v
}

func (s *stakerSet) delete(v *Staker) {
	i, found := slices.BinarySearchFunc(s.queue, v, s.compare)
	if !found {
		return
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	if !v.Delegator {
		delete(s.validators, v.at())
		return
	}
	rest := slices.DeleteFunc(slices.Clone(s.delegators[v.at()]), func(d *Staker) bool { return d.TxID == v.TxID })
	s.delegators[v.at()] = rest
}

// put inserts in a way that the journal can take back.
func (s *stakerSet) put(j *journal, v *Staker) {
	j.onRevert(func() { s.delete(v) })
	s.insert(v)
}

// drop deletes in a way that the journal can take back.
func (s *stakerSet) drop(j *journal, v *Staker) {
	j.onRevert(func() { s.insert(v) })
	s.delete(v)
}

// peak is the most that a validator and its delegators will weigh at any moment from start to end, including delegators
// that wait to begin.
func (s *stakerSet) peak(v *Staker, pending *stakerSet, start, end uint64) uint64 {
	weight := v.Weight
	type change struct {
		at     uint64
		weight int64
	}
	var changes []change
	for _, d := range s.delegators[v.at()] {
		weight += d.Weight
		changes = append(changes, change{d.End, -int64(d.Weight)})
	}
	for _, d := range pending.delegators[v.at()] {
		changes = append(changes, change{d.Start, int64(d.Weight)}, change{d.End, -int64(d.Weight)})
	}
	// Who ends at a moment makes room before who begins then.
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.weight, b.weight)) })
	var most uint64
	for _, c := range changes {
		if c.at > start {
			most = max(most, weight)
		}
		if c.at >= end {
			return most
		}
		weight += uint64(c.weight)
	}
	return max(most, weight)
}
