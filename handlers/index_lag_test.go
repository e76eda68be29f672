// A lagging index: the node and the Data API of one server are at different heights.

package handlers_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"snowglobe/handlers/control"
	"snowglobe/sim"
)

// TestTheIndexIsBehindTheNode sends a transaction and looks for it in both interfaces, with a lag in blocks and in time, in a file and in memory.
// Once the index has caught up, it equals one without a lag.
func TestTheIndexIsBehindTheNode(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *sim.World{"memory": tinyWorld, "file": tinyFile} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			c := clockedOf(t, w)
			for _, lag := range []string{"3 blocks", "30s"} {
				state := decoded[control.IndexStates](c, "/sim/index", `{"lag":"`+lag+`","chain":"43114"}`).Chains
				if state[0].ChainID != "43114" || state[0].Head != state[0].Indexed || state[0].Lag == "0" || state[1].Lag != "0" {
					t.Fatalf("%s: the index is %+v", lag, state)
				}
				sent := c.call("/ext/bc/C/rpc", "eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x1"}]`)
				hash := member(sent, "result")
				other := member(c.call("/fuji/ext/bc/C/rpc", "eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x1"}]`), "result")
				if got := c.call("/ext/bc/C/rpc", "eth_getTransactionReceipt", `["`+hash+`"]`); !strings.Contains(got, `"status":"0x1"`) {
					t.Fatalf("the node says %s to %s", got, sent)
				}
				tx := "/v1/chains/43114/transactions/" + hash
				if a := c.try("GET", tx, ""); a.status != http.StatusNotFound {
					t.Errorf("%s: the transaction is there: %d %s", lag, a.status, a.body)
				}
				if a := c.try("GET", "/v1/chains/43113/transactions/"+other, ""); a.status != http.StatusOK {
					t.Errorf("%s: the transaction of a chain without a lag is missing: %d %s", lag, a.status, a.body)
				}
				state = decoded[control.IndexStates](c, "/sim/index", "").Chains
				if newest := member(first(c.try("GET", "/v1/chains/43114/blocks?pageSize=1", "").body), "blockNumber"); newest != state[0].Indexed || newest == state[0].Head {
					t.Errorf("%s: the newest block is %s, the index is %+v", lag, newest, state[0])
				}
				if lag == "30s" {
					c.send("/sim/clock", `{"advance":"30s"}`)
				}
				for n := 0; lag != "30s" && n < 3; n++ {
					if a := c.try("GET", tx, ""); a.status != http.StatusNotFound {
						t.Errorf("the transaction is there %d blocks later", n)
					}
					c.call("/ext/bc/C/rpc", "evm_mine", `[]`)
				}
				if a := c.try("GET", tx, ""); a.status != http.StatusOK {
					t.Errorf("%s: the transaction is still missing: %d %s", lag, a.status, a.body)
				}
				c.call("/ext/bc/C/rpc", "evm_mine", `[]`)
				behind := c.try("GET", "/v2/chains/43114/rollingWindowMetrics/txCount", "").body
				if a := c.try("DELETE", "/sim/index", ""); a.status != http.StatusOK || strings.Contains(a.body, "30s") || strings.Contains(a.body, "3 blocks") {
					t.Errorf("catching up: %+v", a)
				}
				if now := c.try("GET", "/v2/chains/43114/rollingWindowMetrics/txCount", "").body; now != behind {
					t.Errorf("%s: an index that knows the transaction counts %s, the world %s", lag, behind, now)
				}
			}
			for body, want := range map[string]string{`{"lag":"soon"}`: "5 blocks", `{"lag":"1s","chain":"1"}`: "does not exist", `{"lag":"1s","chaim":"1"}`: "did you mean chain?"} {
				if status, text, _ := c.send("/sim/index", body); status != http.StatusBadRequest || !strings.Contains(text, want) {
					t.Errorf("%s: %d %s", body, status, text)
				}
			}
		})
	}
}

// first returns the first item of the list in an answer.
func first(body string) string {
	_, list, _ := strings.Cut(body, ":[")
	item, _, _ := strings.Cut(list, "}")
	return item + "}"
}

