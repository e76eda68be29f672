package data

import (
	"bytes"
	"cmp"
	"slices"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// without is where what has no value is sorted: below everything else.
const without = -1

// sort puts the stakers in every order that a list may have. Ties go by transaction hash, descending too.
func (r *roster) sort(l *sim.Ledger) {
	stays, stakes := map[uint64]*validation{}, map[uint64]*delegation{}
	for _, v := range r.validations {
		stays[placeOnChain(v.ID)] = v
	}
	for _, d := range r.delegations {
		stakes[placeOnChain(d.ID)] = d
	}
	slices.SortFunc(r.delegations, compareDelegations)
	r.delegated = ordered(r.delegations, func(d *delegation) uint64 { return placeOnChain(d.ID) }, compareDelegations,
		func(place uint64) *delegation { return stakes[place] })
	r.orders = map[string]shelf[validation]{}
	for name, key := range sortKeys {
		compare := func(a, b *validation) int {
			return cmp.Or(cmp.Compare(key(l, b), key(l, a)), bytes.Compare(b.Tx, a.Tx))
		}
		order := slices.SortedFunc(slices.Values(r.validations), compare)
		r.orders[name] = ordered(order, func(v *validation) uint64 { return placeOnChain(v.ID) }, compare,
			func(place uint64) *validation { return stays[place] })
	}
}

// sortKeys are what validators can be sorted by. What ends later has more time remaining, whatever the clock says.
var sortKeys = map[string]func(*sim.Ledger, *validation) int64{
	"blockIndex":         func(_ *sim.Ledger, v *validation) int64 { return int64(v.ID.Number()) },
	"delegationCapacity": func(l *sim.Ledger, v *validation) int64 { return v.capacity(l) },
	"timeRemaining":      func(_ *sim.Ledger, v *validation) int64 { return v.End },
	"delegationFee":      func(_ *sim.Ledger, v *validation) int64 { return v.fee() },
	"uptimePerformance":  func(_ *sim.Ledger, v *validation) int64 { return v.uptime() },
}

// capacity is how much more nAVAX may be delegated to an active validator of the primary network.
func (v *validation) capacity(l *sim.Ledger) int64 {
	if v.status != store.StakerActive || !primaryNetwork(v.Subnet) {
		return without
	}
	most, used := l.Rules.Staking.MaxWeight(uint64(v.Weight)), uint64(v.Weight)+v.delegated
	return int64(most - min(used, most))
}

// fee is what a validator of the primary network keeps of its delegators' rewards, of a million.
func (v *validation) fee() int64 {
	if !primaryNetwork(v.Subnet) {
		return without
	}
	return int64(v.Shares)
}

// uptime is how much of the time the machine of an active validator answered, of a million.
func (v *validation) uptime() int64 {
	if v.status != store.StakerActive || v.node == nil {
		return without
	}
	return int64(v.node.Uptime)
}

// remaining is how many seconds are left to who validates or will.
func (v *validation) remaining(now int64) int64 {
	if v.status != store.StakerActive && v.status != store.StakerPending {
		return without
	}
	return max(v.End-now, 0)
}
