// A token list gives logos to the world's tokens.

package handlers_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLogosOfATokenList gives a token a logo. The Data API and the world's own token list show it until the world is reverted.
func TestLogosOfATokenList(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	token, digest := d.contract("usdx").Hex(), string(w.Digest())
	shown := func() string {
		logos := map[string]bool{}
		for _, balance := range d.ask("/v1/chains/43114/addresses/" + d.from.Hex() + "/balances:listErc20?pageSize=100")["erc20TokenBalances"].([]any) {
			if b := balance.(map[string]any); b["address"] == token {
				logos[b["logoUri"].(string)] = true
			}
		}
		for _, listed := range d.ask("/sim/tokenlist.json")["tokens"].([]any) {
			if l := listed.(map[string]any); l["address"] == token && l["chainId"] == 43114.0 {
				logos[l["logoURI"].(string)] = true
			}
		}
		if contract := d.ask("/v1/chains/43114/addresses/" + token); contract["logoAsset"] != nil {
			logos[contract["logoAsset"].(map[string]any)["imageUri"].(string)] = true
		}
		return fmt.Sprint(logos)
	}
	drawn, snapshot := shown(), ""
	if !strings.Contains(drawn, "/sim/logo/") || strings.Count(drawn, "true") != 1 {
		t.Fatalf("the logo is %s", drawn)
	}
	d.call(&snapshot, "evm_snapshot")
	list := func(logo string) string {
		return `{"content":{"name":"Mine","tokens":[{"chainId":43114,"address":"` + token + `","name":"x","symbol":"USDX","decimals":6,"logoURI":"` + logo + `"}]}}`
	}
	for _, logo := range []string{"https://example.com/one.png", "ipfs://QmTwo"} {
		done, text := d.imports(200, list(logo))
		if len(done.Contracts) != 1 || done.Contracts[0].Name != "usdx" || len(done.Notes) != 0 || done.Digest == digest {
			t.Errorf("%s", text)
		}
		if got := shown(); got != "map["+logo+":true]" {
			t.Errorf("the logo is %s, want %s", got, logo)
		}
		if err := w.CheckDigest(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if done, text := d.imports(200, list("javascript:alert(1)")); len(done.Contracts) != 0 || !strings.Contains(text, "its logo is no URL of http, https, ipfs or data") {
		t.Error(text)
	}
	if done, text := d.imports(200, list("ipfs://QmTwo")); len(done.Contracts) != 0 || !strings.Contains(text, "has the name usdx already") {
		t.Error(text)
	}
	d.verify()
	d.call(nil, "evm_revert", snapshot)
	if got := shown(); got != drawn || string(w.Digest()) != digest {
		t.Errorf("after a revert the logo is %s", got)
	}
}
