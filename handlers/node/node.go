package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/explain"
	"snowglobe/handlers/node/anvil"
	"snowglobe/handlers/node/avax"
	"snowglobe/handlers/node/avm"
	"snowglobe/handlers/node/consensus"
	"snowglobe/handlers/node/debug"
	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/node/info"
	"snowglobe/handlers/node/ots"
	"snowglobe/handlers/node/platform"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/simulate"
	"snowglobe/handlers/node/trace"
	"snowglobe/handlers/node/warp"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/surface"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Options configures a node.
type Options struct {
	Miners   []*miner.Miner       // of the EVM chains
	Networks []*sim.Network       // P- and X-Chains
	Wallet   *eth.Wallet          // the accounts that the EVM chains sign for; nil for none
	Network  string               // mainnet or fuji; the plain aliases name its C-Chain
	Version  string               // the node's version, with which web3_clientVersion ends
	MaxBody  int64                // largest request in bytes; zero means DefaultMaxBody
	Public   bool                 // hide everything about one particular node
	Loggers  map[string]*Loggers  // by network; nil for the server's own log
	Profiler *Profiler            // nil for no admin API; if set, Loggers must be set too
	Stakers  *query.StakerIndexes // shared with other lists of stakers; nil makes one for the node alone
	NoIndex  bool                 // without /ext/index
	Permit   *permit.Rule         // decides who may change the world; nil for the rule of a server on loopback
	Log      *slog.Logger         // may be nil
	Advance  anvil.Advance        // moves the world's clock; nil uses the world itself
	Strict   surface.State        // the least that nodes of the network do with a method that this one answers; Never answers all
	Explain  *explain.Explainer   // of executions; may be nil
	Hosts    []string             // host names, besides addresses, that the node answers to: localhost by default, "*" for any

	// Record works like rpc.Options.Record, but also gets the chain's name in a session; it may be nil.
	Record Record

	// Discover makes the OpenRPC document of the methods served at a request's path; nil for none.
	Discover func(r *http.Request, methods []openrpc.Method) any
}

// Record is rpc.Options.Record for a chain.
type Record func(ctx context.Context, chain, method string, params []byte) (within context.Context, done func(result any, failed bool))

// of returns the record of a chain.
func (r Record) of(chain string) func(ctx context.Context, method string, params []byte) (context.Context, func(any, bool)) {
	if r == nil || chain == "" {
		return nil
	}
	return func(ctx context.Context, method string, params []byte) (context.Context, func(any, bool)) {
		return r(ctx, chain, method, params)
	}
}

// DefaultMaxBody is the default size of the largest request (avalanchego graft/evm/rpc, defaultBodyLimit).
const DefaultMaxBody = 5 << 20

// networks lists the path prefixes that name a network.
var networks = []string{fixtures.MainnetName, fixtures.FujiName}

// Node is the node's HTTP handler.
type Node struct {
	options         Options
	networks        map[string]*router
	routed          map[string]*eth.Endpoint // by blockchain id, for the routing header
	chainValidators *rpc.Server
	chains          []*eth.Endpoint
}

