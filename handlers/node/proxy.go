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

// ProxyPrefix is where the Data API passes JSON-RPC on to EVM chains: Blockscout and others call
// /v1/ext/bc/{chainId}/rpc, with an EVM chain id, or a blockchain id. It is in no document of the API.
const ProxyPrefix = "/v1/ext/bc"

// Proxy is the Data API's way to the JSON-RPC of every EVM chain.
type Proxy struct {
	node   *Node
	chains map[string]*eth.Endpoint // by EVM chain id and by blockchain id
}

var _ rest.Lister = (*Proxy)(nil)

// Proxy leads to the chains of the node.
func (n *Node) Proxy() *Proxy {
	p := &Proxy{node: n, chains: map[string]*eth.Endpoint{}}
	for i, m := range n.options.Miners {
		c := m.Chain
		p.chains[strconv.FormatUint(c.Row.EVMID, 10)] = n.chains[i]
		p.chains[ids.ID(c.Row.BlockchainID).String()] = n.chains[i]
	}
	return p
}

// Locate finds the chain that a request is for by its path.
func (p *Proxy) Locate(r *http.Request) (network, chain string) {
	chain, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, ProxyPrefix+"/"), "/")
	return "", chain
}

// chain is what a path has in the place of a chain.
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

// ServeHTTP passes a request on; what is wrong with its path it answers as the Data API does.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	anyOrigin.ServeHTTP(w, r, func(w http.ResponseWriter, r *http.Request) {
		chain, found := p.chain(r.URL.Path)
		e := p.chains[chain]
		switch {
		case !p.node.knows(r.Host):
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

// longestEcho is how much of what a client sent an error repeats.
const longestEcho = 200

func cut(text string) string { return text[:min(len(text), longestEcho)] }

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	body, err := json.Marshal(rest.ErrorAnswer{Message: rest.Message{Sentences: []string{text}}, Error: http.StatusText(status), StatusCode: status})
	if err == nil {
		_, _ = w.Write(body) // a client that has left needs no answer
	}
}

// Endpoints lists what is served: every method that some chain has.
func (p *Proxy) Endpoints() []rest.Endpoint {
	var methods []string
	for _, e := range p.node.chains {
		methods = append(methods, e.Capabilities().RPC...)
	}
	slices.Sort(methods)
	return []rest.Endpoint{{Interface: "data", Methods: []string{http.MethodPost}, Paths: []string{ProxyPrefix + "/{chainId}/rpc"}, Operations: slices.Compact(methods)}}
}
