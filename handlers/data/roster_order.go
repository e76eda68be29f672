package data

import (
	"bytes"
	"cmp"
	"slices"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// noValue is where what has no value is sorted: below everything else.
const noValue = -1

// sort puts the stakers in every order that a list may have. Ties go by transaction hash, descending too.
func (x *stakerIndex) sort(l *sim.Ledger) {
	validators, delegators := map[uint64]*validatorEntry{}, map[uint64]*delegatorEntry{}
	for _, v := range x.validators {
		validators[cursorOfTx(v.ID)] = v
	}
	for _, d := range x.delegators {
		delegators[cursorOfTx(d.ID)] = d
	}
	slices.SortFunc(x.delegators, compareDelegators)
	x.delegated = newOrderedKeyset(x.delegators, func(d *delegatorEntry) uint64 { return cursorOfTx(d.ID) }, compareDelegators,
		func(cursor uint64) *delegatorEntry { return delegators[cursor] })
	x.orders = map[string]keyset[validatorEntry]{}
	for name, key := range sortKeys {
		compare := func(a, b *validatorEntry) int {
			return cmp.Or(cmp.Compare(key(l, b), key(l, a)), bytes.Compare(b.Tx, a.Tx))
		}
		order := slices.SortedFunc(slices.Values(x.validators), compare)
		x.orders[name] = newOrderedKeyset(order, func(v *validatorEntry) uint64 { return cursorOfTx(v.ID) }, compare,
			func(cursor uint64) *validatorEntry { return validators[cursor] })
	}
}

// compareDelegators puts the newest block first, and within a block the highest hash.
func compareDelegators(a, b *delegatorEntry) int {
	return cmp.Or(cmp.Compare(b.ID.Number(), a.ID.Number()), bytes.Compare(b.Tx, a.Tx))
}

// sortKeys are what validators can be sorted by. What ends later has more time remaining, whatever the clock says.
var sortKeys = map[string]func(*sim.Ledger, *validatorEntry) int64{
	"blockIndex":         func(_ *sim.Ledger, v *validatorEntry) int64 { return int64(v.ID.Number()) },
	"delegationCapacity": func(l *sim.Ledger, v *validatorEntry) int64 { return v.capacity(l) },
	"timeRemaining":      func(_ *sim.Ledger, v *validatorEntry) int64 { return v.End },
	"delegationFee":      func(_ *sim.Ledger, v *validatorEntry) int64 { return v.fee() },
	"uptimePerformance":  func(_ *sim.Ledger, v *validatorEntry) int64 { return v.uptime() },
}

// capacity is how much more nAVAX may be delegated to an active validator of the primary network.
func (v *validatorEntry) capacity(l *sim.Ledger) int64 {
	if v.status != store.StakerActive || !onPrimaryNetwork(v.Subnet) {
		return noValue
	}
	most, used := l.Rules.Staking.MaxWeight(uint64(v.Weight)), uint64(v.Weight)+v.delegated
	return int64(most - min(used, most))
}

// fee is what a validator of the primary network keeps of its delegators' rewards, of a million.
func (v *validatorEntry) fee() int64 {
	if !onPrimaryNetwork(v.Subnet) {
		return noValue
	}
	return int64(v.Shares)
}

// uptime is how much of the time the node of an active validator answered, of a million.
func (v *validatorEntry) uptime() int64 {
	if v.status != store.StakerActive || v.node == nil {
		return noValue
	}
	return int64(v.node.Uptime)
}

// remaining is how many seconds are left to who validates or will.
func (v *validatorEntry) remaining(now int64) int64 {
	if v.status != store.StakerActive && v.status != store.StakerPending {
		return noValue
	}
	return max(v.End-now, 0)
}
