package primary_test

import (
	"testing"

	"snowglobe/handlers/data/datatest"
)

// TestOptionsHaveTheProposerOfTheirParent walks the P-Chain: a commit or an abort has the proposer of the block that it decides.
func TestOptionsHaveTheProposerOfTheirParent(t *testing.T) {
	g := datatest.Open(t, 1)
	options := 0
	for _, network := range datatest.Networks {
		blocks := map[any]datatest.Object{}
		for _, b := range g.Pages(t, "/v1/networks/"+network+"/blockchains/p-chain/blocks", "blocks", 50) {
			blocks[b["blockHash"]] = b
		}
		for _, b := range blocks {
			if b["blockType"] != "Commit" && b["blockType"] != "Abort" {
				continue
			}
			options++
			for _, field := range []string{"proposerNodeId", "proposerPChainHeight", "proposerTimestamp"} {
				if have, want := datatest.Dig(b, "proposerDetails", field), datatest.Dig(blocks[b["parentHash"]], "proposerDetails", field); have != want || have == nil {
					t.Errorf("%s of option %v is %v: want %v", field, b["blockHash"], have, want)
				}
			}
		}
	}
	if options == 0 {
		t.Error("there is no option")
	}
}

// TestUnusedAddressesHaveNoChains: the specification has an entry for each address, the live service only for used ones.
func TestUnusedAddressesHaveNoChains(t *testing.T) {
	g := datatest.Open(t, 1)
	n := g.Network(t, "mainnet")
	used, unused := g.Owner(t, "mainnet", "traveller"), n.Rules.Bech32([20]byte{9})
	path := "/v1/networks/mainnet/addresses:listChainIds?addresses=" + used + "," + unused
	spec, live := datatest.Objects(g.Get(t, path)["addresses"]), datatest.Objects(g.Get(t, "/upstream"+path)["addresses"])
	if len(spec) != 2 || len(live) != 1 || live[0]["address"] != used {
		t.Fatalf("%v, upstream %v", spec, live)
	}
	for _, a := range spec {
		if chains := a["blockchainIds"].([]any); (len(chains) == 0) != (a["address"] == unused) {
			t.Errorf("%v has the chains %v", a["address"], chains)
		}
	}
}
