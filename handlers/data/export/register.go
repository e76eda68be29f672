package export

import (
	"slices"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/export"
)

// exportAPI starts exports of transactions and serves their files.
type exportAPI struct {
	*data.Base
	exports *export.Jobs
}

// Register adds the export operations to a server.
func Register(server *rest.Server, b *data.Base, exports *export.Jobs) error {
	a := &exportAPI{b, exports}
	return server.Register(rest.Data, slices.Concat(a.operationOperations(), a.fileOperations())...)
}
