package icm

import (
	"slices"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/cache"
	"snowglobe/sim/store"
)

// icmAPI serves the operations on interchain messages.
type icmAPI struct {
	*data.Base
	logs  *cache.Cache[store.Position, *teleporterLog]
	spent *cache.Cache[store.Position, IcmSourceTransaction]
}

// signatureAPI aggregates the signatures of validators.
type signatureAPI struct {
	*data.Base
	options data.Options
}

// Register adds the operations on interchain messages to a server.
func Register(server *rest.Server, b *data.Base, o data.Options) error {
	a := &icmAPI{b, cache.New[store.Position, *teleporterLog](b.World.DB.Caches()), cache.New[store.Position, IcmSourceTransaction](b.World.DB.Caches())}
	s := &signatureAPI{b, o}
	return server.Register(rest.Data, slices.Concat(s.signatureOperations(), a.icmOperations())...)
}
