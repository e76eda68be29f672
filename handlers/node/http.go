package node

import (
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/rs/cors"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
)

// longestPath bounds the part after /ext/, which is looked up name by name: twice an endpoint's alias.
const longestPath = 2 * maxAlias

// routeHeader names a blockchain whose handler takes the request, whatever its path.
const routeHeader = "Avalanche-Api-Route"

// anyOrigin lets pages of any origin call the node, with the options of avalanchego's wrapHandler. Package permit decides which methods
// they may call, once the body is read.
var anyOrigin = cors.New(cors.Options{AllowedOrigins: []string{"*"}, AllowCredentials: true})

// ServeHTTP does what avalanchego's api/server does around every handler: the node's id, cross-origin rules, the host check, path cleaning,
// routing.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	network, served, _ := n.served(r) // the handler reports an error
	if !n.options.Public {
		w.Header()["Node-Id"] = []string{n.identity(network)}
	}
	w.Header().Del("Vary") // cors adds to it
	if r.Method == http.MethodOptions && served.controls() && n.options.Permit.CheckPage(r, permit.Control) != nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	anyOrigin.ServeHTTP(w, r, func(w http.ResponseWriter, r *http.Request) {
		if !n.knows(r) {
			http.Error(w, "invalid host specified", http.StatusForbidden)
			return
		}
		n.dispatch(w, r, served)
	})
}

// served returns the network that a request is for, and the handler at its path.
func (n *Node) served(r *http.Request) (network string, served route, err error) {
	network, path, found, err := n.locate(r)
	if err != nil {
		return network, route{handler: lookupFailed(n.options.Log, err)}, err
	}
	if t := n.networks[network]; found && t != nil && len(path) <= longestPath {
		served = t.resolve(path)
	}
	return network, served, nil
}

// lookupFailed answers that the node cannot find out who serves a path.
func lookupFailed(log *slog.Logger, err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.Error("a chain could not be looked up", "path", r.URL.Path, "error", err)
		rpc.Fail(w, r)
	})
}

// Read reads the calls in a request's body, if its handler takes calls.
func (n *Node) Read(r *http.Request, body []byte) (*http.Request, []fault.Call) {
	_, served, err := n.served(r)
	if err != nil {
		return unlocated(r, err), nil
	}
	if e := n.routed[r.Header.Get(routeHeader)]; e != nil {
		served.calls = e
	}
	if served.calls == nil {
		return r, nil
	}
	return served.calls.Read(r, body)
}

// controls reports whether everything at that path is for clients that may control the world.
func (t route) controls() bool {
	if t.capabilities == nil || len(t.capabilities.RPC) == 0 {
		return false
	}
	return !slices.ContainsFunc(t.capabilities.RPC, func(method string) bool { return permit.Of(method) != permit.Control })
}

// dispatch passes a request to the chain that a header names, or to the handler at its path.
func (n *Node) dispatch(w http.ResponseWriter, r *http.Request, served route) {
	if id := r.Header.Get(routeHeader); id != "" {
		if h := n.routed[id]; h != nil {
			h.ServeHTTP(w, r)
		} else {
			w.WriteHeader(http.StatusNotFound)
		}
		return
	}
	if clean := cleanPath(r.URL.Path); clean != r.URL.Path {
		w.Header().Set("Location", (&url.URL{Path: rest.BasePath(r) + clean, RawQuery: r.URL.RawQuery}).String())
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	if served.log != nil {
		rest.Mounted(r.Context()).Log = served.log
	}
	if served.handler == nil {
		http.NotFound(w, r)
		return
	}
	served.handler.ServeHTTP(w, r)
}

func cleanPath(p string) string {
	clean := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// knows reports whether the node answers to a request's host: an address, or a name from the options (avalanchego's filterInvalidHosts). This
// rejects a web page that points its own name at this machine.
func (n *Node) knows(r *http.Request) bool {
	host := hostName(r.Host)
	if name, found := strings.CutSuffix(host, localhost); found && slices.Contains(networks, name) {
		host = localhost[1:]
	}
	return host == "" || net.ParseIP(host) != nil || permit.TrustedHost(r) != "" ||
		slices.Contains(n.options.Hosts, "*") || slices.Contains(n.options.Hosts, host)
}

// localhost ends the host names that select networks: mainnet.localhost and fuji.localhost.
const localhost = ".localhost"

// hostName returns a host without its port, in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
