package icm

import (
	"slices"

	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/store"
)

// icmAPI answers about interchain messages.
type icmAPI struct {
	*data.Base
	logs  *lru.Cache[store.Position, *teleporterLog]
	spent *lru.Cache[store.Position, IcmSourceTransaction]
}

// signatureAPI aggregates the signatures of validators.
type signatureAPI struct {
	*data.Base
	options data.Options
}

// Register adds the operations about interchain messages to a server.
func Register(server *rest.Server, b *data.Base, o data.Options) error {
	a := &icmAPI{b, lru.NewCache[store.Position, *teleporterLog](data.Kept / 4), lru.NewCache[store.Position, IcmSourceTransaction](data.Kept / 4)}
	s := &signatureAPI{b, o}
	return server.Register(rest.Data, slices.Concat(s.signatureOperations(), a.icmOperations())...)
}
