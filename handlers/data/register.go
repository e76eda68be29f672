package data

import (
	"snowglobe/handlers"
	"snowglobe/sim"
)

// Register adds the Data API's operations to a server, and the resources that its answers link to. Somebody else lets the
// exports run.
func Register(server *handlers.Server, world *sim.World, exports *sim.Exports, o Options) error {
	b := newBase(world)
	for _, register := range []func() error{
		func() error { return registerHealth(server, b) },
		func() error { return registerEVM(server, b) },
		func() error { return registerPrimary(server, b) },
		func() error { return registerStaking(server, b) },
		func() error { return registerICM(server, b, o) },
		func() error { return registerExport(server, b, exports) },
		func() error { return registerAssets(server, world) },
	} {
		if err := register(); err != nil {
			return err
		}
	}
	return nil
}
