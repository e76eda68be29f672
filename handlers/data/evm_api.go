package data

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/handlers"
	"snowglobe/sim/store"
)

// chainAPI answers about what happened on the EVM chains.
type chainAPI struct {
	*tokenViews
	blocks    *blockReader
	calls     *lru.Cache[store.Position, *callFacts]
	transfers *lru.Cache[store.Position, *transferFacts]
	whole     *lru.Cache[txName, *wholeFacts]
}

// txName is a transaction's hash on a chain.
type txName struct {
	chain int
	hash  common.Hash
}

// tokenAPI answers about what addresses hold, and about NFTs.
type tokenAPI struct{ *tokenViews }

// registerEVM adds the operations about the EVM chains to a server.
func registerEVM(server *handlers.Server, b *base) error {
	views := &tokenViews{b, lru.NewCache[string, *metadata](kept / 4)}
	c := &chainAPI{
		tokenViews: views,
		blocks:     newBlockReader(b.world.DB),
		calls:      lru.NewCache[store.Position, *callFacts](kept),
		transfers:  lru.NewCache[store.Position, *transferFacts](kept),
		whole:      lru.NewCache[txName, *wholeFacts](kept / 4),
	}
	t := &tokenAPI{views}
	return server.Register(handlers.Data, slices.Concat(
		c.chainOperations(), c.blockOperations(), c.transactionOperations(), c.internalOperations(), c.transferOperations(),
		c.historyOperations(), c.contractOperations(), t.balanceOperations(), t.nftBalanceOperations(), t.nftOperations(), c.addressOperations(),
	)...)
}
