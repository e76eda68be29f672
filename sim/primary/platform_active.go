package primary

import (
	"bytes"
	"cmp"
	"slices"
)

// charge lets active L1 validators pay for seconds and deactivates those that cannot.
func (p *Platform) charge(seconds uint64) {
	cost, excess := p.Network.ValidatorFees.Cost(uint64(len(p.active)), p.excess, seconds)
	set(&p.journal, &p.accrued, p.accrued+cost)
	set(&p.journal, &p.excess, excess)
	p.deactivateBelow(p.accrued + 1)
}

// chargeable deactivates L1 validators that could not pay for one more second, so that time can go on.
func (p *Platform) chargeable() {
	cost, _ := p.Network.ValidatorFees.Cost(uint64(len(p.active)), p.excess, 1)
	p.deactivateBelow(p.accrued + cost)
}

func (p *Platform) deactivateBelow(end uint64) {
	for len(p.active) > 0 && p.active[0].EndAccumulatedFee < end {
		inactive := *p.active[0]
		inactive.EndAccumulatedFee = 0
		p.putL1(&inactive)
	}
}

func compareActive(a, b *L1Validator) int {
	return cmp.Or(cmp.Compare(a.EndAccumulatedFee, b.EndAccumulatedFee), bytes.Compare(a.ValidationID[:], b.ValidationID[:]))
}

// activate lists an L1 validator among those that pay, if it does.
func (p *Platform) activate(v *L1Validator) {
	if !v.Active() {
		return
	}
	i, _ := slices.BinarySearchFunc(p.active, v, compareActive)
	p.active = slices.Insert(p.active, i, v)
}

func (p *Platform) deactivate(v *L1Validator) {
	if i, found := slices.BinarySearchFunc(p.active, v, compareActive); found {
		p.active = slices.Delete(p.active, i, i+1)
	}
}

// putL1 gives an L1 validator a new value; weight 0 removes it.
func (p *Platform) putL1(v *L1Validator) {
	old := p.l1[v.ValidationID]
	if old != nil {
		p.onRevert(func() { p.activate(old) })
		p.deactivate(old)
	}
	p.putMember(old, v)
	if v.Weight == 0 {
		remove(&p.journal, p.l1, v.ValidationID)
	} else {
		put(&p.journal, p.l1, v.ValidationID, v)
		p.onRevert(func() { p.deactivate(v) })
		p.activate(v)
	}
	p.diff.L1Validators = append(p.diff.L1Validators, v)
}

// putMember keeps the list of a subnet's L1 validators. The list is copied, since the journal keeps the old one.
func (p *Platform) putMember(old, v *L1Validator) {
	list := slices.Clone(p.members[v.SubnetID])
	switch i := slices.Index(list, old); {
	case old == nil:
		list = append(list, v)
	case v.Weight == 0:
		list = slices.Delete(list, i, i+1)
	default:
		list[i] = v
	}
	put(&p.journal, p.members, v.SubnetID, list)
}
