package staking

import (
	"slices"
	"sync"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/query"
)

// stakingAPI serves the operations on validators, delegators, L1 validators and rewards from the staker index.
type stakingAPI struct {
	*data.Base
	mu  sync.Mutex
	now map[string]*stakerJSON
}

// stakerJSON caches the encoded entries of an index by their numbers.
type stakerJSON struct {
	index        *query.StakerIndex
	validators   []data.CachedJSON
	delegators   []data.CachedJSON
	l1Validators []data.CachedJSON
}

// Register adds the operations on stakers to a server.
func Register(server *rest.Server, b *data.Base) error {
	a := &stakingAPI{Base: b, now: map[string]*stakerJSON{}}
	return server.Register(rest.Data, slices.Concat(
		a.validatorOperations(), a.delegatorOperations(), a.l1ValidatorOperations(), a.networkOperations(), a.rewardOperations(),
	)...)
}

// json returns the encoded entries of a network's present index.
func (a *stakingAPI) json(n *sim.Network, index *query.StakerIndex) *stakerJSON {
	a.mu.Lock()
	defer a.mu.Unlock()
	if j := a.now[n.Name]; j != nil && j.index == index {
		return j
	}
	j := &stakerJSON{index, make([]data.CachedJSON, len(index.Validators)), make([]data.CachedJSON, len(index.Delegators)), make([]data.CachedJSON, len(index.L1))}
	a.now[n.Name] = j
	return j
}
