package staking

import (
	"slices"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
)

// stakingAPI serves the operations on validators, delegators, L1 validators and rewards from the staker index.
type stakingAPI struct{ *data.Base }

// Register adds the operations on stakers to a server.
func Register(server *rest.Server, b *data.Base) error {
	a := &stakingAPI{b}
	return server.Register(rest.Data, slices.Concat(
		a.validatorOperations(), a.delegatorOperations(), a.l1ValidatorOperations(), a.networkOperations(), a.rewardOperations(),
	)...)
}
