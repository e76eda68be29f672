package primary_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting/address"

	"snowglobe/handlers/data"
	"snowglobe/handlers/data/datatest"
	"snowglobe/handlers/data/primary"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
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

// TestBlocksAndTransactionsAreReadOnce asks for lists, and then for other pages of the same items: only the index is read again.
func TestBlocksAndTransactionsAreReadOnce(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 1))
	for _, chain := range datatest.Chains {
		for _, list := range []string{"/blocks", "/transactions"} {
			base := "/v1/networks/mainnet/blockchains/" + chain + list
			first, second := g.Statements(t, base+"?pageSize=5"), g.Statements(t, base+"?pageSize=4")
			if len(second) != 1 || len(first) < 5 {
				t.Errorf("GET %s takes %d statements, then %d:\n%q", base, len(first), len(second), second)
			}
		}
	}
	g.Get(t, "/v1/avax/supply")
	for _, text := range g.Statements(t, "/v1/avax/supply?pretty=true") {
		if strings.Contains(text, "burned") {
			t.Errorf("what was burned is added up again: %s", text)
		}
	}
}

// TestTransactionsOfAValidationAreThoseThatChangeIt follows the list of each L1 validation by pages of one, in both orders, and with an address.
func TestTransactionsOfAValidationAreThoseThatChangeIt(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		list := "/v1/networks/" + network + "/blockchains/p-chain/transactions"
		of, touched := map[string][]string{}, map[string]string{}
		for _, tx := range g.Pages(t, list, "transactions", 50) {
			for _, v := range datatest.Objects(tx["l1ValidatorDetails"]) {
				id := v["validationId"].(string)
				of[id] = append(of[id], tx["txHash"].(string))
			}
			if inputs := datatest.Objects(tx["consumedUtxos"]); len(inputs) > 0 {
				touched[tx["txHash"].(string)] = datatest.Dig(inputs[0], "addresses", 0).(string)
			}
		}
		several := 0
		for id, want := range of {
			datatest.Same(t, id, datatest.Text(g.Pages(t, list+"?l1ValidationId="+id, "transactions", 1), "txHash"), want)
			oldest := datatest.Text(g.Pages(t, list+"?sortOrder=asc&l1ValidationId="+id, "transactions", 1), "txHash")
			slices.Reverse(oldest)
			datatest.Same(t, id, oldest, want)
			by := map[string][]string{}
			for _, tx := range want {
				by[touched[tx]] = append(by[touched[tx]], tx)
			}
			for address := range by {
				for _, order := range []string{"asc", "desc"} {
					have := datatest.Text(g.Pages(t, list+"?sortOrder="+order+"&l1ValidationId="+id+"&addresses="+address, "transactions", 1), "txHash")
					for _, tx := range by[address] {
						if !slices.Contains(have, tx) {
							t.Errorf("%s of %s lacks %s", id, address, tx)
						}
					}
					for _, tx := range have {
						if !slices.Contains(want, tx) {
							t.Errorf("%s of %s has %s", id, address, tx)
						}
					}
				}
			}
			if len(want) > 2 {
				several++
			}
		}
		if several == 0 {
			t.Error("no validation changes often")
		}
	}
}

// TestViewsAreTheAnswers: what other packages show of transactions and balances is what the operations answer.
func TestViewsAreTheAnswers(t *testing.T) {
	g := datatest.Open(t, 1)
	views := primary.NewViews(data.NewBase(g.World, data.Options{}))
	n := g.Network(t, "mainnet")
	for kind, name := range datatest.Chains {
		base, chain := "/v1/networks/mainnet/blockchains/"+name, n.Chain(txs.Chain(kind))
		at, err := n.DB.PrimaryTxIDs(t.Context(), store.TxRange{High: store.Last(chain), Low: store.First(chain), Limit: 3})
		if err != nil || len(at) == 0 {
			t.Fatal(at, err)
		}
		list := datatest.Objects(g.Get(t, base+"/transactions")["transactions"])
		for i, p := range at {
			shown, err := views.Transaction(t.Context(), n, txs.Chain(kind), p)
			if err != nil || datatest.Encode(shown) == "" || !sameJSON(t, shown, list[i]) {
				t.Errorf("a view of %s is %s, %v", name, datatest.Encode(shown), err)
			}
		}
		if _, err := views.Transaction(t.Context(), n, txs.Chain(kind), store.Last(chain)); err == nil {
			t.Error("there is a view of no transaction")
		}
		owner := g.Owner(t, "mainnet", "traveller")
		_, raw, err := address.ParseBech32(owner)
		if err != nil {
			t.Fatal(err)
		}
		balance, sum, err := views.Balance(t.Context(), n, txs.Chain(kind), []ids.ShortID{ids.ShortID(raw)}, uint64(datatest.Integer(datatest.Dig(g.Get(t, base+"/blocks"), "blocks", 0, "blockNumber"))))
		if want := g.Get(t, base+"/balances?addresses="+owner)["balances"]; err != nil || sum == nil || !sameJSON(t, balance, want) {
			t.Errorf("the balance on %s is %s: want %s, %v", name, datatest.Encode(balance), datatest.Encode(want), err)
		}
	}
}

// sameJSON compares a value with a decoded answer.
func sameJSON(t *testing.T, have, want any) bool {
	t.Helper()
	raw, err := data.Marshal(have)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var decoded any
	if err := d.Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	return datatest.Encode(decoded) == datatest.Encode(want)
}
