package evm_test

import (
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
)

func TestChainsByNetworkAndFeature(t *testing.T) {
	g := datatest.Open(t, 1)
	for query, want := range map[string][]string{
		"": {"43114", "43113", "70411"}, "?network=mainnet": {"43114", "70411"}, "?network=testnet": {"43113"},
		"?feature=nftIndexing&network=fuji": {"43113"}, "?feature=webhooks&network=mainnet": {"43114", "70411"},
	} {
		var have []string
		for _, c := range g.Get(t, "/v1/chains"+query)["chains"].([]any) {
			have = append(have, datatest.Dig(c, "chainId").(string))
		}
		if !slices.Equal(have, want) {
			t.Errorf("chains%s are %v: want %v", query, have, want)
		}
	}
}

func TestBlockchainIDsNameChainsToo(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, c := range g.Chains {
		long := "/v1/chains/" + ids.ID(c.Row.BlockchainID).String()
		if a, b := g.Get(t, long), g.Get(t, strings.TrimSuffix(datatest.Path(c), "/")); datatest.Encode(a) != datatest.Encode(b) {
			t.Errorf("%s is %v: want %v", long, a, b)
		}
		if a, b := g.Get(t, long+"/blocks/3"), g.Get(t, datatest.Path(c, "blocks/3")); datatest.Encode(a) != datatest.Encode(b) {
			t.Errorf("block 3 is %v by one id and %v by the other", a, b)
		}
	}
}

func TestBlockRangesIncludeTheStartAndNotTheEnd(t *testing.T) {
	g := datatest.Open(t, 1)
	c := g.Chains[0]
	alice := g.Persona(t, "alice")
	for _, list := range []struct{ name, number string }{
		{"transactions:listNative", "blockNumber"}, {"transactions:listErc20", "blockNumber"}, {"transactions:listInternals", "blockNumber"},
	} {
		url := datatest.Path(c, "addresses", alice, list.name)
		all := g.Pages(t, url, "transactions", 100)
		numbers := datatest.Text(all, list.number)
		middle := numbers[len(numbers)/2]
		n, _ := strconv.Atoi(middle)
		before, after := 0, 0
		for _, m := range numbers {
			if k, _ := strconv.Atoi(m); k < n {
				before++
			} else {
				after++
			}
		}
		if have := len(g.Pages(t, url+"?startBlock="+middle, "transactions", 7)); have != after {
			t.Errorf("%s from block %s: %d: want %d", list.name, middle, have, after)
		}
		if have := len(g.Pages(t, url+"?endBlock="+middle, "transactions", 7)); have != before {
			t.Errorf("%s before block %s: %d: want %d", list.name, middle, have, before)
		}
		one := g.Pages(t, fmt.Sprintf("%s?startBlock=%d&endBlock=%d", url, n, n+1), "transactions", 7)
		for _, m := range datatest.Text(one, list.number) {
			if m != middle {
				t.Errorf("%s in block %s has one of block %s", list.name, middle, m)
			}
		}
		if len(g.Pages(t, url+"?startBlock=5&endBlock=5", "transactions", 7)) != 0 || len(one) == 0 {
			t.Errorf("%s: an empty range or a single block is wrong", list.name)
		}
		if len(g.Pages(t, url+"?endBlock=9000000000000000000", "transactions", 50)) != len(all) {
			t.Errorf("%s: an end beyond every block leaves something out", list.name)
		}
	}
}

func TestSpamIsHiddenUnlessAskedFor(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, c := range g.Chains {
		url := datatest.Path(c, "addresses", g.Persona(t, "spammed"), "balances:listErc20")
		clean := g.Pages(t, url, "erc20TokenBalances", 2)
		every := g.Pages(t, url+"?filterSpamTokens=false", "erc20TokenBalances", 2)
		if len(every) != len(clean)+2 {
			t.Errorf("chain %d: %d tokens with spam, %d without: want 2 more", c.Row.EVMID, len(every), len(clean))
		}
		spam := []string{g.Contract(t, c, "airdrop"), g.Contract(t, c, "giveaway")}
		for _, b := range every {
			malicious := slices.Contains(spam, b["address"].(string))
			reputation := any(nil)
			switch {
			case malicious:
				reputation = "Malicious"
			case c.Kind != "C":
			case slices.Contains([]string{"USDX", "BTCX", "EURX", "WAVAX"}, b["symbol"].(string)):
				reputation = "Benign"
			}
			if b["tokenReputation"] != reputation {
				t.Errorf("chain %d: reputation of %s is %v: want %v", c.Row.EVMID, b["name"], b["tokenReputation"], reputation)
			}
		}
	}
}

