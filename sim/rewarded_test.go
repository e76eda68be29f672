package sim

import (
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/pchain"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// TestWhoIsRewarded: a node that was up for exactly the required share of its time is rewarded, one that nobody knows is not.
func TestWhoIsRewarded(t *testing.T) {
	for _, networkRules := range []*rules.Network{rules.Mainnet, rules.Fuji} {
		required := networkRules.Staking.UptimeRequirement
		n := &Network{Rules: networkRules}
		for i, uptime := range []uint32{required - 1, required, required + 1} {
			node := ids.NodeID{byte(i)}
			n.nodes = append(n.nodes, store.Node{Node: node[:], Uptime: uptime})
		}
		for i, want := range []bool{false, true, true, false} {
			if got := (&extension{Network: n}).rewarded(&pchain.Staker{NodeID: ids.NodeID{byte(i)}}); got != want {
				t.Errorf("%s: node %d is rewarded: %t", networkRules.Name, i, got)
			}
		}
	}
}
