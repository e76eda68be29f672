package data_test

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

	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
)

func TestChainsByNetworkAndFeature(t *testing.T) {
	g := open(t, 1)
	for query, want := range map[string][]string{
		"": {"43114", "43113", "70411"}, "?network=mainnet": {"43114", "70411"}, "?network=testnet": {"43113"},
		"?feature=nftIndexing&network=fuji": {"43113"}, "?feature=webhooks&network=mainnet": {"43114", "70411"},
	} {
		var have []string
		for _, c := range g.get(t, "/v1/chains"+query)["chains"].([]any) {
			have = append(have, dig(c, "chainId").(string))
		}
		if !slices.Equal(have, want) {
			t.Errorf("chains%s are %v: want %v", query, have, want)
		}
	}
}

func TestBlockchainIDsNameChainsToo(t *testing.T) {
	g := open(t, 1)
	for _, c := range g.Chains {
		long := "/v1/chains/" + ids.ID(c.Row.BlockchainID).String()
		if a, b := g.get(t, long), g.get(t, strings.TrimSuffix(path(c), "/")); encode(a) != encode(b) {
			t.Errorf("%s is %v: want %v", long, a, b)
		}
		if a, b := g.get(t, long+"/blocks/3"), g.get(t, path(c, "blocks/3")); encode(a) != encode(b) {
			t.Errorf("block 3 is %v by one id and %v by the other", a, b)
		}
	}
}

func TestBlockRangesIncludeTheStartAndNotTheEnd(t *testing.T) {
	g := open(t, 1)
	c := g.Chains[0]
	alice := g.persona(t, "alice")
	for _, list := range []struct{ name, number string }{
		{"transactions:listNative", "blockNumber"}, {"transactions:listErc20", "blockNumber"}, {"transactions:listInternals", "blockNumber"},
	} {
		url := path(c, "addresses", alice, list.name)
		all := g.pages(t, url, "transactions", 100)
		numbers := text(all, list.number)
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
		if have := len(g.pages(t, url+"?startBlock="+middle, "transactions", 7)); have != after {
			t.Errorf("%s from block %s: %d: want %d", list.name, middle, have, after)
		}
		if have := len(g.pages(t, url+"?endBlock="+middle, "transactions", 7)); have != before {
			t.Errorf("%s before block %s: %d: want %d", list.name, middle, have, before)
		}
		one := g.pages(t, fmt.Sprintf("%s?startBlock=%d&endBlock=%d", url, n, n+1), "transactions", 7)
		for _, m := range text(one, list.number) {
			if m != middle {
				t.Errorf("%s in block %s has one of block %s", list.name, middle, m)
			}
		}
		if len(g.pages(t, url+"?startBlock=5&endBlock=5", "transactions", 7)) != 0 || len(one) == 0 {
			t.Errorf("%s: an empty range or a single block is wrong", list.name)
		}
		if len(g.pages(t, url+"?endBlock=9000000000000000000", "transactions", 50)) != len(all) {
			t.Errorf("%s: an end beyond every block leaves something out", list.name)
		}
	}
}

