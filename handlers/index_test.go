package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/sim"
)

// TestTheIndexIsBehindTheNode sends a transaction and asks for it by both, by blocks and by time, in a file and in memory; when the index
// has caught up, it answers as if it had never been behind.
func TestTheIndexIsBehindTheNode(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *sim.World{"memory": tinyWorld, "file": tinyFile} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			h, err := handlers.New(w, handlers.Options{Network: "mainnet"})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(h)
			t.Cleanup(func() { server.Close(); h.Close() })
			c := &clocked{t, server.URL}
			for _, lag := range []string{"3 blocks", "30s"} {
				state := decoded[control.IndexStates](c, "/sim/index", `{"lag":"`+lag+`","chain":"43114"}`).Chains
				if state[0].ChainID != "43114" || state[0].Head != state[0].Indexed || state[1].Lag != "0" {
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
					t.Errorf("%s: that of a chain which is not behind is not there: %d %s", lag, a.status, a.body)
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
					t.Errorf("%s: the transaction is not there later: %d %s", lag, a.status, a.body)
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

// first is the first item of the list in an answer.
func first(body string) string {
	_, list, _ := strings.Cut(body, ":[")
	item, _, _ := strings.Cut(list, "}")
	return item + "}"
}

// tinyFile is a tiny world in a file.
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
