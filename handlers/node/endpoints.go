package node

import (
	"maps"
	"slices"

	"snowglobe/handlers/node/rpc"
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
