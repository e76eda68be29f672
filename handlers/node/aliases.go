package node

import (
	"strings"
	"sync"

	"snowglobe/sim"
)

// maxAlias is how many bytes an alias may have.
const maxAlias = 512

// aliases are the other names under which a network's endpoints answer, until the process ends.
type aliases struct {
	mu        sync.RWMutex
	endpoints map[string]string // what follows /ext/, by what may stand in its place
}

// begins reports whether an alias of an endpoint is at a path or below it.
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

// replace puts an endpoint in the place of its alias, the longest that a path begins with.
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

// replaceChain puts a blockchain id in the place of an alias given to it.
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
