package sim

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// AlwaysUp is the uptime of a node that never fails, and of a node that a client made up.
const AlwaysUp = rules.PercentDenominator

// Uptime returns the share of its time, of a million, that a validator's node is up; known is the world's node, nil for one that a client made up.
func (n *Network) Uptime(node ids.NodeID, known *store.Node) uint32 {
	if uptime, set := n.Trouble.Now().Uptimes[node]; set {
		return uptime
	}
	if known == nil {
		return AlwaysUp
	}
	return known.Uptime
}

// ObservedBy returns the local node's uptime as a peer observed it, in percent, at most its own.
func (n *Network) ObservedBy(peer ids.NodeID) uint64 {
	return max(uint64(n.Uptime(n.LocalNode.ID(), &n.LocalNode.Node))/rules.Percent, 1) - uint64(nodeNumber(peer, 0)%2)
}
