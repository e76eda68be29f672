package primary_test

import (
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
)

// TestTypesWithoutANameUpstreamAreUnknown: the live service has no names for the types of Helicon; its filter finds them all.
func TestTypesWithoutANameUpstreamAreUnknown(t *testing.T) {
	g := datatest.Open(t, 1)
	const helicon = "AddAutoRenewedValidatorTx,SetAutoRenewedValidatorConfigTx,RewardAutoRenewedValidatorTx"
	found := 0
	for _, network := range datatest.Networks {
		list := "/v1/networks/" + network + "/blockchains/p-chain/transactions?txTypes="
		want := g.Pages(t, list+helicon, "transactions", 50)
		found += len(want)
		for _, tx := range want {
			if !slices.Contains(strings.Split(helicon, ","), tx["txType"].(string)) {
				t.Errorf("found %v", tx["txType"])
			}
		}
		have := g.Pages(t, "/upstream"+list+"UNKNOWN", "transactions", 50)
		datatest.Same(t, "unknown types", datatest.Text(have, "txHash"), datatest.Text(want, "txHash"))
		for _, tx := range have {
			if tx["txType"] != "UNKNOWN" {
				t.Errorf("upstream names the type %v", tx["txType"])
			}
		}
		if none := g.Pages(t, list+"UNKNOWN", "transactions", 50); len(none) > 0 {
			t.Errorf("in the specification's dialect %d transactions are of an unknown type", len(none))
		}
	}
	if found == 0 {
		t.Error("there is no such transaction")
	}
}

// TestTokensFitEverySpellingOfABody continues from a first page with the same addresses, written and ordered otherwise; other addresses are another
// query.
func TestTokensFitEverySpellingOfABody(t *testing.T) {
	g := datatest.Open(t, 1)
	hoarder, alice := g.Owner(t, "fuji", "hoarder"), g.Owner(t, "fuji", "alice")
	body := func(addresses ...string) string { return `{"addresses":"` + strings.Join(addresses, ", ") + `"}` }
	const path = "/v1/networks/fuji/blockchains/x-chain/utxos?pageSize=2"
	token := "&pageToken=" + g.Post(t, path, body(hoarder, alice), 200)["nextPageToken"].(string)
	want := datatest.Encode(g.Post(t, path+token, body(hoarder, alice), 200)["utxos"])
	for _, same := range []string{body(alice, hoarder), body("X-"+alice, "P-"+hoarder, alice), body(hoarder, "C-"+hoarder, alice)} {
		if have := datatest.Encode(g.Post(t, path+token, same, 200)["utxos"]); have != want {
			t.Errorf("the second page for %s is %s: want %s", same, have, want)
		}
	}
	for _, other := range []string{body(alice), body(alice, hoarder, g.Owner(t, "fuji", "bob"))} {
		if says := datatest.Encode(g.Post(t, path+token, other, 400)["message"]); !strings.Contains(says, "another query") {
			t.Errorf("the second page for %s says %s", other, says)
		}
	}
	// An address that cannot be read is refused, with or without a token.
	for _, query := range []string{path, path + token} {
		if says := datatest.Encode(g.Post(t, query, body(alice, "nobody"), 400)["message"]); !strings.Contains(says, "nobody") && !strings.Contains(says, "another query") {
			t.Errorf("an unreadable address says %s", says)
		}
	}
}

// TestAnswersAreReadOnce: what does not change is read from the file once.
func TestAnswersAreReadOnce(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 1))

	base := "/v1/networks/mainnet/blockchains/"
	for path, again := range map[string]int{
		base + "p-chain/blocks/3": 0, base + "x-chain/blocks/1": 0, base + "c-chain/blocks/3": 1,
		base + "x-chain/transactions/" + datatest.Dig(g.Get(t, base+"x-chain/transactions"), "transactions", 0, "txHash").(string): 1,
	} {
		first, second := g.Statements(t, path), g.Statements(t, path)
		if len(second) > again || len(first) < len(second) {
			t.Errorf("GET %s needs %d statements, then %d:\n%q", path, len(first), len(second), second)
		}
	}

}
