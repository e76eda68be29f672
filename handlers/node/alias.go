package node

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"snowglobe/sim"
)

// maxAlias is how many bytes an alias may have.
const maxAlias = 512

// aliases are the other names under which a network's endpoints answer, until the process ends.
type aliases struct {
	mu   sync.RWMutex
	base map[string]string // what follows /ext/, by what may stand in its place
}

// alias makes an endpoint answer at another path too. An endpoint that is not there is no error.
func (n *Node) alias(r *http.Request, network, endpoint, name string) error {
	a := n.aliases[network]
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, taken := a.base[name]; taken || n.ofChain(r, network, name) {
		return fmt.Errorf("route is either already aliased or already maps to a handle: /ext/%s", name)
	}
	a.base[name] = endpoint
	if n.routes[network][name].handler != nil {
		return fmt.Errorf("failed to create endpoint as /ext/%s already exists", name)
	}
	return nil
}

// ofChain reports whether a path is that of a chain under a name that was given to it, or of its validators.
func (n *Node) ofChain(r *http.Request, network, path string) bool {
	if _, found := replaceChain(n.ledger(network), path); found {
		return true
	}
	id, found := chainOfValidators(path)
	if !found {
		return false
	}
	_, err := n.subnetOf(r, network, id)
	return err == nil
}

// begins reports whether an alias of an endpoint is at a path or below it.
func (a *aliases) begins(path string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for name := range a.base {
		if name == path || strings.HasPrefix(name, path+"/") {
			return true
		}
	}
	return false
}

// resolve follows aliases of endpoints and of chains until there is a route. What goes round in a circle ends.
func (n *Node) resolve(network, path string) route {
	for range n.aliases[network].count() + 2 {
		if r := n.routes[network][path]; r.handler != nil {
			return r
		}
		if next, found := n.aliases[network].replace(path); found {
			path = next
			continue
		}
		next, found := replaceChain(n.ledger(network), path)
		if !found {
			break
		}
		path = next
	}
	return route{handler: n.validators(network, path)}
}

func (a *aliases) count() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.base)
}

// replace puts an endpoint in the place of its alias, the longest that a path begins with.
func (a *aliases) replace(path string) (string, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for end := len(path); end >= 0; end = strings.LastIndexByte(path[:end], '/') {
		if base, found := a.base[path[:end]]; found {
			return base + path[end:], true
		}
	}
	return "", false
}

// replaceChain puts a blockchain id in the place of an alias given to it.
func replaceChain(l *sim.Ledger, path string) (string, bool) {
	rest, found := strings.CutPrefix(path, "bc/")
	if !found || l == nil {
		return "", false
	}
	name, rest, below := strings.Cut(rest, "/")
	id, known := l.Aliases.Given(name)
	if !known {
		return "", false
	}
	path = "bc/" + id.String()
	if below {
		path += "/" + rest
	}
	return path, true
}

func (n *Node) ledger(network string) *sim.Ledger {
	for _, l := range n.options.Ledgers {
		if l.Network == network {
			return l
		}
	}
	return nil
}

// loggerOf names the logger for what is served at a path: its chain's, or main.
func loggerOf(l *sim.Ledger, path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "bc/"), "/")
	if id, known := l.Aliases.Lookup(name); known {
		return l.Aliases.Names(id)[0]
	}
	return "main"
}

// Handle serves a path after /ext/ of a network.
func (n *Node) Handle(network, path string, h http.Handler) {
	if n.routes[network] == nil {
		n.routes[network] = map[string]route{}
	}
	r := route{handler: h, offer: offerOf(h)}
	if l, loggers := n.ledger(network), n.options.Loggers[network]; l != nil && loggers != nil {
		r.log = loggers.named(loggerOf(l, path))
	}
	n.routes[network][path] = r
}
