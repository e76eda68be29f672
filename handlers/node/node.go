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

// serve makes a chain reachable: by its id on every network, by aliases on its own.
func (n *Node) serve(e *endpoint) {
	id := ids.ID(e.chain.Row.BlockchainID).String()
	for _, network := range networks {
		n.mount(network, "bc/"+id, e)
	}
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

// locate tells the network that a path speaks of, and what follows /ext/ in it.
func (n *Node) locate(path string) (network, rest string, found bool) {
	network = n.options.Network
	for _, name := range networks {
		if rest, found := strings.CutPrefix(path, "/"+name+"/"); found {
			network, path = name, "/"+rest
			break
		}
	}
	rest, found = strings.CutPrefix(path, "/ext/")
	return network, rest, found
}

// find is what serves a path; it has no handler when nothing does.
func (n *Node) find(path string) route {
	network, path, found := n.locate(path)
	if !found {
		return route{}
	}
	return n.resolve(network, path)
}

// identity is the id of the node that answers for the network of a path.
func (n *Node) identity(path string) string {
	network, _, _ := n.locate(path)
	if id, known := n.self[network]; known {
		return id
	}
	return ids.EmptyNodeID.String()
}
