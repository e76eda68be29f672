package evm_test

import (
	"strconv"
	"testing"

	"snowglobe/handlers/data/datatest"
)

// TestSecondHistoryNamesReputations reads the history of a recipient of malicious tokens in both versions.
func TestSecondHistoryNamesReputations(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, c := range g.Chains {
		first := datatest.Path(c, "addresses", g.Persona(t, "spammed"), "transactions")
		second := "/v2" + first[len("/v1"):]
		before, all, some := g.Pages(t, first, "transactions", 7), g.Pages(t, second+"?filterSpamTokens=false", "transactions", 7), g.Pages(t, second, "transactions", 7)
		if len(before) != len(all) || len(before) != len(some) {
			t.Fatalf("%s: %d, %d and %d transactions", c.Row.Name, len(before), len(all), len(some))
		}
		malicious, hidden := 0, 0
		for i := range before {
			x, _ := before[i]["erc20Transfers"].([]any)
			y, _ := all[i]["erc20Transfers"].([]any)
			z, _ := some[i]["erc20Transfers"].([]any)
			if len(x) != len(y) {
				t.Errorf("a transaction has %d transfers in one version and %d in the other", len(x), len(y))
			}
			hidden += len(y) - len(z)
			for _, transfer := range y {
				token := datatest.Dig(transfer, "erc20Token").(datatest.Object)
				value, there := token["tokenReputation"]
				switch {
				case !there:
					t.Errorf("%v has no reputation", token)
				case value == "Malicious":
					malicious++
				}
			}
		}
		if malicious == 0 || malicious != hidden {
			t.Errorf("%s: %d malicious transfers, %d are left out", c.Row.Name, malicious, hidden)
		}
	}
}

// TestTokenListHoldsWhatWalletsMayShow compares the list with the tokens of an account that has spam.
func TestTokenListHoldsWhatWalletsMayShow(t *testing.T) {
	g := datatest.Open(t, 1)
	listed := map[string]datatest.Object{}
	for _, token := range g.Get(t, "/sim/tokenlist.json")["tokens"].([]any) {
		listed[datatest.Dig(token, "chainId").(interface{ String() string }).String()+datatest.Dig(token, "address").(string)] = token.(datatest.Object)
	}
	for _, c := range g.Chains {
		for _, balance := range g.Pages(t, datatest.Path(c, "addresses", g.Persona(t, "spammed"), "balances:listErc20?filterSpamTokens=false"), "erc20TokenBalances", 50) {
			token := listed[strconv.Itoa(int(c.Row.EVMID))+balance["address"].(string)]
			if malicious := balance["tokenReputation"] == "Malicious"; malicious != (token == nil) {
				t.Errorf("%s is malicious: %t, listed: %v", balance["symbol"], malicious, token)
			}
			if token != nil && (token["symbol"] != balance["symbol"] || token["decimals"] != balance["decimals"] || token["logoURI"] != balance["logoUri"]) {
				t.Errorf("listed is %v, held %v", token, balance)
			}
		}
	}
}
