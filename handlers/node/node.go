package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/evm"
)

// Options say what a node answers for.
type Options struct {
	Chains   []*evm.Chain
	Ledgers  []*sim.Ledger       // P- and X-chains
	Network  string              // whose C-Chain the plain aliases name: mainnet or fuji
	Version  string              // web3_clientVersion
	MaxBody  int64               // bytes of a request, DefaultMaxBody when zero
	Public   bool                // hide what is about one particular node
	Loggers  map[string]*Loggers // by network; nil for the server's own
	Profiler *Profiler           // of the admin API, which is served when there is one; Loggers must be there then
	Hosts    []string            // host names, beside addresses, by which the node may be called: localhost by default, "*" for any
}

// DefaultMaxBody is the largest request that is read.
const DefaultMaxBody = 5 << 20

// networks are the prefixes that name a network in a path.
var networks = []string{"mainnet", "fuji"}

// Node is the node's HTTP handler.
type Node struct {
	options         Options
	networks        map[string]*router
	routed          map[string]http.Handler // by blockchain id, for the routing header
	chainValidators *Services
	chains          []*endpoint
}

// New makes the handler of a node. Close it to end its subscriptions.
func New(o Options) (*Node, error) {
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Hosts == nil {
		o.Hosts = []string{"localhost"}
	}
	validators, err := NewServices(o.MaxBody, Service{Name: "validators", Methods: validatorsAPI{}})
	if err != nil {
		return nil, err
	}
	n := &Node{options: o, networks: map[string]*router{}, routed: map[string]http.Handler{}, chainValidators: validators}
	for _, network := range networks {
		n.networks[network] = newRouter()
	}
	for _, l := range o.Ledgers {
		t := n.networks[l.Network]
		t.network, t.nodeID, t.loggers, t.validators = l, l.Self.ID().String(), o.Loggers[l.Network], validators
	}
	for _, chain := range o.Chains {
		if err := n.addChain(chain); err != nil {
			return nil, fmt.Errorf("chain %s: %w", chain.Row.Name, err)
		}
	}
	for _, l := range o.Ledgers {
		if err := n.addNetwork(l); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// addChain makes an EVM chain reachable on its network: by its id, the C-Chain by aliases too.
func (n *Node) addChain(chain *evm.Chain) error {
	e, err := newEndpoint(chain, n.options.Version, n.options.MaxBody)
	if err != nil {
		return err
	}
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
	return nil
}

// addNetwork makes the services of a network reachable: info, health, admin, and those of its P- and X-Chain.
func (n *Node) addNetwork(l *sim.Ledger) error {
	if err := errors.Join(n.addInfo(l), n.addHealth(l), n.addAdmin(l)); err != nil {
		return err
	}
	pChain, err := NewServices(n.options.MaxBody, Service{Name: "platform", Methods: newPlatform(l)})
	if err != nil {
		return err
	}
	x := newAVM(l)
	xChain, err := NewServices(n.options.MaxBody, Service{Name: "avm", Methods: x}, Service{Name: "xvm", Methods: x})
	if err != nil {
		return err
	}
	wallet, err := NewServices(n.options.MaxBody, Service{Name: "wallet", Methods: newWallet(x)})
	if err != nil {
		return err
	}
	for _, alias := range []string{"X", "avm", "bc/X", "bc/avm", "bc/" + l.Rules.XChainID.String()} {
		n.Handle(l.Network, alias, xChain)
		n.Handle(l.Network, alias+"/wallet", wallet)
	}
	for _, alias := range []string{"P", "platform", "bc/P", "bc/platform", "bc/" + ids.Empty.String()} {
		n.Handle(l.Network, alias, pChain)
	}
	return nil
}

func (n *Node) addInfo(l *sim.Ledger) error {
	handler, err := NewServices(n.options.MaxBody, Service{Name: "info", Methods: newInfo(l, n.options.Public)})
	if err != nil {
		return err
	}
	n.Handle(l.Network, "info", handler)
	return nil
}

// addAdmin makes the admin service of a network reachable, when the node is to have one.
func (n *Node) addAdmin(l *sim.Ledger) error {
	if n.options.Profiler == nil || n.options.Public {
		return nil
	}
	t := n.networks[l.Network]
	handler, err := NewServices(n.options.MaxBody, Service{Name: "admin", Methods: &adminAPI{t, t.loggers, n.options.Profiler, n.options.Hosts}})
	if err != nil {
		return err
	}
	n.Handle(l.Network, "admin", handler)
	return nil
}

// addHealth makes the health service of a network reachable: by POST as JSON-RPC, by GET as plain JSON whose status
// tells a load balancer enough.
func (n *Node) addHealth(l *sim.Ledger) error {
	a := &healthAPI{l.Clock, func(ctx context.Context) ([]Head, error) { return n.Heads(ctx, l.Network) }}
	rpc, err := NewServices(n.options.MaxBody, Service{Name: "health", Methods: a})
	if err != nil {
		return err
	}
	both := &Capabilities{HTTP: []string{http.MethodGet, http.MethodPost}, RPC: rpc.Capabilities().RPC}
	n.Handle(l.Network, "health", byMethod{plain(a.health), rpc, both})
	n.Handle(l.Network, "health/readiness", plain(a.readiness))
	n.Handle(l.Network, "health/liveness", plain(a.liveness))
	return nil
}

// Handle serves a path after /ext/ of a network.
func (n *Node) Handle(network, path string, h http.Handler) { n.networks[network].handle(path, h) }

// Close ends the subscriptions and every WebSocket connection that is still open.
func (n *Node) Close() {
	for _, e := range n.chains {
		e.Close()
	}
}

// locate tells the network that a request speaks to, and what follows /ext/ in its path. Without a network in front that is
// the node's own network, save for a chain of another that is named by its id.
func (n *Node) locate(r *http.Request) (network, path string, found bool) {
	for _, network := range networks {
		if path, found := strings.CutPrefix(r.URL.Path, "/"+network+"/ext/"); found {
			return network, path, true
		}
	}
	path, found = strings.CutPrefix(r.URL.Path, "/ext/")
	return n.networkOf(r, path), path, found
}

func (n *Node) networkOf(r *http.Request, path string) string {
	own := n.options.Network
	if n.networks[own] != nil && n.networks[own].routes[path].handler != nil {
		return own
	}
	id, named := chainByID(path)
	if !named {
		return own
	}
	for _, l := range n.options.Ledgers {
		if _, err := l.SubnetOf(r.Context(), id); err == nil && l.Network != own {
			return l.Network
		}
	}
	return own
}

// identity is the id of the node that answers for a network.
func (n *Node) identity(network string) string {
	if t := n.networks[network]; t != nil {
		return t.nodeID
	}
	return ids.EmptyNodeID.String()
}
