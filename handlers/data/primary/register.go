package primary

import (
	"slices"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// Service answers about the primary chains: blocks, transactions, UTXOs and assets.
type primaryAPI struct {
	*data.Base
	cBlocks     *cache.Cache[store.Position, data.RawJSON]  // of C-Chains
	blocks      *cache.Cache[store.Position, data.RawJSON]  // of P- and X-Chains
	txs         *cache.Cache[store.Position, *cachedTx]     // of primary chains
	credentials *cache.Cache[store.Position, txCredentials] // of their transactions
	outputs     *cache.Cache[outputKey, []byte]
}

// subnetAPI answers about subnets and their blockchains.
type subnetAPI struct{ *data.Base }

// Register adds the operations about the primary network to a server.
func Register(server *rest.Server, b *data.Base) error {
	p := &primaryAPI{
		Base:        b,
		cBlocks:     cache.New[store.Position, data.RawJSON](),
		blocks:      cache.New[store.Position, data.RawJSON](),
		txs:         cache.New[store.Position, *cachedTx](),
		credentials: cache.New[store.Position, txCredentials](),
		outputs:     cache.New[outputKey, []byte](),
	}
	s, supply := &subnetAPI{b}, &supplyAPI{Base: b}
	return server.Register(rest.Data, slices.Concat(
		p.primaryBlockOperations(), p.interactionOperations(), s.blockchainOperations(), s.subnetOperations(), p.vertexOperations(),
		p.assetOperations(), p.primaryTransactionOperations(), p.utxoOperations(), p.primaryBalanceOperations(), p.lastActivityOperations(),
		supply.supplyOperations(),
	)...)
}

// chainView shows what a network's primary chains hold as answers show it.
type chainView struct {
	*query.ChainReader
	api *primaryAPI
}

func (a *primaryAPI) view(r *rest.Request, n *sim.Network) *chainView {
	return &chainView{a.Readers.Reader(r.Context(), n), a}
}
