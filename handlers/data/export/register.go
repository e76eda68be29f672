package export

import (
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/export"
)

// exportAPI starts exports of transactions, and serves their files.
type exportAPI struct {
	*data.Base
	exports *export.Jobs
}

// Register adds the operations about exports to a server.
func Register(server *rest.Server, b *data.Base, exports *export.Jobs) error {
	a := &exportAPI{b, exports}
	if err := server.Register(rest.Data, a.operationOperations()...); err != nil {
		return err
	}
	return server.Register(rest.Sim, a.fileOperations()...)
}
