// The Etherscan-shaped API and the Data API of one server show the same rows.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/handlers/permit"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// scanned is the envelope of an answer.
type scanned struct {
	Status  string
	Message string
	Result  json.RawMessage
}

// rows returns a result that is a list.
func (s *scanned) rows(t *testing.T) (all []object) {
	t.Helper()
	if err := json.Unmarshal(s.Result, &all); err != nil {
		t.Fatalf("%.300s: %v", s.Result, err)
	}
	return all
}

// text returns a result that is a string.
func (s *scanned) text() (text string) {
	_ = json.Unmarshal(s.Result, &text) // other types are no string
	return text
}

// scan asks the API about a chain.
func scan(t *testing.T, h http.Handler, c *reader.Chain, query string) *scanned {
	t.Helper()
	path := fmt.Sprintf("/v2/api?chainid=%d&%s", c.Row.EVMID, query)
	text := ask(h, http.MethodGet, path, "")
	s := new(scanned)
	if err := json.Unmarshal([]byte(text), s); err != nil || s.Status != "0" && s.Status != "1" {
		t.Fatalf("%s: %.500s", path, text)
	}
	return s
}

// accountsOf lists every address that has or had an account on a chain, or is in a transfer.
func accountsOf(t *testing.T, db *store.DB, c *reader.Chain) (all []common.Address) {
	t.Helper()
	found := map[common.Address]bool{}
	rows, err := db.AccountsAt(t.Context(), c.Row.ID, store.MaxNumber)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		found[common.BytesToAddress(rows[i].Address)] = true
	}
	transfers, err := db.Transfers(t.Context(), store.First(c.Row.ID), store.Last(c.Row.ID))
	if err != nil {
		t.Fatal(err)
	}
	for i := range transfers {
		found[common.BytesToAddress(transfers[i].Sender)], found[common.BytesToAddress(transfers[i].Recipient)] = true, true
	}
	for address := range found {
		all = append(all, address)
	}
	slices.SortFunc(all, common.Address.Cmp)
	return all
}

// lists pairs the lists of both APIs, and how each writes a movement.
var scannedLists = []struct {
	action, operation string
	scan, data        func(object) string
}{
	{"txlist", "listNative",
		func(o object) string {
			return fields(o, "hash", "from", "value", "nonce", "gas", "gasPrice", "gasUsed", "blockHash", "timeStamp", "txreceipt_status") + fmt.Sprint(o["to"]) + fmt.Sprint(o["contractAddress"])
		},
		func(o object) string {
			return fields(o, "txHash", "from.address", "value", "nonce", "gasLimit", "gasPrice", "gasUsed", "blockHash", "blockTimestamp", "txStatus") + fmt.Sprint(dig(o, "to", "address"))
		}},
	{"txlistinternal", "listInternals",
		func(o object) string {
			return fields(o, "hash", "from", "value", "type", "gas", "gasUsed", "isError") + fmt.Sprint(o["to"]) + fmt.Sprint(o["contractAddress"])
		},
		func(o object) string {
			failed := "0"
			if dig(o, "isReverted") == true {
				failed = "1"
			}
			return fields(o, "txHash", "from.address", "value", "internalTxType", "gasLimit", "gasUsed") + failed + " " + fmt.Sprint(dig(o, "to", "address"))
		}},
	{"tokentx", "listErc20",
		func(o object) string {
			return fields(o, "hash", "from", "to", "value", "contractAddress", "tokenSymbol", "tokenDecimal", "blockNumber")
		},
		func(o object) string {
			return fields(o, "txHash", "from.address", "to.address", "value", "erc20Token.address", "erc20Token.symbol", "erc20Token.decimals", "blockNumber")
		}},
	{"tokennfttx", "listErc721",
		func(o object) string {
			return fields(o, "hash", "from", "to", "tokenID", "contractAddress", "tokenName", "blockNumber")
		},
		func(o object) string {
			return fields(o, "txHash", "from.address", "to.address", "erc721Token.tokenId", "erc721Token.address", "erc721Token.name", "blockNumber")
		}},
	{"token1155tx", "listErc1155",
		func(o object) string {
			return fields(o, "hash", "from", "to", "tokenID", "tokenValue", "contractAddress", "blockNumber")
		},
		func(o object) string {
			return fields(o, "txHash", "from.address", "to.address", "erc1155Token.tokenId", "value", "erc1155Token.address", "blockNumber")
		}},
}

// fields joins members of an object, each by its path.
func fields(o object, paths ...string) string {
	var b strings.Builder
	for _, path := range paths {
		fmt.Fprint(&b, dig(o, strings.Split(path, ".")...), " ")
	}
	return b.String()
}

