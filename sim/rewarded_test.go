package sim

import (
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/pchain"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/utxo"
)

// TestWhoIsRewarded: a node that was up for exactly the required share of its time is rewarded. A node that a client made up is always up, unless
// somebody sets its uptime. Stakes that start at or after Helicon need 90 %, and a delegator needs as much as its validator.
func TestWhoIsRewarded(t *testing.T) {
	for _, networkRules := range []*rules.Network{rules.Mainnet, rules.Fuji} {
		activation := networkRules.ActivationTime(rules.Helicon)
		for validated, required := range map[uint64]uint32{activation - 1: 800_000, activation: 900_000} {
			n := &Network{Rules: networkRules}
			var stakers []*pchain.Staker
			for i, uptime := range []uint32{required - 1, required, required + 1} {
				node := ids.NodeID{byte(i)}
				n.nodes = append(n.nodes, store.Node{Node: node[:], Uptime: uptime})
				stakers = append(stakers, &pchain.Staker{NodeID: node, TxID: ids.ID{byte(i)}, Status: pchain.Active, Start: validated, End: activation + 1e9})
			}
			n.state = &primary.Network{P: pchain.New(networkRules, utxo.NewSharedMemory(), pchain.Snapshot{Stakers: stakers})}
			n.Trouble.Set(Troubles{Uptimes: map[ids.NodeID]uint32{{4}: AlwaysUp, {5}: required - 1, {2}: 0}})
			for i, want := range []bool{false, true, false, true, true, false} {
				node := ids.NodeID{byte(i)}
				for role, s := range map[string]*pchain.Staker{
					"validator": {NodeID: node, Start: validated},
					"delegator": {NodeID: node, Start: activation + 5, Delegator: true},
				} {
					if got := (&extension{Network: n}).rewarded(s); got != want {
						t.Errorf("%s from %d: the %s of node %d is rewarded: %t", networkRules.Name, validated, role, i, got)
					}
				}
			}
		}
	}
}
