package data_test

import (
	"slices"
	"testing"
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
	g := open(t, 1)
	for _, prefix := range []string{"", "/upstream"} {
		for _, c := range g.Chains {
			for _, name := range people {
				for _, l := range addressLists {
					all := g.pages(t, prefix+path(c, "addresses", g.persona(t, name), l.path), l.key, 7)
					if name == "nobody" && len(all) > 0 {
						t.Errorf("nobody has %d in %s", len(all), l.path)
					}
					distinct(t, name+" "+l.path, all)
				}
				g.get(t, prefix+path(c, "addresses", g.persona(t, name), "balances:getNative"))
				g.get(t, prefix+"/v1/address/"+g.persona(t, name)+"/chains")
			}
		}
	}
}

// distinct fails on a duplicate item.
func distinct(t *testing.T, what string, all []object) {
	t.Helper()
	seen := map[string]bool{}
	for _, item := range all {
		key := encode(item)
		if seen[key] {
			t.Errorf("%s lists %s twice", what, key)
		}
		seen[key] = true
	}
}

// TestChainsOfAnAddressAreThoseWithItsMoney: each chain listed for an address has a balance of it, even one that arrived from another chain of the
// network without a transaction here.
func TestChainsOfAnAddressAreThoseWithItsMoney(t *testing.T) {
	g := open(t, 1)
	for name, want := range map[string]int{"traveller": 2, "fresh": len(g.Chains), "nobody": 0, "locked": 0} {
		address, funded := g.persona(t, name), []string{}
		for _, c := range g.Chains {
			if balance := dig(g.get(t, path(c, "addresses", address, "balances:getNative")), "nativeTokenBalance", "balance"); balance != "0" {
				funded = append(funded, itoa(int(c.Row.EVMID)))
			}
		}
		listed := []string{}
		for _, c := range g.get(t, "/v1/address/"+address+"/chains")["indexedChains"].([]any) {
			listed = append(listed, dig(c, "chainId").(string))
		}
		if !slices.Equal(listed, funded) || len(listed) != want {
			t.Errorf("%s is on %v, with money on %v: want %d", name, listed, funded, want)
		}
	}
}
