// A faucet's payments in every interface of a strict server, until the world is reverted.

package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/handlers/surface"
)

// TestFaucetPays: each payment has a page, and the node and the Data API show the same balance, which it raises.
func TestFaucetPays(t *testing.T) {
	t.Parallel()
	const evm, p, x = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720", "P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy", "X-fuji14flvw0x8fstzly79tacgsulxvkpv858qsjf0k3"
	w := tinyWorld(t)
	h, err := handlers.New(w, handlers.Options{Network: "mainnet", Faucet: faucetOf, Node: handlers.NodeOptions{Strict: surface.On}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	before, start := w.Digest(), struct{ ID string }{}
	decode(t, ask(h, http.MethodPost, "/sim/snapshots", "{}"), &start)
	for _, c := range []struct{ body, path, call, balances string }{
		{`{"address":"` + evm + `"}`, "/ext/bc/C/rpc", `eth_getBalance","params":["` + evm + `","latest"]`, "/v1/chains/43114/addresses/" + evm + "/balances:getNative"},
		{`{"address":"` + evm + `","chain":"70411"}`, "/v1/ext/bc/70411/rpc", `eth_getBalance","params":["` + evm + `","latest"]`, "/v1/chains/70411/addresses/" + evm + "/balances:getNative"},
		{`{"address":"` + p + `"}`, "/ext/bc/P", `platform.getBalance","params":{"addresses":["` + p + `"]}`, "/v1/networks/mainnet/blockchains/p-chain/balances?addresses=" + p[2:]},
		{`{"address":"` + x + `","token":"LAMC"}`, "/fuji/ext/bc/X", `avm.getBalance","params":{"address":"` + x + `","assetID":"TOKEN"}`, "/v1/networks/fuji/blockchains/x-chain/balances?addresses=" + x[2:]},
	} {
		had := int64(0)
		for range 2 {
			var paid control.FaucetPayment
			decode(t, ask(h, http.MethodPost, "/sim/faucet", c.body), &paid)
			if page := ask(h, http.MethodGet, strings.TrimPrefix(paid.Page, "http://localhost"), ""); !strings.Contains(page, paid.TxHash) {
				t.Errorf("%s: the page %q lacks the transaction", c.body, paid.Page)
			}
			var answer struct{ Result json.RawMessage }
			decode(t, ask(h, http.MethodPost, c.path, methodCall+strings.ReplaceAll(c.call, "TOKEN", paid.Token)+"}"), &answer)
			var quantity string
			var balance struct{ Balance string }
			if json.Unmarshal(answer.Result, &quantity) != nil {
				decode(t, string(answer.Result), &balance)
				quantity = balance.Balance
			}
			var has, amount int64
			fmt.Sscan(quantity, &has)
			fmt.Sscan(paid.Amount, &amount)
			if has-had != amount && had > 0 || amount == 0 {
				t.Errorf("%s: %d was paid, the balance was %d and is %d", c.body, amount, had, has)
			}
			had = has
			if shown := ask(h, http.MethodGet, c.balances, ""); !strings.Contains(shown, fmt.Sprintf(`:"%d"`, has)) {
				t.Errorf("%s: the node has %d, the Data API %s", c.body, has, shown)
			}
		}
	}
	if text := ask(h, http.MethodPost, "/sim/snapshots/"+start.ID+":revert", ""); !bytes.Equal(w.Digest(), before) {
		t.Errorf("the revert leaves payments: %s", text)
	}
}