// tinyFile returns a tiny world in a file.
func tinyFile(t *testing.T) *sim.World {
	t.Helper()
	path := filepath.Join(t.TempDir(), "world.db")
	worldFile(t, path)
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// behind returns the lag of a chain's index.
func (c *clocked) behind(chain, network string) (state control.IndexState) {
	c.Helper()
	for _, s := range decoded[control.IndexStates](c, "/sim/index", "").Chains {
		if s.ChainID == chain && s.Network == network {
			return s
		}
	}
	c.Fatalf("there is no chain %s of %s", chain, network)
	return
}

// TestTheIndexStandsStill makes an index lag by blocks: it stands still until the lag is exceeded, keeps its blocks when the lag changes, and starts
// again from the node's blocks after a revert.
func TestTheIndexStandsStill(t *testing.T) {
	w := tinyWorld(t)
	c := clockedOf(t, w)
	const alice, chain = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "/v1/chains/43114"
	before := fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", w.Meta.Until-30*86400, w.Meta.Until)
	pages := []string{chain + "/blocks?pageSize=100", chain + "/transactions?pageSize=100", chain + "/addresses/" + alice + "/transactions?pageSize=100",
		chain + "/addresses/" + alice + "/balances:listErc20?filterSpamTokens=false", chain + "/contracts/0x90F79bf6EB2c4f870365E785982E1f101E93b906/deployments?pageSize=100",
		chain + "/addresses/0x90F79bf6EB2c4f870365E785982E1f101E93b906/balances:listErc721", "/v1/icm/messages?pageSize=50", "/v1/address/" + alice + "/chains"}
	for _, metric := range []string{"txCount", "activeAddresses", "gasUsed", "cumulativeAddresses", "cumulativeContracts", "feesPaid", "maxTps"} {
		pages = append(pages, "/v2/chains/43114/metrics/"+metric+"?"+before, "/v2/chains/total/metrics/"+metric+"?timeInterval=week&"+before)
	}
	read := func() (all []string) {
		for _, page := range pages {
			_, list, _ := strings.Cut(c.try("GET", page, "").body, ":[") // skip the next page's token, which is new each time
			all = append(all, list)
		}
		return all
	}
	same := func(when string, want []string) {
		t.Helper()
		for i, page := range read() {
			if page != want[i] {
				t.Errorf("%s: %s was\n%.600s\nand is\n%.600s", when, pages[i], want[i], page)
			}
		}
	}
	mine := func(blocks int) {
		for range blocks {
			c.call("/ext/bc/C/rpc", "evm_mine", `[]`)
		}
	}
	then, snapshot := read(), member(c.call("/ext/bc/C/rpc", "evm_snapshot", `[]`), "result")
	head := heightOf(c.behind("43114", "mainnet").Head)
	c.send("/sim/index", `{"lag":"20 blocks","chain":"43114"}`)
	same("at once", then)
	mine(20)
	same("after 20 blocks", then)
	c.send("/sim/index", `{"lag":"21 blocks","chain":"43114"}`)
	mine(1)
	same("with a longer lag", then)
	mine(1)
	if s := c.behind("43114", "mainnet"); heightOf(s.Indexed) != head+1 || heightOf(s.Head) != head+22 {
		t.Errorf("the index is %+v", s)
	}
	if shown := member(first(c.try("GET", pages[0], "").body), "blockNumber"); heightOf(shown) != head+1 {
		t.Errorf("the newest block is %s, want %d", shown, head+1)
	}
	c.call("/ext/bc/C/rpc", "evm_revert", `["`+snapshot+`"]`)
	if s := c.behind("43114", "mainnet"); heightOf(s.Indexed) != head || heightOf(s.Head) != head || s.Lag != "21 blocks" {
		t.Errorf("after a revert the index is %+v", s)
	}
	same("after a revert", then)
	mine(1)
	same("after a revert and a block", then)
}

// TestEachChainHasItsLag lets several chains, including the P-Chain, lag by different numbers of blocks, independently of each other. After a
// reorganisation the index starts again with the replacement blocks.
func TestEachChainHasItsLag(t *testing.T) {
	w := tinyWorld(t)
	c := clockedOf(t, w)
	c.send("/sim/index", `{"lag":"4 blocks","chain":"43114"}`)
	c.send("/sim/index", `{"lag":"2 blocks","chain":"43113"}`)
	c.send("/sim/index", `{"lag":"3 blocks","chain":"p-chain","network":"mainnet"}`)
	lagOf := func(chain, network string) uint64 {
		s := c.behind(chain, network)
		return heightOf(s.Head) - heightOf(s.Indexed)
	}
	for n := range uint64(6) {
		c.call("/fuji/ext/bc/C/rpc", "evm_mine", `[]`)
		c.call("/ext/bc/C/rpc", "evm_mine", `[]`)
		if x, y := lagOf("43114", "mainnet"), lagOf("43113", "fuji"); x != min(n+1, 4) || y != min(n+1, 2) {
			t.Fatalf("after %d blocks the chains are %d and %d behind", n+1, x, y)
		}
	}
	before := c.behind("p-chain", "mainnet")
	c.send("/sim/clock", `{"until":"next-validator-end"}`)
	for range 5 {
		c.send("/sim/clock", `{"advance":"3d"}`)
	}
	after := c.behind("p-chain", "mainnet")
	shown := c.try("GET", "/v1/networks/mainnet/blockchains/p-chain/blocks?pageSize=1", "").body
	behind := heightOf(after.Head) - heightOf(after.Indexed) // everything that happens at one time arrives together
	if heightOf(after.Indexed) < heightOf(before.Head)+3 || behind < 3 || behind > 8 || !strings.Contains(shown, `"blockNumber":"`+after.Indexed+`"`) || lagOf("x-chain", "mainnet") != 0 {
		t.Errorf("the P-Chain was %+v, is %+v and shows %s", before, after, shown)
	}
	if fuji := c.behind("p-chain", "fuji"); fuji.Head != fuji.Indexed {
		t.Errorf("another P-Chain is %+v", fuji)
	}

	c.call("/ext/bc/C/rpc", "evm_mine", `[]`)
	sent := member(c.call("/ext/bc/C/rpc", "eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x1"}]`), "result")
	if got := c.call("/ext/bc/C/rpc", "anvil_reorg", `[1,[]]`); strings.Contains(got, "error") {
		t.Fatal(got)
	}
	if x := lagOf("43114", "mainnet"); x != 0 {
		t.Errorf("the chain is %d behind after a reorg", x)
	}
	for range 5 {
		c.call("/ext/bc/C/rpc", "evm_mine", `[]`)
	}
	node := member(c.call("/ext/bc/C/rpc", "eth_getBlockByNumber", fmt.Sprintf(`["0x%x",false]`, heightOf(c.behind("43114", "mainnet").Indexed))), "hash")
	if a := c.try("GET", "/v1/chains/43114/blocks?pageSize=1", ""); !strings.Contains(a.body, node) || lagOf("43114", "mainnet") != 4 {
		t.Errorf("the index has %s, the node %s", first(a.body), node)
	}
	if a := c.try("GET", "/v1/chains/43114/transactions/"+sent, ""); a.status != http.StatusNotFound {
		t.Errorf("the transaction that the reorg removed: %d", a.status)
	}
}

func heightOf(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}

// TestTheIndexOfPAndXStandsStill lets a day pass on P and X while the index lags by a day: it stands still, and a day later it shows the node's
// earlier state.
func TestTheIndexOfPAndXStandsStill(t *testing.T) {
	w := tinyWorld(t)
	c := clockedOf(t, w)
	_, persona, _ := strings.Cut(c.try("GET", "/sim/world", "").body, `"name":"staker"`)
	staker := regexp.MustCompile(`P-avax1([0-9a-z]+)`).FindStringSubmatch(persona)[1]
	const p, x = "/v1/networks/mainnet/blockchains/p-chain", "/v1/networks/mainnet/blockchains/x-chain"
	pages := []string{p + "/blocks?pageSize=100", p + "/transactions?pageSize=100", x + "/transactions?pageSize=100", x + "/blocks?pageSize=100",
		p + "/utxos?addresses=P-avax1" + staker, p + "/utxos?includeSpent=true&addresses=P-avax1" + staker, p + "/balances?addresses=P-avax1" + staker,
		x + "/balances?addresses=X-avax1" + staker, "/v1/networks/mainnet/rewards?addresses=P-avax1" + staker, "/v1/networks/mainnet/rewards:listPending?addresses=P-avax1" + staker,
		"/v1/networks/mainnet/validators?pageSize=100", "/v1/networks/mainnet/validators?validationStatus=active&pageSize=100", "/v1/networks/mainnet/delegators?pageSize=100",
		"/v1/networks/mainnet/l1Validators?pageSize=100", "/v1/networks/mainnet/subnets?pageSize=100", "/v1/networks/mainnet/blockchains?pageSize=100", "/v1/networks/mainnet",
		"/v2/networks/mainnet/metrics/validatorWeight", "/v2/networks/mainnet/metrics/validatorCount", "/v2/networks/mainnet/metrics/delegatorCount"}
	token := regexp.MustCompile(`"nextPageToken":"[^"]*",?`) // new each time
	read := func() (all []string) {
		for _, page := range pages {
			a := c.try("GET", page, "")
			if a.status != http.StatusOK {
				t.Errorf("%s: %d %s", page, a.status, a.body)
			}
			all = append(all, token.ReplaceAllString(a.body, ""))
		}
		return all
	}
	compare := func(when string, got, want []string) (different int) {
		for i := range got {
			if got[i] != want[i] {
				if different++; when != "" {
					t.Errorf("%s: %s was\n%.900s\nand is\n%.900s", when, pages[i], want[i], got[i])
				}
			}
		}
		return different
	}
	past := read()
	for _, chain := range []string{"p-chain", "x-chain"} {
		c.send("/sim/index", `{"lag":"24h","network":"mainnet","chain":"`+chain+`"}`)
	}
	compare("at once", read(), past)
	c.send("/sim/clock", `{"advance":"24h"}`)
	compare("a day behind", read(), past)
	c.try("DELETE", "/sim/index", "")
	if s := c.behind("p-chain", "mainnet"); s.Indexed != s.Head {
		t.Errorf("the index is %+v", s)
	}
	now := read()
	if n := compare("", now, past); n < 8 {
		t.Fatalf("a day changes %d pages", n)
	}
	for _, chain := range []string{"p-chain", "x-chain"} {
		c.send("/sim/index", `{"lag":"24h","network":"mainnet","chain":"`+chain+`"}`)
	}
	c.send("/sim/clock", `{"advance":"24h"}`)
	compare("a day later", read(), now)
}
