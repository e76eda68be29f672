package node

import (
	"maps"
	"net/http"
	"slices"

	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/rest"
)

var _ rest.Lister = (*Node)(nil)

// Endpoints lists everything that the node serves, each with all its paths.
func (n *Node) Endpoints() []rest.Endpoint {
	var all []rest.Endpoint
	n.each(func(paths []string, c *rpc.Capabilities) {
		all = append(all, rest.Endpoint{Interface: "node", Methods: c.HTTP, Paths: paths, Operations: c.Served()})
	})
	return all
}

// Described holds the methods served at some paths; the first path is the shortest.
type Described struct {
	Paths   []string
	Methods []openrpc.Method
}

// Describe describes every method of the node; methods at several paths appear once.
func (n *Node) Describe() []Described {
	var all []Described
	n.each(func(paths []string, c *rpc.Capabilities) {
		if c.Methods != nil && c.HTTP[len(c.HTTP)-1] == http.MethodPost {
			all = append(all, Described{paths, c.Described()})
		}
	})
	return all
}

// each visits everything that the node serves, with all its paths.
func (n *Node) each(visit func(paths []string, c *rpc.Capabilities)) {
	paths := map[*rpc.Capabilities][]string{}
	var order []*rpc.Capabilities
	add := func(network, path string, c *rpc.Capabilities) {
		if paths[c] == nil {
			order = append(order, c)
		}
		if _, named := chainByID(path); named || network == n.options.Network {
			paths[c] = append(paths[c], "/ext/"+path)
		}
		paths[c] = append(paths[c], "/"+network+"/ext/"+path)
	}
	for _, network := range networks {
		for _, path := range slices.Sorted(maps.Keys(n.networks[network].routes)) {
			add(network, path, n.networks[network].routes[path].capabilities)
		}
		add(network, "bc/{blockchainId}/validators", n.chainValidators.Capabilities())
	}
	for _, c := range order {
		visit(paths[c], c)
	}
}
