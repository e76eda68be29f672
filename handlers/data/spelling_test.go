package data_test

import (
	"net/url"
	"strings"
	"testing"

	"snowglobe/handlers/data/datatest"
)

// TestTokensFitEverySpellingOfAQuery continues from a first page under other spellings of the query: each gives the same second page, and another
// query refuses the token.
func TestTokensFitEverySpellingOfAQuery(t *testing.T) {
	g := datatest.Open(t, 1)
	x := g.Network(t, "fuji").Rules.XChainID.String()
	hoarder, alice := g.Owner(t, "fuji", "hoarder"), g.Owner(t, "fuji", "alice")
	const primaryID = "11111111111111111111111111111111LpoYY"
	subnet := datatest.Dig(g.Get(t, "/v1/networks/fuji/subnets?pageSize=1"), "subnets", 0, "subnetId").(string)
	for _, c := range []struct {
		spellings []string
		other     string
	}{
		{[]string{"fuji/blockchains/p-chain/blocks", "testnet/blockchains/p-chain/blocks", "fuji/blockchains/" + primaryID + "/blocks"}, "fuji/blockchains/x-chain/blocks"},
		{[]string{"fuji/blockchains/" + x + "/transactions", "testnet/blockchains/x-chain/transactions", "fuji/blockchains/x-chain/transactions?sortOrder=desc"}, "mainnet/blockchains/x-chain/transactions"},
		{[]string{"fuji/blockchains/x-chain/utxos?addresses=" + hoarder + "," + alice, "testnet/blockchains/x-chain/utxos?addresses=X-" + alice + "&addresses=P-" + hoarder,
			"fuji/blockchains/" + x + "/utxos?addresses=X-" + hoarder + "," + hoarder + ",X-" + alice}, "fuji/blockchains/x-chain/utxos?addresses=" + hoarder},
		{[]string{"fuji/validators?subnetId=" + primaryID + "," + subnet, "testnet/validators?subnetId=" + subnet + "&subnetId=" + primaryID}, "fuji/validators?subnetId=" + primaryID},
		{[]string{"fuji/validators?minTimeRemaining=1&nodeIds=A,B", "fuji/validators?nodeIds=B,A&minTimeRemaining=1.0"}, "fuji/validators?minTimeRemaining=1&nodeIds=A"},
		{[]string{"fuji/validators", "testnet/validators?sortBy=blockIndex&sortOrder=desc"}, "fuji/validators?minFeePercentage=2"},
		{[]string{"fuji/blockchains/p-chain/transactions:listStaking", "testnet/blockchains/" + primaryID + "/transactions:listStaking"}, "mainnet/blockchains/p-chain/transactions:listStaking"},
	} {
		first := g.Get(t, paged(c.spellings[0], ""))
		token, more := first["nextPageToken"].(string)
		if !more {
			t.Fatalf("%s has one page", c.spellings[0])
		}
		want := datatest.Encode(g.Get(t, paged(c.spellings[0], token)))
		for _, same := range c.spellings[1:] {
			if have := datatest.Encode(g.Get(t, paged(same, token))); have != want {
				t.Errorf("the second page of %s is %s: want that of %s, %s", same, have, c.spellings[0], want)
			}
		}
		if says := datatest.Encode(g.Ask(t, paged(c.other, token), 400)["message"]); !strings.Contains(says, "another query") {
			t.Errorf("%s says %s", c.other, says)
		}
	}
}

// paged returns a list of a network in pages of two.
func paged(list, token string) string {
	link, _ := url.Parse("/v1/networks/" + list)
	q := link.Query()
	q.Set("pageSize", "2")
	q.Set("pageToken", token)
	link.RawQuery = q.Encode()
	return link.String()
}

// TestPageTokensAreShort follows each list of the primary network by pages of one: every token is one UUID.
func TestPageTokensAreShort(t *testing.T) {
	g := datatest.Open(t, 1)
	const uuid = 36
	base := "/v1/networks/mainnet"
	hoarder := g.Owner(t, "mainnet", "hoarder")
	node := datatest.Dig(g.Get(t, base+"/validators?sortOrder=asc"), "validators", 0, "nodeId").(string)
	for _, path := range []string{"/validators?", "/validators?sortBy=uptimePerformance&", "/delegators?", "/l1Validators?includeInactiveL1Validators=true&",
		"/subnets?", "/blockchains?", "/blockchains/p-chain/blocks?", "/blockchains/x-chain/transactions?", "/blockchains/x-chain/utxos?addresses=" + hoarder + "&",
		"/blockchains/x-chain/utxos?sortBy=amount&addresses=" + hoarder + "&", "/rewards?nodeIds=" + node + "&",
		"/../../icm/messages?", "/../../teleporter/messages?"} {
		page := g.Get(t, strings.ReplaceAll(base+path, "/networks/mainnet/../..", "")+"pageSize=1")
		token, more := page["nextPageToken"].(string)
		if (more || !strings.HasPrefix(path, "/rewards")) && len(token) != uuid {
			t.Errorf("GET %s gives the token %q", path, token)
		}
	}
}
