package node

import (
	"maps"
	"slices"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/rest"
)

var _ rest.Lister = (*Node)(nil)

// Endpoints lists everything that the node serves, each at all of its paths.
func (n *Node) Endpoints() []rest.Endpoint {
	paths := map[*jsonrpc.Capabilities][]string{}
	var order []*jsonrpc.Capabilities
	add := func(network, path string, c *jsonrpc.Capabilities) {
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
	var all []rest.Endpoint
	for _, c := range order {
		all = append(all, rest.Endpoint{Interface: "node", Methods: c.HTTP, Paths: paths[c], Operations: append([]string{}, c.RPC...)})
	}
	return all
}