func TestContractFilters(t *testing.T) {
	g := datatest.Open(t, 1)
	c := g.Chains[0]
	alice, usdx, snow, collection := g.Persona(t, "alice"), g.Contract(t, c, "usdx"), g.Contract(t, c, "snow"), g.Contract(t, c, "collection")
	for _, query := range []string{
		"contractAddresses=" + url.QueryEscape(usdx+", "+strings.ToLower(snow)), "contractAddresses=" + usdx + "&contractAddresses=" + snow,
	} {
		have := datatest.Text(g.Pages(t, datatest.Path(c, "addresses", alice, "balances:listErc20?"+query), "erc20TokenBalances", 1), "address")
		if !slices.Equal(have, []string{usdx, snow}) {
			t.Errorf("%s: %v", query, have)
		}
	}
	for list, key := range map[string]string{"listErc721": "erc721TokenBalances", "listCollectibles": "collectibleBalances"} {
		items := g.Pages(t, datatest.Path(c, "addresses", alice, "balances:"+list+"?contractAddress="+collection), key, 4)
		for _, a := range datatest.Text(items, "address") {
			if a != collection {
				t.Errorf("%s has an item of %s", list, a)
			}
		}
		if len(items) == 0 || len(g.Pages(t, datatest.Path(c, "addresses", alice, "balances:"+list+"?contractAddress="+usdx), key, 4)) != 0 {
			t.Errorf("%s does not follow its filter", list)
		}
	}
}

// TestMetadataHasEveryStatus checks the collector's crystals and gear, and a token without a URI.
func TestMetadataHasEveryStatus(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, c := range g.Chains {
		for _, role := range []string{"collection", "items"} {
			contract := g.Contract(t, c, role)
			have := map[string]string{}
			for _, token := range g.Pages(t, "/upstream"+datatest.Path(c, "nfts/collections", contract, "tokens"), "tokens", 11) {
				have[token["tokenId"].(string)] = datatest.Dig(token, "metadata", "indexStatus").(string)
			}
			for id, want := range map[string]string{
				"1": "INDEXED", "7": "INVALID_TOKEN_URI", "8": "INVALID_TOKEN_URI_SCHEME", "9": "UNREACHABLE_TOKEN_URI", "10": "THROTTLED_TOKEN_URI",
				"11": "METADATA_CONTENT_TOO_LARGE", "12": "INVALID_METADATA", "13": "INVALID_METADATA_JSON", "14": "UNINDEXED", "15": "UNKNOWN", "99": "MISSING_TOKEN",
			} {
				if have[id] != want {
					t.Errorf("%s %s is %s: want %s", role, id, have[id], want)
				}
			}
			for _, key := range []string{"ownerAddress", "tokenUri"} {
				gone := g.Get(t, datatest.Path(c, "nfts/collections", contract, "tokens/99"))
				if v := gone[key]; v != nil && v != "" {
					t.Errorf("token 99 of %s, which is gone, has %s %v", role, key, v)
				}
			}
		}
		holdsEveryStatus(t, g, c)
	}
}

// holdsEveryStatus checks that the collector's own lists have every status, too.
func holdsEveryStatus(t *testing.T, g *datatest.Globe, c *reader.Chain) {
	t.Helper()
	for list, key := range map[string]string{"listErc721": "erc721TokenBalances", "listErc1155": "erc1155TokenBalances"} {
		have := map[string]bool{}
		for _, item := range g.Pages(t, "/upstream"+datatest.Path(c, "addresses", g.Persona(t, "collector"), "balances:"+list), key, 7) {
			have[datatest.Dig(item, "metadata", "indexStatus").(string)] = true
		}
		for _, status := range schema.IndexStatuses {
			if !have[status] {
				t.Errorf("%s of the collector on %s has nothing that is %s", list, c.Row.Name, status)
			}
		}
	}
}

