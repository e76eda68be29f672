package primary

import (
	"testing"

	"github.com/ava-labs/avalanchego/ids"
)

func TestNetworksAreWhole(t *testing.T) {
	for _, n := range []*Network{Mainnet, Fuji} {
		for _, c := range []Chain{XChain, CChain} {
			if back, ok := n.ChainOf(n.BlockchainID(c)); !ok || back != c {
				t.Errorf("network %d: chain %s has no id of its own", n.NetworkID, c)
			}
		}
		if n.AVAXAssetID == ids.Empty {
			t.Errorf("network %d has no AVAX", n.NetworkID)
		}
	}
}
