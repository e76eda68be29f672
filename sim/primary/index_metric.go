package primary

import (
	"bytes"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/metric"
	"snowglobe/sim/pchain"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

func stakeOf(s *pchain.Staker) metric.Stake {
	if s.Delegator {
		return metric.DelegatorStake(s.Weight)
	}
	return metric.ValidatorStake(1, s.Weight)
}

// stake sums the block's changes of a subnet's stake.
func (r *record) stake(subnet ids.ID, change metric.Stake) {
	for i := range r.delta.Stakes {
		if c := &r.delta.Stakes[i]; bytes.Equal(c.Subnet, subnet[:]) {
			c.Stake = c.Plus(change)
			return
		}
	}
	r.delta.Stakes = append(r.delta.Stakes, store.StakeChange{Subnet: bytes.Clone(subnet[:]), Stake: change})
}

// l1Validator is an L1 validator that was not removed, with the fields that the metrics of stake and of the continuous fee need.
type l1Validator struct {
	number            store.UTXONumber
	weight            uint64
	endAccumulatedFee uint64
	activeSince       uint64 // when it became active, if it is
	lastActive        uint64 // a second in which it was active before that
}

// pays reports whether a validator was or is active in a second of a day or later.
func (v *l1Validator) pays(day uint64) bool { return v.endAccumulatedFee > 0 || v.lastActive >= day }

// l1Metrics counts an L1 validator's change. outOfBalance means that its balance ran out, rather than that a transaction deactivated it.
func (r *record) l1Metrics(old *l1Validator, v *pchain.L1Validator, outOfBalance bool) {
	change := metric.ValidatorStake(0, v.Weight-old.weight)
	switch {
	case old.weight == 0:
		change.Validators = 1
	case v.Weight == 0:
		change.Validators = -1
	}
	r.stake(v.SubnetID, change)
	old.weight = v.Weight
	if fees := r.payment(old, v.EndAccumulatedFee, outOfBalance); fees != (metric.ContinuousFee{}) {
		for _, payer := range [][]byte{nil, v.SubnetID[:], v.NodeID[:], v.ValidationID[:]} {
			r.fee(payer, fees)
		}
	}
}

// activate makes a validator active or inactive at a time.
func (v *l1Validator) activate(endAccumulatedFee, time uint64) {
	switch was, is := v.endAccumulatedFee > 0, endAccumulatedFee > 0; {
	case is && !was:
		v.activeSince = time
	case was && !is && v.activeSince < time:
		v.lastActive = time - 1
	}
	v.endAccumulatedFee = endAccumulatedFee
}

// payment activates or deactivates a validator and returns the change of the fees of its payers (the validation, its node, its subnet and
// the network).
func (r *record) payment(v *l1Validator, endAccumulatedFee uint64, outOfBalance bool) (f metric.ContinuousFee) {
	today, before := uint64(metric.Day.Start(int64(r.P.Time()))), *v
	_, accrued := r.P.ValidatorFees()
	v.activate(endAccumulatedFee, r.P.Time())
	switch was, is := before.endAccumulatedFee > 0, endAccumulatedFee > 0; {
	case is && !was:
		f = metric.ContinuousFee{Active: 1, Base: -accrued}
	case was && !is && outOfBalance:
		f = metric.ContinuousFee{Active: -1, Base: before.endAccumulatedFee}
	case was && !is:
		f = metric.ContinuousFee{Active: -1, Base: accrued}
	}
	switch was, is := before.pays(today), v.pays(today); {
	case is && !was:
		f.Paying = 1
	case was && !is:
		f.Paying = -1
	}
	return f
}

// fee sums the block's changes of a payer's fees.
func (r *record) fee(payer []byte, change metric.ContinuousFee) {
	for i := range r.delta.Fees {
		if c := &r.delta.Fees[i]; bytes.Equal(c.Payer, payer) {
			c.ContinuousFee = c.Plus(change)
			return
		}
	}
	r.delta.Fees = append(r.delta.Fees, store.FeeChange{Payer: append([]byte{}, payer...), ContinuousFee: change})
}

// ValidatorFeeStateOf returns the state of the continuous fee after a block of the P-Chain.
func ValidatorFeeStateOf(b *store.PrimaryBlock) rules.ValidatorFeeState {
	return rules.ValidatorFeeState{Time: uint64(b.Time), Accrued: uint64(b.AccruedFees), Excess: b.L1Excess, Active: b.L1Active}
}

// accrueValidatorFees records the accrued fee at the end of each day that has ended since the previous block.
func (r *record) accrueValidatorFees(b *store.PrimaryBlock) rules.ValidatorFeeState {
	m := r.tips[r.chain].validatorFees
	day := metric.Day.Start(int64(m.Time))
	for next := metric.Day.Next(day); r.height > 0 && next <= b.Time; day, next = next, metric.Day.Next(next) {
		m = m.At(&r.Rules.ValidatorFees, uint64(next))
		r.delta.AccruedFees = append(r.delta.AccruedFees, store.AccruedFee{Day: day, Accrued: store.Amount(m.Accrued)})
	}
	return ValidatorFeeStateOf(b)
}
