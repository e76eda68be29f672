// The figures in /sim/world, checked against the Data API.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
)

// TestExpectedFiguresAreTheDataAPIs compares personas' figures with the Data API.
func TestExpectedFiguresAreTheDataAPIs(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	var world control.World
	if err := json.Unmarshal([]byte(ask(h, http.MethodGet, "/sim/world", "")), &world); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, p := range world.Personas {
		if testing.Short() && !slices.Contains([]string{"alice", "collector", "locked", "nobody", "spammed"}, p.Name) {
			t.Log("left out of a short run: this persona")
			continue
		}
		for _, c := range world.Chains {
			want, path := p.Expected.EVM[c.ChainID], "/v1/chains/"+c.ChainID+"/addresses/"+p.Address
			var balance struct{ NativeTokenBalance struct{ Balance string } }
			decode(t, ask(h, http.MethodGet, path+"/balances:getNative", ""), &balance)
			got := control.ExpectedEVM{
				Balance: balance.NativeTokenBalance.Balance, Transactions: int64(counted(t, h, path+"/transactions:listNative?pageSize=100", "transactions")),
				ERC20:  counted(t, h, path+"/balances:listErc20?pageSize=500", "erc20TokenBalances"),
				ERC721: counted(t, h, path+"/balances:listErc721?pageSize=500", "erc721TokenBalances"), ERC1155: counted(t, h, path+"/balances:listErc1155?pageSize=500", "erc1155TokenBalances"),
			}
			got.Malicious = counted(t, h, path+"/balances:listErc20?pageSize=500&filterSpamTokens=false", "erc20TokenBalances") - got.ERC20
			if want.Balance == "" {
				want.Balance = "0"
			}
			if got != want {
				t.Errorf("%s on %s: %+v, the Data API has %+v", p.Name, c.ChainID, want, got)
			}
			compared++
		}
		for network, address := range p.Addresses {
			for _, chain := range []string{"P", "X"} {
				want := p.Expected.Primary[network][chain]
				path := fmt.Sprintf("/v1/networks/%s/blockchains/%s-chain/", network, strings.ToLower(chain))
				var answer struct {
					Balances map[string][]struct{ Amount, AssetID string }
				}
				decode(t, ask(h, http.MethodGet, path+"balances?addresses="+address, ""), &answer)
				sum := func(names ...string) string {
					total := new(big.Int)
					for _, name := range names {
						for _, amount := range answer.Balances[name] {
							if n, ok := new(big.Int).SetString(amount.Amount, 10); ok && amount.AssetID == avaxOf(&world, network) {
								total.Add(total, n)
							}
						}
					}
					return total.String()
				}
				got := control.ExpectedPrimary{UTXOs: counted(t, h, path+"utxos?pageSize=100&addresses="+address, "utxos"), Unlocked: sum("unlockedUnstaked", "unlocked"),
					Locked: sum("lockedPlatform", "lockedStakeable", "locked"), Staked: sum("unlockedStaked", "lockedStaked", "pendingStaked")}
				if want.UTXOs == 0 {
					want = control.ExpectedPrimary{Unlocked: "0", Locked: "0", Staked: "0"}
				}
				if got != want {
					t.Errorf("%s on %s of %s: %+v, the Data API has %+v", p.Name, chain, network, want, got)
				}
			}
		}
	}
	if compared < 15 {
		t.Errorf("only %d accounts were compared", compared)
	}
}

func avaxOf(w *control.World, network string) string {
	for _, n := range w.Networks {
		if n.Name == network {
			return n.AVAXAssetID
		}
	}
	return ""
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
}

// counted returns the number of entries on all pages of a list.
func counted(t *testing.T, h http.Handler, path, name string) (n int) {
	t.Helper()
	for token := ""; ; {
		var page map[string]json.RawMessage
		decode(t, ask(h, http.MethodGet, path+token, ""), &page)
		var entries []json.RawMessage
		decode(t, string(page[name]), &entries)
		n += len(entries)
		if page["nextPageToken"] == nil {
			return n
		}
		token = "&pageToken=" + strings.Trim(string(page["nextPageToken"]), `"`)
	}
}
