package evm

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
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

// Register adds the operations about the EVM chains to a server.
func Register(server *rest.Server, b *data.Base) error {
	views := &tokenViews{b, lru.NewCache[string, *metadata](data.Kept / 4)}
	c := &chainAPI{
		tokenViews: views,
		blocks:     newBlockReader(b.World.DB),
		calls:      lru.NewCache[store.Position, *callFacts](data.Kept),
		transfers:  lru.NewCache[store.Position, *transferFacts](data.Kept),
		whole:      lru.NewCache[txName, *wholeFacts](data.Kept / 4),
	}
	t := &tokenAPI{views}
	return server.Register(rest.Data, slices.Concat(
		c.chainOperations(), c.blockOperations(), c.transactionOperations(), c.internalOperations(), c.transferOperations(),
		c.historyOperations(), c.contractOperations(), t.balanceOperations(), t.nftBalanceOperations(), t.nftOperations(), c.addressOperations(),
	)...)
}
