package data

import (
	"slices"

	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// primaryAPI answers about the primary chains: blocks, transactions, UTXOs and assets.
type primaryAPI struct {
	*base
	cBlocks     *lru.Cache[store.Position, rawJSON]       // of C-Chains
	blocks      *lru.Cache[store.Position, rawJSON]       // of P- and X-Chains
	txs         *lru.Cache[store.Position, *cachedTx]     // of primary chains
	credentials *lru.Cache[store.Position, txCredentials] // of their transactions
	outputs     *lru.Cache[outputKey, []byte]
}

// subnetAPI answers about subnets and their blockchains.
type subnetAPI struct{ *base }

// registerPrimary adds the operations about the primary network to a server.
func registerPrimary(server *handlers.Server, b *base) error {
	p := &primaryAPI{
		base:        b,
		cBlocks:     lru.NewCache[store.Position, rawJSON](kept / 4),
		blocks:      lru.NewCache[store.Position, rawJSON](kept / 4),
		txs:         lru.NewCache[store.Position, *cachedTx](kept / 4),
		credentials: lru.NewCache[store.Position, txCredentials](kept / 16),
		outputs:     lru.NewCache[outputKey, []byte](kept),
	}
	s, supply := &subnetAPI{b}, &supplyAPI{base: b}
	return server.Register(handlers.Data, slices.Concat(
		p.primaryBlockOperations(), p.interactionOperations(), s.blockchainOperations(), s.subnetOperations(), p.vertexOperations(),
		p.assetOperations(), p.primaryTransactionOperations(), p.utxoOperations(), p.primaryBalanceOperations(), p.lastActivityOperations(),
		supply.supplyOperations(),
	)...)
}

// chainView shows what a network's primary chains hold as answers show it.
type chainView struct {
	*chainReader
	api *primaryAPI
}

func (a *primaryAPI) view(r *handlers.Request, l *sim.Ledger) *chainView {
	return &chainView{a.readers.reader(r.Context(), l), a}
}
