package primary

import (
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
)

func TestNetworksAreWhole(t *testing.T) {
	for _, n := range []*rules.Network{rules.Mainnet, rules.Fuji} {
		for _, c := range []txs.Chain{txs.XChain, txs.CChain} {
			if back, ok := n.ChainOf(n.BlockchainID(c)); !ok || back != c {
				t.Errorf("network %d: chain %s has no id of its own", n.NetworkID, c)
			}
		}
		if n.AVAXAssetID == ids.Empty {
			t.Errorf("network %d has no AVAX", n.NetworkID)
		}
	}
}
