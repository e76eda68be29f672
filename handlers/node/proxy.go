package node

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/rest"
)

// ProxyPrefix is the path below which the Data API forwards JSON-RPC to EVM chains: Blockscout and others call /v1/ext/bc/{chainId}/rpc,
// with an EVM chain id or a blockchain id. No document of the API mentions it.
const ProxyPrefix = "/v1/ext/bc"

// Proxy forwards JSON-RPC from the Data API to every EVM chain.
type Proxy struct {
	node   *Node
	chains map[string]*eth.Endpoint // by EVM chain id and by blockchain id
}

var _ rest.Lister = (*Proxy)(nil)

// Proxy makes the proxy to the node's chains.
func (n *Node) Proxy() *Proxy {
	p := &Proxy{node: n, chains: map[string]*eth.Endpoint{}}
	for i, m := range n.options.Miners {
		c := m.Chain
		p.chains[strconv.FormatUint(c.Row.EVMID, 10)] = n.chains[i]
		p.chains[ids.ID(c.Row.BlockchainID).String()] = n.chains[i]
	}
	return p
}

// Locate finds the chain that a request's path names.
func (p *Proxy) Locate(r *http.Request) (located *http.Request, network, chain string) {
	chain, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, ProxyPrefix+"/"), "/")
	return r, "", chain
}

// chain returns the path element that names a chain.
func (p *Proxy) chain(path string) (chain string, found bool) {
	return strings.CutSuffix(strings.TrimPrefix(path, ProxyPrefix+"/"), "/rpc")
}

// Read reads the calls in the body of a request for a chain.
func (p *Proxy) Read(r *http.Request, body []byte) (*http.Request, []fault.Call) {
	chain, found := p.chain(r.URL.Path)
	if e := p.chains[chain]; found && e != nil {
		return e.Read(r, body)
	}
	return r, nil
}

// ServeHTTP forwards a request; it answers a wrong path as the Data API does.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	anyOrigin.ServeHTTP(w, r, func(w http.ResponseWriter, r *http.Request) {
		chain, found := p.chain(r.URL.Path)
		e := p.chains[chain]
		switch {
		case !p.node.knows(r):
			refuse(w, http.StatusForbidden, "invalid host specified")
		case !found || strings.Contains(chain, "/"):
			refuse(w, http.StatusNotFound, "Cannot "+r.Method+" "+cut(r.URL.Path))
		case e == nil:
			refuse(w, http.StatusNotFound, "chain "+cut(chain)+" is not known: expected the EVM chain id or blockchain id of one of /v1/chains")
		default:
			e.ServeHTTP(w, r)
		}
	})
}

// longestEcho limits how much of a client's text an error repeats.
const longestEcho = 200

func cut(text string) string { return text[:min(len(text), longestEcho)] }

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	body, err := json.Marshal(rest.ErrorAnswer{Message: rest.Message{Sentences: []string{text}}, Error: http.StatusText(status), StatusCode: status})
	if err == nil {
		_, _ = w.Write(body) // the client may be gone
	}
}

// Endpoints lists the methods of all chains.
func (p *Proxy) Endpoints() []rest.Endpoint {
	var methods []string
	for _, e := range p.node.chains {
		methods = append(methods, e.Capabilities().Served()...)
	}
	slices.Sort(methods)
	return []rest.Endpoint{{Interface: "data", Methods: []string{http.MethodPost}, Paths: []string{ProxyPrefix + "/{chainId}/rpc"}, Operations: slices.Compact(methods)}}
}
