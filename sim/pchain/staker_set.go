package pchain

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/utxo"
)

// stakerKey identifies a validator of a subnet.
type stakerKey struct {
	subnet ids.ID
	node   ids.NodeID
}

func (s *Staker) key() stakerKey { return stakerKey{s.SubnetID, s.NodeID} }

// stakerSet sorts stakers by their next change: the end, or for pending ones the start.
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
		cmp.Compare(a.priority(), b.priority()),
		bytes.Compare(a.TxID[:], b.TxID[:]),
	)
}

func (s *stakerSet) insert(v *Staker) {
	i, _ := slices.BinarySearchFunc(s.queue, v, s.compare)
	s.queue = slices.Insert(s.queue, i, v)
	if v.Delegator {
		s.delegators[v.key()] = append(s.delegators[v.key()], v)
		return
	}
	s.validators[v.key()] = v
}

func (s *stakerSet) delete(v *Staker) {
	i, found := slices.BinarySearchFunc(s.queue, v, s.compare)
	if !found {
		return
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	if !v.Delegator {
		delete(s.validators, v.key())
		return
	}
	rest := slices.DeleteFunc(slices.Clone(s.delegators[v.key()]), func(d *Staker) bool { return d.TxID == v.TxID })
	s.delegators[v.key()] = rest
}

// put inserts a staker and records in the journal how to revert that.
func (s *stakerSet) put(j *utxo.Journal, v *Staker) {
	j.OnRevert(func() { s.delete(v) })
	s.insert(v)
}

// remove deletes a staker and records in the journal how to revert that.
func (s *stakerSet) remove(j *utxo.Journal, v *Staker) {
	j.OnRevert(func() { s.insert(v) })
	s.delete(v)
}

// maxWeight returns the largest combined weight of a validator and its delegators, pending ones included, at any time from start to end
// (avalanchego's executor.GetMaxWeight).
func (s *stakerSet) maxWeight(v *Staker, pending *stakerSet, start, end uint64) uint64 {
	weight := v.Weight
	type change struct {
		at     uint64
		weight int64
	}
	var changes []change
	for _, d := range s.delegators[v.key()] {
		weight += d.Weight
		changes = append(changes, change{d.End, -int64(d.Weight)})
	}
	for _, d := range pending.delegators[v.key()] {
		changes = append(changes, change{d.Start, int64(d.Weight)}, change{d.End, -int64(d.Weight)})
	}
	// At the same time, ends come before starts.
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
