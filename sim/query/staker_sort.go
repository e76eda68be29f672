package query

import (
	"bytes"
	"cmp"
	"slices"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// NoValue sorts missing values below everything else.
const NoValue = -1

// sort builds every order that a list may have. Ties go by transaction hash, descending too.
func (x *StakerIndex) sort(n *sim.Network) {
	validators, delegators := map[uint64]*ValidatorEntry{}, map[uint64]*DelegatorEntry{}
	for _, v := range x.Validators {
		validators[CursorOfTx(v.ID)] = v
	}
	for _, d := range x.Delegators {
		delegators[CursorOfTx(d.ID)] = d
	}
	slices.SortFunc(x.Delegators, compareDelegators)
	x.Delegated = newOrderedKeyset(x.Delegators, func(d *DelegatorEntry) uint64 { return CursorOfTx(d.ID) }, compareDelegators,
		func(cursor uint64) *DelegatorEntry { return delegators[cursor] })
	x.Orders = map[string]Keyset[ValidatorEntry]{}
	for name, key := range sortKeys {
		compare := func(a, b *ValidatorEntry) int {
			return cmp.Or(cmp.Compare(key(n, b), key(n, a)), bytes.Compare(b.Tx, a.Tx))
		}
		order := slices.SortedFunc(slices.Values(x.Validators), compare)
		x.Orders[name] = newOrderedKeyset(order, func(v *ValidatorEntry) uint64 { return CursorOfTx(v.ID) }, compare,
			func(cursor uint64) *ValidatorEntry { return validators[cursor] })
	}
}

// compareDelegators puts the newest block first, and within a block the highest hash.
func compareDelegators(a, b *DelegatorEntry) int {
	return cmp.Or(cmp.Compare(b.ID.Number(), a.ID.Number()), bytes.Compare(b.Tx, a.Tx))
}

// sortKeys lists the sort keys of validators. A later end means more time remaining, whatever the clock says.
var sortKeys = map[string]func(*sim.Network, *ValidatorEntry) int64{
	"blockIndex":         func(_ *sim.Network, v *ValidatorEntry) int64 { return int64(v.ID.Number()) },
	"delegationCapacity": func(n *sim.Network, v *ValidatorEntry) int64 { return v.Capacity(n) },
	"timeRemaining":      func(_ *sim.Network, v *ValidatorEntry) int64 { return v.End },
	"delegationFee":      func(_ *sim.Network, v *ValidatorEntry) int64 { return v.Fee() },
	"uptimePerformance":  func(_ *sim.Network, v *ValidatorEntry) int64 { return v.Uptime() },
}

// Capacity returns how much more nAVAX an active validator of the primary network can be delegated.
func (v *ValidatorEntry) Capacity(n *sim.Network) int64 {
	if v.StatusNow != store.StakerActive || !OnPrimaryNetwork(v.Subnet) {
		return NoValue
	}
	most, used := n.Rules.Staking.MaxWeight(uint64(v.Weight)), uint64(v.Weight)+v.Delegated
	return int64(most - min(used, most))
}

// Fee returns a primary network validator's share of its delegators' rewards, of a million.
func (v *ValidatorEntry) Fee() int64 {
	if !OnPrimaryNetwork(v.Subnet) {
		return NoValue
	}
	return int64(v.Shares)
}

// Uptime returns the share of time an active validator's node was up, of a million.
func (v *ValidatorEntry) Uptime() int64 {
	if v.StatusNow != store.StakerActive || v.NodeInfo == nil {
		return NoValue
	}
	return int64(v.NodeInfo.Uptime)
}

// Remaining returns the seconds left to an active or pending validator.
func (v *ValidatorEntry) Remaining(now int64) int64 {
	if v.StatusNow != store.StakerActive && v.StatusNow != store.StakerPending {
		return NoValue
	}
	return max(v.End-now, 0)
}
