package primary

import (
	"context"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Service serves the operations on the primary chains: blocks, transactions, UTXOs and assets.
type primaryAPI struct {
	*data.Base
	cBlocks     *cache.Cache[store.Position, data.RawJSON]  // of C-Chains
	blocks      *cache.Cache[store.Position, data.RawJSON]  // of P- and X-Chains
	txs         *cache.Cache[shownTx, *cachedTx]            // of primary chains
	credentials *cache.Cache[store.Position, txCredentials] // of their transactions
	outputs     *cache.Cache[outputKey, []byte]
}

func newPrimaryAPI(b *data.Base) *primaryAPI {
	return &primaryAPI{
		Base:        b,
		cBlocks:     cache.New[store.Position, data.RawJSON](b.World.DB.Caches()),
		blocks:      cache.New[store.Position, data.RawJSON](b.World.DB.Caches()),
		txs:         cache.New[shownTx, *cachedTx](b.World.DB.Caches()),
		credentials: cache.New[store.Position, txCredentials](b.World.DB.Caches()),
		outputs:     cache.New[outputKey, []byte](b.World.DB.Caches()),
	}
}

// Views gives other packages the primary chains' transactions and balances in the shape of responses.
type Views struct{ api *primaryAPI }

// NewViews returns the views of a world's chains.
func NewViews(b *data.Base) *Views { return &Views{newPrimaryAPI(b)} }

// Transaction returns a transaction in its chain's shape.
func (v *Views) Transaction(ctx context.Context, n *sim.Network, kind txs.Chain, at store.Position) (any, error) {
	view := &chainView{v.api.Readers.Reader(ctx, n), v.api, schema.Spec}
	t, err := view.TxUTXOs(kind, at)
	if err != nil {
		return nil, err
	}
	return view.transaction(t)
}

// Balance returns the balance of sorted addresses after a block, in the chain's shape, and its sums.
func (v *Views) Balance(ctx context.Context, n *sim.Network, kind txs.Chain, owners []ids.ShortID, height uint64) (any, *query.BalanceSum, error) {
	view := &chainView{v.api.Readers.Reader(ctx, n), v.api, schema.Spec}
	sum, err := view.BalancesAfter(kind, owners, height)
	if err != nil {
		return nil, nil, err
	}
	shown, err := view.balance(sum)
	return shown, sum, err
}

// subnetAPI serves the operations on subnets and their blockchains.
type subnetAPI struct{ *data.Base }

// Register adds the operations on the primary network to a server.
func Register(server *rest.Server, b *data.Base) error {
	p := newPrimaryAPI(b)
	s, supply := &subnetAPI{b}, &supplyAPI{b, cache.New[txs.Chain, burnedSum](b.World.DB.Caches())}
	return server.Register(rest.Data, slices.Concat(
		p.primaryBlockOperations(), p.interactionOperations(), s.blockchainOperations(), s.subnetOperations(), p.vertexOperations(),
		p.assetOperations(), p.primaryTransactionOperations(), p.utxoOperations(), p.primaryBalanceOperations(), p.lastActivityOperations(),
		supply.supplyOperations(),
	)...)
}

// chainView shows the contents of a network's primary chains in the shape of responses.
type chainView struct {
	*query.ChainReader
	api     *primaryAPI
	dialect schema.Dialect
}

func (a *primaryAPI) view(r *rest.Request, n *sim.Network) *chainView {
	return &chainView{a.Readers.Reader(r.Context(), n), a, r.Dialect()}
}
