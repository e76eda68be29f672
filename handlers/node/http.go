package node

import (
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"snowglobe/handlers"
)

// routeHeader names a blockchain whose handler takes the request, whatever its path.
const routeHeader = "Avalanche-Api-Route"

// ServeHTTP does what the node's own server does around every handler: headers, cross-origin rules, the check of the
// host, the cleaning of paths, routing.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	network, path, found := n.locate(r)
	header["Node-Id"] = []string{n.identity(network)}
	header["Vary"] = []string{"Origin"}
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		preflight(header, r)
		return
	}
	if r.Header.Get("Origin") != "" && (corsMethod(r.Method) || r.Method == http.MethodOptions) {
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("Access-Control-Allow-Credentials", "true")
	}
	if !n.knows(r.Host) {
		http.Error(w, "invalid host specified", http.StatusForbidden)
		return
	}
	var served route
	if found {
		served = n.resolve(network, path)
	}
	n.dispatch(w, r, served)
}

// dispatch gives a request to the chain that a header names, or to what is served at its path.
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
		w.Header().Set("Location", (&url.URL{Path: clean, RawQuery: r.URL.RawQuery}).String())
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	if served.log != nil {
		handlers.LogThrough(r.Context(), served.log)
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

// knows says whether the node may be called by this host: an address, or a name from the options. A web page
// that points its own name at this machine is thus refused.
func (n *Node) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return host == "" || net.ParseIP(host) != nil ||
		slices.Contains(n.options.Hosts, "*") || slices.Contains(n.options.Hosts, host)
}

func corsMethod(method string) bool {
	return method == http.MethodGet || method == http.MethodPost || method == http.MethodHead
}

// corsHeaders are what a page from elsewhere may send.
var corsHeaders = []string{"Origin", "Accept", "Content-Type", "X-Requested-With"}

// preflight answers what a page may do. A refusal is an answer without the permissions.
func preflight(header http.Header, r *http.Request) {
	header["Vary"] = []string{"Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"}
	method := strings.ToUpper(r.Header.Get("Access-Control-Request-Method"))
	if r.Header.Get("Origin") == "" || !corsMethod(method) {
		return
	}
	var asked []string
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); name == "" {
			continue
		}
		if !slices.Contains(corsHeaders, name) {
			return
		}
		asked = append(asked, name)
	}
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Methods", method)
	if len(asked) > 0 {
		header.Set("Access-Control-Allow-Headers", strings.Join(asked, ", "))
	}
	header.Set("Access-Control-Allow-Credentials", "true")
}