// TestEtherscanTellsTheHistoryOfTheDataAPI compares both APIs for every account: number, order and amounts of transactions, internal transactions and
// transfers, and the balances.
func TestEtherscanTellsTheHistoryOfTheDataAPI(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h := surfaceOf(t, w)
	compared := map[string]int{}
	for _, c := range w.Chains {
		v := &views{T: t, world: w, h: h}
		for _, address := range accountsOf(t, w.DB, c) {
			for _, l := range scannedLists {
				path := fmt.Sprintf("/v1/chains/%d/addresses/%s/transactions:%s?pageSize=100", c.Row.EVMID, address, l.operation)
				var want []string
				for token := ""; ; {
					answer := v.decode(path, ask(h, http.MethodGet, path+token, ""))
					for _, item := range answer["transactions"].([]any) {
						want = append(want, strings.ToLower(l.data(item.(object))))
					}
					next, more := answer["nextPageToken"].(string)
					if !more {
						break
					}
					token = "&pageToken=" + next
				}
				newest, oldest := scan(t, h, c, "module=account&action="+l.action+"&sort=desc&address="+address.Hex()), scan(t, h, c, "module=account&action="+l.action+"&address="+address.Hex())
				up := oldest.rows(t)
				slices.Reverse(up)
				for name, got := range map[string][]object{"desc": newest.rows(t), "asc": up} {
					var have []string
					for _, o := range got {
						have = append(have, strings.ToLower(l.scan(o)))
					}
					if !slices.Equal(have, want) {
						t.Fatalf("%s of %s on %s, %s: %d rows, the Data API has %d:\n%q\n%q", l.action, address, c.Row.Name, name, len(have), len(want), have, want)
					}
				}
				if len(want) == 0 && (newest.Status != "0" || newest.Message != "No transactions found") {
					t.Errorf("%s of %s, which has none: %+v", l.action, address, newest)
				}
				compared[l.action] += len(want)
			}
			balances := v.decode("balances", ask(h, http.MethodGet, fmt.Sprintf("/v1/chains/%d/addresses/%s/balances:listErc20?pageSize=500&filterSpamTokens=false", c.Row.EVMID, address), ""))
			if have, want := scan(t, h, c, "module=account&action=balance&tag=latest&address="+address.Hex()).text(), dig(balances, "nativeTokenBalance", "balance"); have != want {
				t.Errorf("%s has %s on %s, the Data API says %s", address, have, c.Row.Name, want)
			}
			for _, b := range balances["erc20TokenBalances"].([]any) {
				token := dig(b, "address").(string)
				if have := scan(t, h, c, "module=account&action=tokenbalance&contractaddress="+token+"&address="+address.Hex()).text(); have != dig(b, "balance") {
					t.Errorf("%s has %s of %s, the Data API says %s", address, have, token, dig(b, "balance"))
				}
				compared["balances"]++
			}
		}
	}
	t.Log("compared:", compared)
	for _, name := range []string{"txlist", "txlistinternal", "tokentx", "tokennfttx", "token1155tx", "balances"} {
		if compared[name] < 20 {
			t.Errorf("only %d rows of %s were compared", compared[name], name)
		}
	}
}

