package data

import (
	"snowglobe/handlers"
	"snowglobe/sim"
)

// exportAPI starts exports of transactions, and serves their files.
type exportAPI struct {
	*base
	exports *sim.Exports
}

// registerExport adds the operations about exports to a server.
func registerExport(server *handlers.Server, b *base, exports *sim.Exports) error {
	a := &exportAPI{b, exports}
	if err := server.Register(handlers.Data, a.operationOperations()...); err != nil {
		return err
	}
	return server.Register(handlers.Sim, a.fileOperations()...)
}
