package node

import (
	"strings"
	"sync"

	"snowglobe/sim"
)

// maxAlias is the longest alias in bytes: avalanchego's api/admin.maxAliasLength.
const maxAlias = 512

// aliases holds the other names of a network's endpoints until the process ends.
type aliases struct {
	mu        sync.RWMutex
	endpoints map[string]string // what follows /ext/, by its alias
}

// begins reports whether a path is an endpoint's alias or lies below one.
func (a *aliases) begins(path string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for name := range a.endpoints {
		if name == path || strings.HasPrefix(name, path+"/") {
			return true
		}
	}
	return false
}

func (a *aliases) count() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.endpoints)
}

// replace replaces the longest alias that begins a path with its endpoint.
func (a *aliases) replace(path string) (string, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for end := len(path); end >= 0; end = strings.LastIndexByte(path[:end], '/') {
		if endpoint, found := a.endpoints[path[:end]]; found {
			return endpoint + path[end:], true
		}
	}
	return "", false
}

// replaceChain replaces a chain's alias with its blockchain id.
func replaceChain(n *sim.Network, path string) (string, bool) {
	rest, found := strings.CutPrefix(path, "bc/")
	if !found || n == nil {
		return "", false
	}
	name, rest, below := strings.Cut(rest, "/")
	id, known := n.Aliases.Given(name)
	if !known {
		return "", false
	}
	path = "bc/" + id.String()
	if below {
		path += "/" + rest
	}
	return path, true
}
