package handlers

import (
	"errors"

	"snowglobe/handlers/control"
	"snowglobe/handlers/data"
	"snowglobe/handlers/data/evm"
	dataexport "snowglobe/handlers/data/export"
	"snowglobe/handlers/data/icm"
	"snowglobe/handlers/data/primary"
	"snowglobe/handlers/data/staking"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/export"
)

// RegisterData registers the Data API's operations with a server, and the resources that its responses link to. The caller runs the
// exports.
func RegisterData(server *rest.Server, world *sim.World, exports *export.Jobs, o data.Options) error {
	b := data.NewBase(world, o)
	return errors.Join(data.RegisterHealth(server, b), evm.Register(server, b), primary.Register(server, b), staking.Register(server, b),
		icm.Register(server, b, o), dataexport.Register(server, b, exports), control.RegisterAssets(server, world))
}
