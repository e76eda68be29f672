package eth

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"snowglobe/handlers/explain"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/permit"
	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/evm/txpool"
	"snowglobe/sim/miner"
)

// batchCalls multiplies one call's limits into those of a whole batch.
const batchCalls = 20

// remembered lists the methods whose results depend only on accepted blocks and the states after them, unless a call names the pending
// block.
var remembered = map[string]bool{
	"eth_blockNumber": true, "eth_capabilities": true, "eth_chainId": true, "eth_config": true, "eth_feeHistory": true, "eth_getAccount": true,
	"eth_getAccountInfo": true, "eth_getBalance": true, "eth_getBlockByHash": true, "eth_getBlockByNumber": true,
	"eth_getBlockReceipts": true, "eth_getBlockTransactionCountByHash": true, "eth_getBlockTransactionCountByNumber": true, "eth_getCode": true,
	"eth_getLogs": true, "eth_getStorageAt": true, "eth_getStorageValues": true, "eth_getTransactionCount": true, "eth_getTransactionReceipt": true, "net_version": true,
}

// Endpoint serves one chain's JSON-RPC, over HTTP and WebSocket.
type Endpoint struct {
	*rpc.Server
	open    context.Context // ends with Close
	close   context.CancelFunc
	blocks  *broadcaster[*reader.BlockEvent]
	pending *broadcaster[[]*txpool.Transaction]
	changed atomic.Int64 // when the head last became another, in Unix milliseconds of the computer's clock
}

// Options configures a chain's endpoint.
type Options struct {
	Miner   *miner.Miner
	Network *sim.Network  // nil for a chain without one, which has no messages for other chains
	Wallet  *Wallet       // the accounts that the node signs for
	Version func() string // web3_clientVersion
	MaxBody int64         // largest request read, in bytes

	Permit *permit.Rule // decides who may call which methods
	Log    *slog.Logger // may be nil

	Discover func(r *http.Request, methods []openrpc.Method) any // makes the OpenRPC document of some methods; nil for none

	Serves func(method string) bool // whether to answer a method now; nil answers all

	Explainer *explain.Explainer // of failed calls and what contracts log; may be nil

	Record func(ctx context.Context, method string, params []byte) (context.Context, func(any, bool)) // see rpc.Options

	More []rpc.Namespace // methods that a node does not have
}

// New serves a chain.
func New(o Options) *Endpoint {
	chain := o.Miner.Chain
	e := &Endpoint{blocks: newBroadcaster(executedBlocks(o.Miner)), pending: newBroadcaster(o.Miner.Pool.Subscribe)}
	e.open, e.close = context.WithCancel(context.Background())
	headChanged := func() { e.changed.Store(time.Now().UnixMilli()) }
	headChanged()
	chain.HeadChanged = headChanged
	options := rpc.Options{
		MaxBody: o.MaxBody, Permit: o.Permit, Discover: o.Discover, Serves: o.Serves, Record: o.Record,
		Batch: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(reader.WithGas(ctx, batchCalls*chain.Limits.Gas), chain.Limits.Batch)
		},
	}
	if o.Network != nil {
		world := o.Network.World
		options.Enter = world.Gate.Enter
		options.Memory = rpc.NewMemory(chain.Caches(), remembered, func(ctx context.Context) (rpc.Revision, error) {
			at := rpc.Revision{Commits: world.DB.Commits(), Changes: chain.Changes.Load()}
			head, err := o.Miner.LastExecuted(ctx)
			if err == nil {
				at.Head = head.Hash
			}
			return at, err
		})
	}
	e.Server = rpc.New(options, e.namespaces(o)...)
	return e
}

// Close ends the subscriptions and closes all open connections.
func (e *Endpoint) Close() {
	e.close()
	e.Server.Close()
	e.blocks.close()
	e.pending.close()
}

func (e *Endpoint) namespaces(o Options) []rpc.Namespace {
	chain := o.Miner.Chain
	a := &api{chain: chain, miner: o.Miner, blocks: cache.New[blockKey, []byte](chain.Caches()), explainer: o.Explainer}
	send := &sendAPI{a, e.blocks, e.open}
	wallet := &walletAPI{api: a, sender: send, wallet: o.Wallet}
	all := []rpc.Namespace{
		{Name: "eth", Methods: &chainAPI{a}}, {Name: "eth", Methods: &blockAPI{a}}, {Name: "eth", Methods: &transactionAPI{a}}, {Name: "eth", Methods: &stateAPI{a}},
		{Name: "eth", Methods: &callAPI{a}}, {Name: "eth", Methods: &gasAPI{a}}, {Name: "eth", Methods: &logAPI{a}},
		{Name: "eth", Methods: &filterAPI{api: a, filters: map[rpc.ID]*filter{}}},
		{Name: "eth", Methods: &subscribeAPI{api: a, blocks: e.blocks, pending: e.pending}}, {Name: "eth", Methods: &newerSubscribeAPI{a, e.blocks}, Beyond: true}, {Name: "eth", Methods: send}, {Name: "eth", Methods: wallet},
		{Name: "eth", Methods: &accountAPI{a}}, {Name: "eth", Methods: &configAPI{a}}, {Name: "eth", Methods: &unlockedAPI{wallet, send}},
		{Name: "personal", Methods: &personalAPI{wallet}}, {Name: "txpool", Methods: &txpoolAPI{a}}, {Name: "net", Methods: &netAPI{chain.Genesis.ChainID}},
		{Name: "web3", Methods: &web3API{o.Version}}, {Name: "anvil", Methods: &headAPI{e}},
	}
	provides := &providerAPI{node: wallet}
	if o.Network != nil {
		provides.world = o.Network.World
		all = append(all, rpc.Namespace{Name: "anvil", Methods: &reorgAPI{wallet, o.Network.World, o.Log}})
	}
	all = append(all, rpc.Namespace{Name: "wallet", Methods: provides}, rpc.Namespace{Name: "wallet", Methods: &sendCallsAPI{node: wallet, batches: map[string]*batch{}}})
	all = append(all, o.More...)
	if chain.Kind == evm.KindC {
		return append(all, rpc.Namespace{Name: "eth", Methods: &priceAPI{a}})
	}
	return append(all, rpc.Namespace{Name: "eth", Methods: &rulesAPI{a}})
}
