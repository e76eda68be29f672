package data_test

import (
	"testing"

	"snowglobe/handlers/data/datatest"
)

// TestAliasesKeepToTheirNetworks: an alias given on both networks names each one's own chain, and no alias replaces a built-in name.
func TestAliasesKeepToTheirNetworks(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, n := range g.Networks {
		for _, name := range []string{"same", "c-chain", "43114", g.Networks[1].Rules.XChainID.String()} {
			n.Aliases.Give(name, n.Rules.XChainID)
		}
	}
	for _, n := range g.Networks {
		blocks := "/v1/networks/" + n.Name + "/blockchains/"
		for name, want := range map[string]string{"same": "x-chain", "c-chain": "c-chain"} {
			if have := datatest.Dig(g.Get(t, blocks+name+"/blocks"), "chainInfo", "chainName"); have != want {
				t.Errorf("%s on %s is %v: want %s", name, n.Name, have, want)
			}
		}
	}
	if have := g.Get(t, "/v1/chains/43114")["chainId"]; have != "43114" {
		t.Errorf("43114 is %v", have)
	}
	fuji := g.Networks[1].Rules.XChainID.String()
	if have := datatest.Dig(g.Get(t, "/v1/networks/fuji/blockchains/"+fuji+"/blocks"), "chainInfo", "network"); have != "fuji" {
		t.Errorf("%s is of %v", fuji, have)
	}
}

// TestNamesThatAreGivenLaterChangeAnswers: an alias names the test network's chain until the main network has it, too.
func TestNamesThatAreGivenLaterChangeAnswers(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, l := range []int{1, 0} {
		n := g.Networks[l]
		n.Aliases.Give("contracts", n.Rules.CChainID)
		for range 2 {
			if have := g.Get(t, "/v1/chains/contracts")["platformChainId"]; have != n.Rules.CChainID.String() {
				t.Errorf("the name of %s is of %v", n.Name, have)
			}
		}
	}
}
