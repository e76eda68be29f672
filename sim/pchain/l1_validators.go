package pchain

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/utxo"
)

// l1Validators holds the L1 validators and the continuous fee of the active ones (ACP-77).
type l1Validators struct {
	journal    *utxo.Journal
	fee        *rules.ValidatorFeeConfig
	excess     uint64 // of the continuous fee
	accrued    uint64 // total fee of an L1 validator that was always active
	byID       map[ids.ID]*L1Validator
	bySubnet   map[ids.ID][]*L1Validator // oldest first
	active     []*L1Validator            // by EndAccumulatedFee
	registered map[ids.ID]uint64         // expiry of used registration messages
}

func newL1Validators(journal *utxo.Journal, fee *rules.ValidatorFeeConfig, at Snapshot) *l1Validators {
	l := &l1Validators{
		journal: journal, fee: fee, excess: at.Excess, accrued: at.Accrued,
		byID: make(map[ids.ID]*L1Validator), bySubnet: make(map[ids.ID][]*L1Validator), registered: make(map[ids.ID]uint64),
	}
	for _, v := range at.L1Validators {
		l.byID[v.ValidationID] = v
		l.bySubnet[v.SubnetID] = append(l.bySubnet[v.SubnetID], v)
		l.activate(v)
	}
	maps.Copy(l.registered, at.Registered)
	return l
}

// nextChange returns when the first balance is used up, if that is before next.
func (l *l1Validators) nextChange(now, next uint64) uint64 {
	if len(l.active) == 0 || next <= now {
		return next
	}
	funds := l.active[0].EndAccumulatedFee - l.accrued
	return now + l.fee.Seconds(uint64(len(l.active)), l.excess, funds, next-now)
}

// charge adds the continuous fee of some seconds to the accrued fee.
func (l *l1Validators) charge(seconds uint64) {
	cost, excess := l.fee.Cost(uint64(len(l.active)), l.excess, seconds)
	utxo.Set(l.journal, &l.accrued, l.accrued+cost)
	utxo.Set(l.journal, &l.excess, excess)
}

// afterNextSecond returns the accrued fee one second later.
func (l *l1Validators) afterNextSecond() uint64 {
	cost, _ := l.fee.Cost(uint64(len(l.active)), l.excess, 1)
	return l.accrued + cost
}

// exceeds reports whether so many more active validators would be too many.
func (l *l1Validators) exceeds(more int) bool { return uint64(len(l.active)+more) > l.fee.Capacity }

// endOf returns the accrued fee at which a new balance is used up; 0 for none.
func (l *l1Validators) endOf(balance uint64) uint64 {
	if balance == 0 {
		return 0
	}
	return balance + l.accrued
}

func (l *l1Validators) has(subnetID ids.ID, nodeID ids.NodeID) bool {
	return slices.ContainsFunc(l.bySubnet[subnetID], func(v *L1Validator) bool { return v.NodeID == nodeID })
}

// weight returns the weight of an L1's validators, active or not.
func (l *l1Validators) weight(subnetID ids.ID) (total uint64) {
	for _, v := range l.bySubnet[subnetID] {
		total += v.Weight
	}
	return total
}

// register stores the expiry of a RegisterL1Validator message, so that it cannot be used again (ACP-77).
func (l *l1Validators) register(validationID ids.ID, expiry uint64) {
	utxo.Put(l.journal, l.registered, validationID, expiry)
}

// expire deletes expired RegisterL1Validator messages, which cannot be used again anyway.
func (l *l1Validators) expire(now uint64) {
	for _, validationID := range slices.SortedFunc(maps.Keys(l.registered), ids.ID.Compare) {
		if l.registered[validationID] <= now {
			utxo.Delete(l.journal, l.registered, validationID)
		}
	}
}

func compareActive(a, b *L1Validator) int {
	return cmp.Or(cmp.Compare(a.EndAccumulatedFee, b.EndAccumulatedFee), bytes.Compare(a.ValidationID[:], b.ValidationID[:]))
}

// activate adds an L1 validator with a balance to the active ones.
func (l *l1Validators) activate(v *L1Validator) {
	if !v.Active() {
		return
	}
	i, _ := slices.BinarySearchFunc(l.active, v, compareActive)
	l.active = slices.Insert(l.active, i, v)
}

func (l *l1Validators) deactivate(v *L1Validator) {
	if i, found := slices.BinarySearchFunc(l.active, v, compareActive); found {
		l.active = slices.Delete(l.active, i, i+1)
	}
}

// put sets an L1 validator's new value; weight 0 removes it.
func (l *l1Validators) put(v *L1Validator) {
	old := l.byID[v.ValidationID]
	if old != nil {
		l.journal.OnRevert(func() { l.activate(old) })
		l.deactivate(old)
	}
	l.putOfSubnet(old, v)
	if v.Weight == 0 {
		utxo.Delete(l.journal, l.byID, v.ValidationID)
		return
	}
	utxo.Put(l.journal, l.byID, v.ValidationID, v)
	l.journal.OnRevert(func() { l.deactivate(v) })
	l.activate(v)
}

// putOfSubnet updates the list of a subnet's L1 validators. It copies the list, since the journal keeps the old one.
func (l *l1Validators) putOfSubnet(old, v *L1Validator) {
	list := slices.Clone(l.bySubnet[v.SubnetID])
	switch i := slices.Index(list, old); {
	case old == nil:
		list = append(list, v)
	case v.Weight == 0:
		list = slices.Delete(list, i, i+1)
	default:
		list[i] = v
	}
	utxo.Put(l.journal, l.bySubnet, v.SubnetID, list)
}
