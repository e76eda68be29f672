package evm

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/cache"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// chainAPI serves the operations on blocks, transactions and contracts.
type chainAPI struct {
	*tokenViews
	blocks    *blockReader
	calls     *cache.Cache[store.Position, *callFacts]
	transfers *cache.Cache[store.Position, *transferFacts]
	whole     *cache.Cache[txName, *wholeFacts]
}

// txName is a transaction's hash on a chain.
type txName struct {
	chain int
	hash  common.Hash
}

// tokenAPI serves the operations on balances and NFTs.
type tokenAPI struct {
	*tokenViews
	holdings  *query.Holdings
	reindexes reindexes
}

// Register adds the operations on EVM chains to a server.
func Register(server *rest.Server, b *data.Base) error {
	views := &tokenViews{Base: b, metadata: cache.New[string, *metadata](b.World.DB.Caches())}
	c := &chainAPI{
		tokenViews: views,
		blocks:     newBlockReader(b.World.DB),
		calls:      cache.New[store.Position, *callFacts](b.World.DB.Caches()),
		transfers:  cache.New[store.Position, *transferFacts](b.World.DB.Caches()),
		whole:      cache.New[txName, *wholeFacts](b.World.DB.Caches()),
	}
	t := &tokenAPI{tokenViews: views, holdings: query.NewHoldings(b.World.DB)}
	return server.Register(rest.Data, slices.Concat(
		c.chainOperations(), c.blockOperations(), c.transactionOperations(), c.internalOperations(), c.transferOperations(),
		c.historyOperations(), c.contractOperations(), t.balanceOperations(), t.nftBalanceOperations(), t.nftOperations(), c.addressOperations(),
	)...)
}
