package evm_test

import (
	"slices"
	"strconv"
	"testing"

	"snowglobe/handlers/data/datatest"
)

var people = []string{"alice", "whale", "collector", "clumsy", "spammed", "nobody"}

// addressLists holds the lists for an address, with the name of their items.
var addressLists = []struct{ path, key string }{
	{"transactions:listNative", "transactions"},
	{"transactions:listInternals", "transactions"},
	{"transactions:listErc20", "transactions"},
	{"transactions:listErc721", "transactions"},
	{"transactions:listErc1155", "transactions"},
	{"transactions", "transactions"},
	{"transactions?sortOrder=asc", "transactions"},
	{"balances:listErc20", "erc20TokenBalances"},
	{"balances:listErc20?filterSpamTokens=false&currency=jpy", "erc20TokenBalances"},
	{"balances:listErc721", "erc721TokenBalances"},
	{"balances:listErc1155", "erc1155TokenBalances"},
	{"balances:listCollectibles", "collectibleBalances"},
}

// TestEveryListForEveryPersona follows every page in both dialects, and compares each answer with the document.
func TestEveryListForEveryPersona(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, prefix := range []string{"", "/upstream"} {
		for _, c := range g.Chains {
			for _, name := range people {
				for _, l := range addressLists {
					all := g.Pages(t, prefix+datatest.Path(c, "addresses", g.Persona(t, name), l.path), l.key, 7)
					if name == "nobody" && len(all) > 0 {
						t.Errorf("nobody has %d in %s", len(all), l.path)
					}
					datatest.Distinct(t, name+" "+l.path, all)
				}
				g.Get(t, prefix+datatest.Path(c, "addresses", g.Persona(t, name), "balances:getNative"))
				g.Get(t, prefix+"/v1/address/"+g.Persona(t, name)+"/chains")
			}
		}
	}
}

// TestChainsOfAnAddressAreThoseWithItsMoney: each chain listed for an address has a balance of it, even one that arrived from another chain of the
// network without a transaction here.
func TestChainsOfAnAddressAreThoseWithItsMoney(t *testing.T) {
	g := datatest.Open(t, 1)
	for name, want := range map[string]int{"traveller": 2, "fresh": len(g.Chains), "nobody": 0, "locked": 0} {
		address, funded := g.Persona(t, name), []string{}
		for _, c := range g.Chains {
			if balance := datatest.Dig(g.Get(t, datatest.Path(c, "addresses", address, "balances:getNative")), "nativeTokenBalance", "balance"); balance != "0" {
				funded = append(funded, strconv.Itoa(int(c.Row.EVMID)))
			}
		}
		listed := []string{}
		for _, c := range g.Get(t, "/v1/address/"+address+"/chains")["indexedChains"].([]any) {
			listed = append(listed, datatest.Dig(c, "chainId").(string))
		}
		if !slices.Equal(listed, funded) || len(listed) != want {
			t.Errorf("%s is on %v, with money on %v: want %d", name, listed, funded, want)
		}
	}
}
