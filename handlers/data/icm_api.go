package data

import (
	"slices"

	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/handlers"
	"snowglobe/sim/store"
)

// icmAPI answers about interchain messages.
type icmAPI struct {
	*base
	logs  *lru.Cache[store.Position, *teleporterLog]
	spent *lru.Cache[store.Position, IcmSourceTransaction]
}

// signatureAPI aggregates the signatures of validators.
type signatureAPI struct {
	*base
	options Options
}

// registerICM adds the operations about interchain messages to a server.
func registerICM(server *handlers.Server, b *base, o Options) error {
	a := &icmAPI{b, lru.NewCache[store.Position, *teleporterLog](kept / 4), lru.NewCache[store.Position, IcmSourceTransaction](kept / 4)}
	s := &signatureAPI{b, o}
	return server.Register(handlers.Data, slices.Concat(s.signatureOperations(), a.icmOperations())...)
}