// New makes a node's handler. Close ends its subscriptions.
func New(o Options) (*Node, error) {
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Hosts == nil {
		o.Hosts = []string{"localhost"}
	}
	if o.Stakers == nil {
		o.Stakers = query.NewStakerIndexes()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Wallet == nil {
		o.Wallet, _ = eth.NewWallet(nil)
	}
	n := &Node{options: o, networks: map[string]*router{}, routed: map[string]*eth.Endpoint{}}
	validators, err := n.services("", surface.Validators, rpc.Service{Name: "validators", Methods: &validatorsAPI{o.Stakers}})
	if err != nil {
		return nil, err
	}
	n.chainValidators = validators
	for _, network := range networks {
		n.networks[network] = newRouter(o.Log)
	}
	for _, network := range o.Networks {
		t := n.networks[network.Name]
		t.network, t.nodeID, t.loggers, t.validators = network, network.LocalNode.ID().String(), o.Loggers[network.Name], validators
	}
	for _, m := range o.Miners {
		if err := n.addChain(m.Chain, n.endpoint(m)); err != nil {
			return nil, fmt.Errorf("chain %s: %w", m.Chain.Row.Name, err)
		}
	}
	for _, network := range o.Networks {
		if err := n.addNetwork(network); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Repeated returns the number of EVM calls answered from remembered results.
func (n *Node) Repeated() (calls uint64) {
	for _, e := range n.chains {
		calls += e.Repeated()
	}
	return calls
}

// endpoint makes the endpoint of a miner's EVM chain.
func (n *Node) endpoint(m *miner.Miner) *eth.Endpoint {
	chain, version := m.Chain, anvil.ClientVersion(n.options.Version)
	network, advance := n.networks[chain.Row.Network].network, n.options.Advance
	if advance == nil && network != nil {
		advance = network.World.Advance
	}
	at := surface.L1
	if chain.Kind == evm.KindC {
		at = surface.CChain
	}
	if n.options.Strict != surface.Never {
		m.PendingIsExecuted()
	}
	control := anvil.Options{Network: network, Advance: advance, Version: version}
	if loggers := n.networks[chain.Row.Network].loggers; loggers != nil {
		control.Log = loggers.all[network.Aliases.Names(ids.ID(chain.Row.BlockchainID))[0]].setRequests
	}
	return eth.New(eth.Options{
		Miner: m, Network: network, Wallet: n.options.Wallet, Version: n.clientVersion(chain, network), MaxBody: n.options.MaxBody, Permit: n.options.Permit,
		Log: n.options.Log, Discover: n.options.Discover, Serves: n.serves(at, network), Explainer: n.options.Explain, Record: n.options.Record.of(sim.NameOf(chain)),
		More: slices.Concat(debug.Namespaces(m, n.options.Explain), warp.Namespaces(chain, network), anvil.Namespaces(m, control), trace.Namespaces(m), ots.Namespaces(m), simulate.Namespaces(m)),
	})
}

// clientVersion returns what web3_clientVersion answers. A strict node says what one of the network says: since Helicon its C-Chain names the
// whole build (avalanchego vms/saevm/sae/rpc.newWeb3API).
func (n *Node) clientVersion(chain *reader.Chain, network *sim.Network) func() string {
	return func() string {
		switch {
		case n.options.Strict == surface.Never:
			return anvil.ClientVersion(n.options.Version)
		case chain.Kind == evm.KindC && helicon(network):
			return fixtures.NodeBuild
		}
		return n.options.Version
	}
}

// addChain mounts an EVM chain on its network: under its id and, for the C-Chain, its aliases.
func (n *Node) addChain(chain *reader.Chain, e *eth.Endpoint) error {
	network := n.networks[chain.Row.Network].network
	n.chains = append(n.chains, e)
	id := ids.ID(chain.Row.BlockchainID).String()
	names := []string{"bc/" + id}
	if chain.Kind == evm.KindL1 {
		n.routed[id] = e
	} else {
		names = append(names, "C", "evm", "bc/C", "bc/evm")
	}
	for _, name := range names {
		n.Handle(chain.Row.Network, name+"/rpc", e)
		n.Handle(chain.Row.Network, name+"/ws", e.WebSocket())
	}
	if network == nil {
		return nil
	}
	if chain.Kind == evm.KindC {
		if err := n.addIndex(chain.Row.Network, "C/block", consensus.NewEVMBlocks(chain)); err != nil {
			return err
		}
	}
	return n.addProposerVM(network, consensus.NewEVMProposerVM(network, chain), names...)
}

// addProposerVM mounts a chain's ProposerVM under the chain's names.
func (n *Node) addProposerVM(network *sim.Network, vm *consensus.ProposerVM, names ...string) error {
	handler, err := n.services("", surface.PChain+"/proposervm", rpc.Service{Name: "proposervm", Methods: vm})
	for _, name := range names {
		n.Handle(network.Name, name+"/proposervm", handler)
	}
	return err
}

// addIndex mounts the index of a chain's accepted containers.
func (n *Node) addIndex(network, name string, accepted consensus.Accepted) error {
	at := "/ext/index/" + name
	if n.options.NoIndex || !n.mounts(at) {
		return nil
	}
	handler, err := n.services("", at, rpc.Service{Name: "index", Methods: consensus.NewIndex(accepted)})
	n.Handle(network, "index/"+name, handler)
	return err
}

// addNetwork mounts a network's services: info, health, admin, its P- and X-Chain, and the C-Chain's atomic transactions.
func (n *Node) addNetwork(network *sim.Network) error {
	if err := errors.Join(n.addInfo(network), n.addHealth(network), n.addAdmin(network)); err != nil {
		return err
	}
	pChain, err := n.remembering(sim.ChainName(network.Name, "P"), surface.PChain, memory(network), rpc.Service{Name: "platform", Methods: platform.New(network, n.options.Stakers)})
	if err != nil {
		return err
	}
	x := avm.New(network)
	xChain, err := n.remembering(sim.ChainName(network.Name, "X"), surface.XChain, memory(network), rpc.Service{Name: "avm", Methods: x}, rpc.Service{Name: "xvm", Methods: x})
	if err != nil {
		return err
	}
	wallet, err := n.services(sim.ChainName(network.Name, "X"), surface.Wallet, rpc.Service{Name: "wallet", Methods: avm.NewWallet(x)})
	if err != nil {
		return err
	}
	xNames := []string{"X", "avm", "bc/X", "bc/avm", "bc/" + network.Rules.XChainID.String()}
	for _, name := range xNames {
		n.Handle(network.Name, name, xChain)
		n.Handle(network.Name, name+"/wallet", wallet)
	}
	atomic, err := n.services(sim.ChainName(network.Name, "C"), surface.Atomic, rpc.Service{Name: "avax", Methods: avax.New(network)})
	if err != nil {
		return err
	}
	for _, alias := range []string{"C", "evm", "bc/C", "bc/evm", "bc/" + network.Rules.CChainID.String()} {
		n.Handle(network.Name, alias+"/avax", atomic)
	}
	pNames := []string{"P", "platform", "bc/P", "bc/platform", "bc/" + ids.Empty.String()}
	for _, name := range pNames {
		n.Handle(network.Name, name, pChain)
	}
	return errors.Join(n.addIndex(network.Name, "P/block", consensus.NewPrimaryBlocks(network, txs.PChain)),
		n.addIndex(network.Name, "X/block", consensus.NewPrimaryBlocks(network, txs.XChain)),
		n.addIndex(network.Name, "X/tx", consensus.NewTransactions(network)),
		n.addProposerVM(network, consensus.NewProposerVM(network, txs.XChain), xNames...),
		n.addProposerVM(network, consensus.NewProposerVM(network, txs.PChain), pNames...))
}

func (n *Node) addInfo(network *sim.Network) error {
	handler, err := n.services("", surface.Info, rpc.Service{Name: "info", Methods: info.New(network, n.options.Stakers, n.options.Public)})
	if err != nil {
		return err
	}
	n.Handle(network.Name, "info", handler)
	return nil
}

// addAdmin mounts a network's admin service, if the node has one.
func (n *Node) addAdmin(network *sim.Network) error {
	if n.options.Profiler == nil || n.options.Public {
		return nil
	}
	t := n.networks[network.Name]
	handler, err := n.services("", surface.Admin, rpc.Service{Name: "admin", Methods: &adminAPI{t, t.loggers, n.options.Profiler, n.options.Hosts}})
	if err != nil {
		return err
	}
	n.Handle(network.Name, "admin", handler)
	return nil
}

// addHealth mounts a network's health service: JSON-RPC by POST, and by GET plain JSON whose status suffices for a load balancer.
func (n *Node) addHealth(network *sim.Network) error {
	a := &healthAPI{network, network.World, func(ctx context.Context) ([]ChainHeight, error) { return n.Heights(ctx, network.Name) }}
	services, err := n.services("", surface.Health, rpc.Service{Name: "health", Methods: a})
	if err != nil {
		return err
	}
	both := &rpc.Capabilities{HTTP: []string{http.MethodGet, http.MethodPost}, RPC: services.Capabilities().RPC, Methods: services.Capabilities().Methods, Serves: services.Serves}
	n.Handle(network.Name, "health", byMethod{plain(a.health), services, both})
	n.Handle(network.Name, "health/readiness", plain(a.readiness))
	n.Handle(network.Name, "health/liveness", plain(a.liveness))
	return nil
}

// services serves several services at a path, which has its name among the surface's. What changes the chain of a name is recorded; an empty name
// stands for services that change none.
func (n *Node) services(chain, path string, all ...rpc.Service) (*rpc.Server, error) {
	return n.remembering(chain, path, nil, all...)
}

// remembering does the same and remembers results.
func (n *Node) remembering(chain, path string, m *rpc.Memory, all ...rpc.Service) (*rpc.Server, error) {
	return rpc.NewServices(rpc.Options{
		MaxBody: n.options.MaxBody, Permit: n.options.Permit, Discover: n.options.Discover, Memory: m, Serves: n.serves(path, nil), Record: n.options.Record.of(chain),
	}, all...)
}

// remembered lists the P- and X-Chain methods whose results depend only on accepted blocks and the world's clock.
var remembered = map[string]bool{
	"platform.getBalance": true, "platform.getBlock": true, "platform.getBlockByHeight": true, "platform.getBlockchains": true, "platform.getCurrentSupply": true,
	"platform.getHeight": true, "platform.getRewardUTXOs": true, "platform.getStake": true, "platform.getSubnets": true, "platform.getTotalStake": true,
	"platform.getTx": true, "platform.getUTXOs": true, "platform.getValidatorsAt": true,
	"avm.getAllBalances": true, "avm.getAssetDescription": true, "avm.getBalance": true, "avm.getBlock": true, "avm.getBlockByHeight": true, "avm.getHeight": true,
	"avm.getTx": true, "avm.getUTXOs": true,
}

// memory makes the memory for results of a network's chains.
func memory(network *sim.Network) *rpc.Memory {
	return rpc.NewMemory(network.DB.Caches(), remembered, func(context.Context) (rpc.Revision, error) {
		return rpc.Revision{Commits: network.World.Revision(), Unix: network.World.Clock.Unix()}, nil
	})
}

// Handle mounts a handler at a path after /ext/ of a network.
func (n *Node) Handle(network, path string, h http.Handler) { n.networks[network].handle(path, h) }

// Close ends the subscriptions and closes all WebSocket connections.
func (n *Node) Close() {
	for _, e := range n.chains {
		e.Close()
	}
}

type networkKey struct{}

// ForNetwork returns a handler that takes requests without a network for one.
func ForNetwork(network string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), networkKey{}, network)))
	})
}

