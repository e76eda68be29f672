package node

import (
	"maps"
	"slices"

	"snowglobe/handlers/surface"
	"snowglobe/sim"
	"snowglobe/sim/rules"
)

// serves returns what reports whether a strict node answers a method at one of the surface's paths now, by the clock of the network; nil for a
// node that answers all. Methods of a path without a network do not depend on its upgrades.
func (n *Node) serves(path string, network *sim.Network) func(method string) bool {
	if n.options.Strict == surface.Never {
		return nil
	}
	methods := surface.Methods(path)
	return func(method string) bool { return methods[method].At(helicon(network)) >= n.options.Strict }
}

// mounts reports whether a strict node has anything at one of the surface's paths that no upgrade changes.
func (n *Node) mounts(path string) bool {
	all := slices.Collect(maps.Values(surface.Methods(path)))
	return slices.ContainsFunc(all, func(e surface.Eras) bool { return e.At(false) >= n.options.Strict })
}

// helicon reports whether a network has come to Helicon.
func helicon(network *sim.Network) bool {
	return network != nil && network.Rules.Active(rules.Helicon, uint64(network.Clock.Unix()))
}
