package handlers

import (
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
	for _, register := range []func() error{
		func() error { return data.RegisterHealth(server, b) },
		func() error { return evm.Register(server, b) },
		func() error { return primary.Register(server, b) },
		func() error { return staking.Register(server, b) },
		func() error { return icm.Register(server, b, o) },
		func() error { return dataexport.Register(server, b, exports) },
		func() error { return control.RegisterAssets(server, world) },
	} {
		if err := register(); err != nil {
			return err
		}
	}
	return nil
}