// NetworkOf returns the network of a request whose path names none: by its host name, such as fuji.localhost, by the listener it came through, or
// the node's own.
func (n *Node) NetworkOf(r *http.Request) string {
	if name, found := strings.CutSuffix(hostName(r.Host), localhost); found && slices.Contains(networks, name) {
		return name
	}
	if name, found := r.Context().Value(networkKey{}).(string); found {
		return name
	}
	return n.options.Network
}

// locate finds a request's network and the path after /ext/. Without a network prefix, the request's own network counts, unless the path
// names another network's chain by id.
func (n *Node) locate(r *http.Request) (network, path string, found bool, err error) {
	for _, network := range networks {
		if path, found := strings.CutPrefix(r.URL.Path, "/"+network+"/ext/"); found {
			return network, path, true, nil
		}
	}
	path, found = strings.CutPrefix(r.URL.Path, "/ext/")
	network, err = n.networkOf(r, path)
	return network, path, found, err
}

// Locate finds the network that a request is for and, if its path names a chain, that name. Serving the request that it returns reports a
// failure.
func (n *Node) Locate(r *http.Request) (located *http.Request, network, chain string) {
	network, path, _, err := n.locate(r)
	chain, _, _ = strings.Cut(strings.TrimPrefix(path, "bc/"), "/")
	return unlocated(r, err), network, chain
}

type unlocatedKey struct{}

// unlocated returns the request with the error that kept it from being located, if any: who asks next gets the same one.
func unlocated(r *http.Request, err error) *http.Request {
	if err == nil {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), unlocatedKey{}, err))
}

func (n *Node) networkOf(r *http.Request, path string) (string, error) {
	own := n.NetworkOf(r)
	if n.networks[own] != nil && n.networks[own].routes[path].handler != nil {
		return own, nil
	}
	id, named := chainByID(path)
	if !named {
		return own, nil
	}
	if err, failed := r.Context().Value(unlocatedKey{}).(error); failed {
		return own, err
	}
	for _, network := range n.options.Networks {
		if n.networks[network.Name].routes[path].handler != nil {
			return network.Name, nil
		}
	}
	for _, network := range n.options.Networks {
		switch _, err := network.SubnetOf(r.Context(), id); {
		case err == nil && network.Name != own:
			return network.Name, nil
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return own, fmt.Errorf("blockchain %s: %w", id, err)
		}
	}
	return own, nil
}

// identity returns the id of the node that answers for a network.
func (n *Node) identity(network string) string {
	if t := n.networks[network]; t != nil {
		return t.nodeID
	}
	return ids.EmptyNodeID.String()
}