// bodyOf reads a response.
func bodyOf(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

const scanAlice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"

// TestEtherscanLogs compares getLogs with the node's eth_getLogs.
func TestEtherscanLogs(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h, c := surfaceOf(t, w), w.Chains[0]
	const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
	var all []object
	callEVM(t, h, rpcPath(c), "eth_getLogs", &all, object{"fromBlock": "0x0", "toBlock": "latest", "topics": []any{transfer}})
	var listed []object
	for n := 1; ; n++ {
		s := scan(t, h, c, fmt.Sprintf("module=logs&action=getLogs&page=%d&topic0=%s", n, transfer))
		if s.Status == "0" {
			break
		}
		listed = append(listed, s.rows(t)...)
	}
	if len(listed) != len(all) || len(all) == 0 {
		t.Fatalf("%d logs, the node has %d", len(listed), len(all))
	}
	for i, l := range listed {
		if l["transactionHash"] != all[i]["transactionHash"] || l["data"] != all[i]["data"] || l["blockNumber"] != all[i]["blockNumber"] {
			t.Fatalf("log %d is %v, the node says %v", i, l, all[i])
		}
	}
}

// TestEtherscanLagsWithTheIndex: a lagging index hides the node's newest blocks here as in the Data API.
func TestEtherscanLagsWithTheIndex(t *testing.T) {
	c := clockedOf(t, tinyWorld(t))
	c.send("/sim/index", `{"lag":"2 blocks","chain":"43114"}`)
	hash := member(c.call("/ext/bc/C/rpc", "eth_sendTransaction", `[{"from":"`+scanAlice+`","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x1"}]`), "result")
	list, status := "/api?module=account&action=txlist&sort=desc&offset=1&page=1&address="+scanAlice, "/api?module=transaction&action=gettxreceiptstatus&txhash="+hash
	if newest, receipt := c.try("GET", list, "").body, c.try("GET", status, "").body; strings.Contains(newest, hash) || !strings.Contains(receipt, `{"status":""}`) {
		t.Errorf("the index lags: %s %s", newest, receipt)
	}
	for range 2 {
		c.call("/ext/bc/C/rpc", "evm_mine", `[]`)
	}
	if newest, receipt := c.try("GET", list, "").body, c.try("GET", status, "").body; !strings.Contains(newest, hash) || !strings.Contains(receipt, `{"status":"1"}`) {
		t.Errorf("the index has caught up: %s %s", newest, receipt)
	}
}

// TestEtherscanFailsAsItIsTold applies faults by interface, chain and action, in Etherscan's shape; the journal names actions.
func TestEtherscanFailsAsItIsTold(t *testing.T) {
	c := journaled(t)
	const path = "/api?module=account&action=balance&apikey=secret&address=" + scanAlice
	for _, match := range []string{`{"interface":"etherscan"}`, `{"operation":"account.balance"}`, `{"interface":"etherscan","chain":"43114"}`} {
		c.addFault(`{"match":` + match + `,"action":{"status":429},"times":{"first":1}}`)
		if a := c.try("GET", strings.Replace(path, "balance", "balancemulti", 1)+"&chainid=43113", ""); a.status != http.StatusOK && match != `{"interface":"etherscan"}` {
			t.Errorf("%s: another action of another chain fails, too: %+v", match, a)
		} else if match == `{"interface":"etherscan"}` {
			c.deleteFaults()
			c.addFault(`{"match":` + match + `,"action":{"status":429},"times":{"first":1}}`)
		}
		if a := c.try("GET", path, ""); a.status != http.StatusTooManyRequests || !strings.Contains(a.body, `"status":"0","message":"NOTOK","result":"Max rate limit reached`) {
			t.Errorf("%s: %+v", match, a)
		}
		if a := c.try("GET", path, ""); a.status != http.StatusOK || !strings.Contains(a.body, `"message":"OK"`) {
			t.Errorf("after %s: %+v", match, a)
		}
	}
	if a := c.try("GET", "/sim/requests?interface=etherscan&operation=account.balance&pageSize=1", ""); !strings.Contains(a.body, `"operation":"account.balance"`) || strings.Contains(a.body, "secret") {
		t.Errorf("the journal has %s", a.body)
	}
}

// TestEtherscanProxiesTheNode: the module proxy answers as the node does, and sends signed transactions beyond loopback, too.
func TestEtherscanProxiesTheNode(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h, err := handlers.New(w, handlers.Options{Network: "mainnet", Permit: permit.Rule{Exposed: true}})
	if err != nil {
		t.Fatal(err)
	}
	c := w.Chains[0]
	for query, call := range map[string][]any{
		"action=eth_blockNumber":                                               {"eth_blockNumber"},
		"action=eth_getBlockByNumber&tag=0x5&boolean=true":                     {"eth_getBlockByNumber", "0x5", true},
		"action=eth_getTransactionCount&address=" + scanAlice:                  {"eth_getTransactionCount", scanAlice, "latest"},
		"action=eth_call&to=" + scanAlice + "&data=0x12&tag=latest":            {"eth_call", object{"to": scanAlice, "data": "0x12"}, "latest"},
		"action=eth_getStorageAt&position=0x0&tag=latest&address=" + scanAlice: {"eth_getStorageAt", scanAlice, "0x0", "latest"},
		"action=eth_gasPrice":                                                  {"eth_gasPrice"},
		"action=eth_sendRawTransaction&hex=0x12":                               {"eth_sendRawTransaction", "0x12"},
	} {
		body, _ := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": call[0], "params": append([]any{}, call[1:]...)}) // plain values
		have, want := ask(h, http.MethodGet, "/api?module=proxy&"+query, ""), strings.TrimSpace(ask(h, http.MethodPost, rpcPath(c), string(body)))
		if have != want || !strings.Contains(have, "jsonrpc") {
			t.Errorf("%s: %.300s, the node says %.300s", query, have, want)
		}
	}
}
