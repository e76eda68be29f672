package query

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// compareEnds sorts stakers by leaving time: by end, delegators before validators, then by transaction, as avalanchego's state.Staker.Less
// does.
func compareEnds(a, b *store.Staker) int {
	delegators := 0
	switch {
	case a.Delegator && !b.Delegator:
		delegators = -1
	case b.Delegator && !a.Delegator:
		delegators = 1
	}
	return cmp.Or(cmp.Compare(a.End, b.End), delegators, bytes.Compare(a.Tx, b.Tx))
}

// ValidatorsOf returns a subnet's validators with a status, by leaving time.
func (x *StakerIndex) ValidatorsOf(subnet ids.ID, status int) []*ValidatorEntry {
	var some []*ValidatorEntry
	for _, v := range x.Validators {
		if v.StatusNow == status && ids.ID(v.Subnet) == subnet {
			some = append(some, v)
		}
	}
	slices.SortFunc(some, func(a, b *ValidatorEntry) int { return compareEnds(&a.Staker, &b.Staker) })
	return some
}

// DelegatorsOf returns a subnet's delegators with a status, by leaving time.
func (x *StakerIndex) DelegatorsOf(subnet ids.ID, status int) []*DelegatorEntry {
	var some []*DelegatorEntry
	for _, d := range x.Delegators {
		if d.StatusNow == status && ids.ID(d.Subnet) == subnet {
			some = append(some, d)
		}
	}
	slices.SortFunc(some, func(a, b *DelegatorEntry) int { return compareEnds(&a.Staker, &b.Staker) })
	return some
}

// Staked returns the primary network's stakers whose stake has begun and not been returned, and the pending ones, each by leaving time.
// Returning a stake takes a block, which may come after the stake's end.
func (x *StakerIndex) Staked() (locked, pending []*store.Staker) {
	add := func(s *store.Staker, status int) {
		switch {
		case !OnPrimaryNetwork(s.Subnet):
		case status == store.StakerPending:
			pending = append(pending, s)
		case s.Ended == nil:
			locked = append(locked, s)
		}
	}
	for _, v := range x.Validators {
		add(&v.Staker, v.StatusNow)
	}
	for _, d := range x.Delegators {
		add(&d.Staker, d.StatusNow)
	}
	slices.SortFunc(locked, compareEnds)
	slices.SortFunc(pending, compareEnds)
	return locked, pending
}

// L1ValidatorsOf returns an L1's validators that were not removed, inactive ones included, oldest first.
func (x *StakerIndex) L1ValidatorsOf(subnet ids.ID) []*L1Entry {
	var some []*L1Entry
	for _, v := range slices.Backward(x.L1) {
		if v.Weight > 0 && ids.ID(v.Subnet) == subnet {
			some = append(some, v)
		}
	}
	return some
}

// L1ValidatorByID returns the L1 validator with a validation id, even a removed one, or nil.
func (x *StakerIndex) L1ValidatorByID(validation ids.ID) *L1Entry {
	if i := slices.IndexFunc(x.L1, func(v *L1Entry) bool { return ids.ID(v.Validation) == validation }); i >= 0 {
		return x.L1[i]
	}
	return nil
}

// Node returns a validator's node; an unknown one was never up.
func (x *StakerIndex) Node(id ids.NodeID) store.Node {
	if node := x.nodes[id]; node != nil {
		return *node
	}
	return store.Node{}
}

// ValidatorSet returns a subnet's validators at the world's clock: time alone begins and ends staking, and uses up balances.
// sim.Network.ValidatorsAt does the same for a height. Validators of a permissioned subnet sign with their key on the primary network. Like
// avalanchego's GetValidatorSet, it merges inactive L1 validators under the empty node id, without a key.
func (x *StakerIndex) ValidatorSet(subnet ids.ID) []sim.Validator {
	keys := map[ids.NodeID][]byte{}
	for _, v := range x.ValidatorsOf(ids.Empty, store.StakerActive) {
		keys[ids.NodeID(v.Node)] = v.BLS
	}
	set := sim.NewValidatorSet()
	for _, v := range x.ValidatorsOf(subnet, store.StakerActive) {
		node := ids.NodeID(v.Node)
		set.Add(node, keys[node], uint64(v.Weight)+v.Delegated)
	}
	for _, v := range x.L1ValidatorsOf(subnet) {
		if x.L1Balance(v.L1ValidatorView) == 0 {
			set.Add(ids.EmptyNodeID, nil, uint64(v.Weight))
		} else {
			set.Add(ids.NodeID(v.Node), v.BLS, uint64(v.Weight))
		}
	}
	return set.All
}
