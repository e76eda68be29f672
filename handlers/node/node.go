package node

import (
	"fmt"
	"log/slog"
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

// route is what serves a path, and the logger that notes the requests to it, nil for the server's own.
type route struct {
	handler http.Handler
	log     *slog.Logger
	offer   *offer
}

// Node is the node's HTTP handler.
type Node struct {
	options Options
	routes  map[string]map[string]route // by network, then by the path after /ext/
	routed  map[string]http.Handler     // by blockchain id, for the routing header
	aliases map[string]*aliases         // by network
	self    map[string]string           // node ids, by network
	chains  []*endpoint
}

// New makes the handler of a node. Close it to end its subscriptions.
func New(o Options) (*Node, error) {
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Hosts == nil {
		o.Hosts = []string{"localhost"}
	}
	n := &Node{options: o, routes: map[string]map[string]route{}, aliases: map[string]*aliases{}, routed: map[string]http.Handler{}, self: map[string]string{}}
	for _, network := range networks {
		n.aliases[network] = &aliases{base: map[string]string{}}
	}
	for _, chain := range o.Chains {
		e, err := newEndpoint(chain, o)
		if err != nil {
			return nil, fmt.Errorf("chain %s: %w", chain.Row.Name, err)
		}
		n.chains = append(n.chains, e)
		n.serve(e)
	}
	for _, l := range o.Ledgers {
		if err := n.servePrimary(l); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// serve makes a chain reachable on its network: by its id, the C-Chain by aliases too.
func (n *Node) serve(e *endpoint) {
	id := ids.ID(e.chain.Row.BlockchainID).String()
	n.mount(e.chain.Row.Network, "bc/"+id, e)
	if e.chain.Kind == evm.KindL1 {
		n.routed[id] = e
		return
	}
	for _, alias := range []string{"C", "evm", "bc/C", "bc/evm"} {
		n.mount(e.chain.Row.Network, alias, e)
	}
}

func (n *Node) mount(network, path string, e *endpoint) {
	n.Handle(network, path+"/rpc", e)
	n.Handle(network, path+"/ws", e.websocket)
}

// Close ends every connection that is still open.
func (n *Node) Close() {
	for _, e := range n.chains {
		e.close()
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
	if n.routes[own][path].handler != nil {
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

// chainByID is the chain that a path bc/{blockchainID} and what is below it name. The P-chain has the same id everywhere.
func chainByID(path string) (ids.ID, bool) {
	path, found := strings.CutPrefix(path, "bc/")
	name, _, _ := strings.Cut(path, "/")
	id, err := ids.FromString(name)
	return id, found && err == nil && id != ids.Empty
}

// identity is the id of the node that answers for a network.
func (n *Node) identity(network string) string {
	if id, known := n.self[network]; known {
		return id
	}
	return ids.EmptyNodeID.String()
}
