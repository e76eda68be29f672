package data

import (
	"slices"
	"sync"

	"snowglobe/handlers"
	"snowglobe/sim"
)

// stakingAPI answers about validators, delegators, L1 validators and rewards, from the staker index.
type stakingAPI struct {
	*base
	mu  sync.Mutex
	now map[string]*stakerJSON
}

// stakerJSON is what was written of an index's entries, by their numbers.
type stakerJSON struct {
	index        *stakerIndex
	validators   []cachedJSON
	delegators   []cachedJSON
	l1Validators []cachedJSON
}

// registerStaking adds the operations about stakers to a server.
func registerStaking(server *handlers.Server, b *base) error {
	a := &stakingAPI{base: b, now: map[string]*stakerJSON{}}
	return server.Register(handlers.Data, slices.Concat(
		a.validatorOperations(), a.delegatorOperations(), a.l1ValidatorOperations(), a.networkOperations(), a.rewardOperations(),
	)...)
}

// json is what was written of the entries of a network's present index.
func (a *stakingAPI) json(l *sim.Ledger, index *stakerIndex) *stakerJSON {
	a.mu.Lock()
	defer a.mu.Unlock()
	if j := a.now[l.Network]; j != nil && j.index == index {
		return j
	}
	j := &stakerJSON{index, make([]cachedJSON, len(index.validators)), make([]cachedJSON, len(index.delegators)), make([]cachedJSON, len(index.l1))}
	a.now[l.Network] = j
	return j
}
