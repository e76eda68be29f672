package primary

import (
	"slices"

	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// Service answers about the primary chains: blocks, transactions, UTXOs and assets.
type primaryAPI struct {
	*data.Base
	cBlocks     *lru.Cache[store.Position, data.RawJSON]  // of C-Chains
	blocks      *lru.Cache[store.Position, data.RawJSON]  // of P- and X-Chains
	txs         *lru.Cache[store.Position, *cachedTx]     // of primary chains
	credentials *lru.Cache[store.Position, txCredentials] // of their transactions
	outputs     *lru.Cache[outputKey, []byte]
}

// subnetAPI answers about subnets and their blockchains.
type subnetAPI struct{ *data.Base }

// Register adds the operations about the primary network to a server.
func Register(server *rest.Server, b *data.Base) error {
	p := &primaryAPI{
		Base:        b,
		cBlocks:     lru.NewCache[store.Position, data.RawJSON](data.Kept / 4),
		blocks:      lru.NewCache[store.Position, data.RawJSON](data.Kept / 4),
		txs:         lru.NewCache[store.Position, *cachedTx](data.Kept / 4),
		credentials: lru.NewCache[store.Position, txCredentials](data.Kept / 16),
		outputs:     lru.NewCache[outputKey, []byte](data.Kept),
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