func TestSpamIsHiddenUnlessAskedFor(t *testing.T) {
	g := open(t, 1)
	for _, c := range g.Chains {
		url := path(c, "addresses", g.persona(t, "spammed"), "balances:listErc20")
		clean := g.pages(t, url, "erc20TokenBalances", 2)
		every := g.pages(t, url+"?filterSpamTokens=false", "erc20TokenBalances", 2)
		if len(every) != len(clean)+2 {
			t.Errorf("chain %d: %d tokens with spam, %d without: want 2 more", c.Row.EVMID, len(every), len(clean))
		}
		spam := []string{g.contract(t, c, "airdrop"), g.contract(t, c, "giveaway")}
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
	g := open(t, 1)
	c := g.Chains[0]
	alice, usdx, snow, collection := g.persona(t, "alice"), g.contract(t, c, "usdx"), g.contract(t, c, "snow"), g.contract(t, c, "collection")
	for _, query := range []string{
		"contractAddresses=" + url.QueryEscape(usdx+", "+strings.ToLower(snow)), "contractAddresses=" + usdx + "&contractAddresses=" + snow,
	} {
		have := text(g.pages(t, path(c, "addresses", alice, "balances:listErc20?"+query), "erc20TokenBalances", 1), "address")
		if !slices.Equal(have, []string{usdx, snow}) {
			t.Errorf("%s: %v", query, have)
		}
	}
	for list, key := range map[string]string{"listErc721": "erc721TokenBalances", "listCollectibles": "collectibleBalances"} {
		items := g.pages(t, path(c, "addresses", alice, "balances:"+list+"?contractAddress="+collection), key, 4)
		for _, a := range text(items, "address") {
			if a != collection {
				t.Errorf("%s has an item of %s", list, a)
			}
		}
		if len(items) == 0 || len(g.pages(t, path(c, "addresses", alice, "balances:"+list+"?contractAddress="+usdx), key, 4)) != 0 {
			t.Errorf("%s does not follow its filter", list)
		}
	}
}

// TestMetadataHasEveryStatus checks the collector's crystals and gear, and a token without a URI.
func TestMetadataHasEveryStatus(t *testing.T) {
	g := open(t, 1)
	for _, c := range g.Chains {
		for _, role := range []string{"collection", "items"} {
			contract := g.contract(t, c, role)
			have := map[string]string{}
			for _, token := range g.pages(t, "/upstream"+path(c, "nfts/collections", contract, "tokens"), "tokens", 11) {
				have[token["tokenId"].(string)] = dig(token, "metadata", "indexStatus").(string)
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
				gone := g.get(t, path(c, "nfts/collections", contract, "tokens/99"))
				if v := gone[key]; v != nil && v != "" {
					t.Errorf("token 99 of %s, which is gone, has %s %v", role, key, v)
				}
			}
		}
		g.holdsEveryStatus(t, c)
	}
}

// holdsEveryStatus checks that the collector's own lists have every status, too.
func (g *globe) holdsEveryStatus(t *testing.T, c *reader.Chain) {
	t.Helper()
	for list, key := range map[string]string{"listErc721": "erc721TokenBalances", "listErc1155": "erc1155TokenBalances"} {
		have := map[string]bool{}
		for _, item := range g.pages(t, "/upstream"+path(c, "addresses", g.persona(t, "collector"), "balances:"+list), key, 7) {
			have[dig(item, "metadata", "indexStatus").(string)] = true
		}
		for _, status := range schema.IndexStatuses {
			if !have[status] {
				t.Errorf("%s of the collector on %s has nothing that is %s", list, c.Row.Name, status)
			}
		}
	}
}

// fetch follows a link of an answer.
func (g *globe) fetch(t *testing.T, link any) *httptest.ResponseRecorder {
	t.Helper()
	u, err := url.Parse(fmt.Sprint(link))
	if err != nil || u.Host != "example.com" {
		t.Fatalf("link %v does not lead back", link)
	}
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, u.String(), nil))
	return w
}

func TestLinksLeadBackHere(t *testing.T) {
	g := open(t, 1)
	c := g.Chains[0]
	chain := g.get(t, "/v1/chains/43114")
	if rpc := chain["rpcUrl"]; rpc != "http://example.com/ext/bc/"+chain["platformChainId"].(string)+"/rpc" {
		t.Errorf("rpcUrl is %v", rpc)
	}
	if ws := chain["wsUrl"]; ws != "ws://example.com/ext/bc/"+chain["platformChainId"].(string)+"/ws" {
		t.Errorf("wsUrl is %v", ws)
	}
	balance := g.get(t, path(c, "addresses", g.persona(t, "alice"), "balances:listErc20"))
	for _, link := range []any{chain["chainLogoUri"], dig(chain, "networkToken", "logoUri"), dig(balance, "erc20TokenBalances", 0, "logoUri")} {
		if w := g.fetch(t, link); w.Code != 200 || w.Header().Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(w.Body.String(), "<svg") {
			t.Errorf("%v is %d %s", link, w.Code, w.Body)
		}
	}
}

// TestValuesAreExact multiplies every balance by its price.
func TestValuesAreExact(t *testing.T) {
	g := open(t, 1)
	for _, c := range g.Chains {
		for _, name := range []string{"alice", "whale"} {
			for _, currency := range []string{"usd", "jpy", "huf"} {
				valued := 0
				for _, b := range g.pages(t, path(c, "addresses", g.persona(t, name), "balances:listErc20?currency="+currency), "erc20TokenBalances", 500) {
					if b["price"] == nil {
						if b["balanceValue"] != nil {
							t.Errorf("%s has a value and no price", b["symbol"])
						}
						continue
					}
					valued++
					price, _ := new(big.Rat).SetString(dig(b, "price", "value").(string))
					balance, _ := new(big.Rat).SetString(b["balance"].(string))
					decimals, _ := strconv.Atoi(fmt.Sprint(b["decimals"]))
					unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
					want := price.Quo(price.Mul(price, balance), unit)
					if have, _ := new(big.Rat).SetString(dig(b, "balanceValue", "value").(string)); have.Cmp(want) != 0 {
						t.Errorf("%s of %s is worth %v: want %s", b["balance"], b["symbol"], dig(b, "balanceValue", "value"), want.FloatString(30))
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
	g := open(t, 1)
	seen := map[string]bool{}
	for _, tx := range g.pages(t, "/v1/transactions", "transactions", 100) {
		m := tx["method"].(object)
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