// fetch follows a link of an answer.
func fetch(t *testing.T, g *datatest.Globe, link any) *httptest.ResponseRecorder {
	t.Helper()
	u, err := url.Parse(fmt.Sprint(link))
	if err != nil || u.Host != "example.com" {
		t.Fatalf("link %v does not lead back", link)
	}
	w := httptest.NewRecorder()
	g.Server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, u.String(), nil))
	return w
}

func TestLinksLeadBackHere(t *testing.T) {
	g := datatest.Open(t, 1)
	c := g.Chains[0]
	chain := g.Get(t, "/v1/chains/43114")
	if rpc := chain["rpcUrl"]; rpc != "http://example.com/ext/bc/"+chain["platformChainId"].(string)+"/rpc" {
		t.Errorf("rpcUrl is %v", rpc)
	}
	if ws := chain["wsUrl"]; ws != "ws://example.com/ext/bc/"+chain["platformChainId"].(string)+"/ws" {
		t.Errorf("wsUrl is %v", ws)
	}
	balance := g.Get(t, datatest.Path(c, "addresses", g.Persona(t, "alice"), "balances:listErc20"))
	for _, link := range []any{chain["chainLogoUri"], datatest.Dig(chain, "networkToken", "logoUri"), datatest.Dig(balance, "erc20TokenBalances", 0, "logoUri")} {
		if w := fetch(t, g, link); w.Code != 200 || w.Header().Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(w.Body.String(), "<svg") {
			t.Errorf("%v is %d %s", link, w.Code, w.Body)
		}
	}
}

// TestValuesAreExact multiplies every balance by its price.
func TestValuesAreExact(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, c := range g.Chains {
		for _, name := range []string{"alice", "whale"} {
			for _, currency := range []string{"usd", "jpy", "huf"} {
				valued := 0
				for _, b := range g.Pages(t, datatest.Path(c, "addresses", g.Persona(t, name), "balances:listErc20?currency="+currency), "erc20TokenBalances", 500) {
					if b["price"] == nil {
						if b["balanceValue"] != nil {
							t.Errorf("%s has a value and no price", b["symbol"])
						}
						continue
					}
					valued++
					price, _ := new(big.Rat).SetString(datatest.Dig(b, "price", "value").(string))
					balance, _ := new(big.Rat).SetString(b["balance"].(string))
					decimals, _ := strconv.Atoi(fmt.Sprint(b["decimals"]))
					unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
					want := price.Quo(price.Mul(price, balance), unit)
					if have, _ := new(big.Rat).SetString(datatest.Dig(b, "balanceValue", "value").(string)); have.Cmp(want) != 0 {
						t.Errorf("%s of %s is worth %v: want %s", b["balance"], b["symbol"], datatest.Dig(b, "balanceValue", "value"), want.FloatString(30))
					}
				}
				if name == "alice" && valued < 5 {
					t.Errorf("alice holds %d tokens with a market", valued)
				}
			}
		}
	}
}

// TestMethodsAreNamed finds calls of all three types.
func TestMethodsAreNamed(t *testing.T) {
	g := datatest.Open(t, 1)
	seen := map[string]bool{}
	for _, tx := range g.Pages(t, "/v1/transactions", "transactions", 100) {
		m := tx["method"].(datatest.Object)
		seen[fmt.Sprint(m["callType"], " ", m["methodName"])] = true
		if (m["callType"] == "CONTRACT_CALL") != (len(m["methodHash"].(string)) == 10) {
			t.Errorf("method is %v", m)
		}
	}
	for _, want := range []string{"NATIVE_TRANSFER Native Transfer", "CONTRACT_CREATION Contract Created",
		"CONTRACT_CALL transfer(address,uint256)", "CONTRACT_CALL swap(address,uint256,uint256,address)"} {
		if !seen[want] {
			t.Errorf("no transaction is a %s", want)
		}
	}
}
