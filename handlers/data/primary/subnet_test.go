package primary_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

func TestSubnetsAndTheirBlockchains(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		n, base := g.Network(t, network), "/v1/networks/"+network
		chains := g.Pages(t, base+"/blockchains", "blockchains", 2)
		back := g.Pages(t, base+"/blockchains?sortOrder=asc", "blockchains", 3)
		if slices.Reverse(back); datatest.Encode(back) != datatest.Encode(chains) {
			t.Error("ascending is not descending backwards")
		}
		rows, err := n.DB.Blockchains(context.Background(), n.Chain(txs.PChain))
		if err != nil || len(chains) != len(rows)+3 {
			t.Errorf("%s has %d blockchains: want %d and the primary network's, %v", network, len(chains), len(rows), err)
		}
		for _, c := range chains {
			one := g.Get(t, base+"/blockchains/"+c["blockchainId"].(string))
			genesis, hasGenesis := one["genesisData"].(datatest.Object)
			delete(one, "genesisData")
			if datatest.Encode(one) != datatest.Encode(c) {
				t.Errorf("blockchain %v is another by itself", c["blockchainId"])
			}
			checkGenesis(t, n, c, genesis, hasGenesis)
		}
		for alias, id := range map[string]ids.ID{"p-chain": ids.Empty, "x-chain": n.Rules.XChainID, "c-chain": n.Rules.CChainID} {
			if have := g.Get(t, base+"/blockchains/"+alias)["blockchainId"]; have != id.String() {
				t.Errorf("%s is %v", alias, have)
			}
		}
		found, l1s := 0, 0
		for _, s := range g.Pages(t, base+"/subnets", "subnets", 2) {
			found += len(s["blockchains"].([]any))
			if s["isL1"] == true {
				l1s++
				id, err := ids.FromString(s["l1ConversionTransactionHash"].(string))
				tx, missing := n.DB.PrimaryTxByHash(context.Background(), n.Chain(txs.PChain), id[:])
				if err != nil || missing != nil || tx.Type != "ConvertSubnetToL1Tx" || datatest.Dig(s, "l1ValidatorManagerDetails", "contractAddress") == nil {
					t.Errorf("L1 %v was converted by %v: %v", s["subnetId"], s["l1ConversionTransactionHash"], missing)
				}
			}
			if one := g.Get(t, base+"/subnets/"+s["subnetId"].(string)); datatest.Encode(one) != datatest.Encode(s) {
				t.Errorf("subnet %v is another by itself", s["subnetId"])
			}
		}
		if found != len(chains) || l1s == 0 {
			t.Errorf("the subnets have %d blockchains, %d are L1s: want %d blockchains", found, l1s, len(chains))
		}
		g.Ask(t, base+"/subnets/"+ids.ID{7}.String(), 404)
		g.Ask(t, base+"/blockchains/"+ids.ID{7}.String(), 404)
	}
}

func TestThereAreNoVertices(t *testing.T) {
	g := datatest.Open(t, 1)
	base := "/v1/networks/fuji/blockchains/x-chain/vertices"
	for _, p := range []string{base, base + ":listByHeight?vertexHeight=3"} {
		if list := g.Get(t, p); len(list["vertices"].([]any)) != 0 || datatest.Dig(list, "chainInfo", "chainName") != "x-chain" {
			t.Errorf("GET %s is %v", p, list)
		}
	}
	g.Ask(t, base+"/"+ids.ID{7}.String(), 404)
	g.Ask(t, base+":listByHeight", 400)
	g.Ask(t, strings.Replace(base, "x-chain", "p-chain", 1), 400)
}

func TestAssetsAreTheRows(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		n := g.Network(t, network)
		rows, err := n.DB.Assets(context.Background(), n.Chain(txs.XChain))
		if err != nil {
			t.Fatal(err)
		}
		caps := map[any]bool{}
		for _, row := range rows {
			a := g.Get(t, "/v1/networks/"+network+"/blockchains/x-chain/assets/"+ids.ID(row.Hash).String())
			if a["name"] != row.Name || a["symbol"] != row.Symbol {
				t.Errorf("asset %s is %v", row.Name, a)
			}
			caps[a["cap"]] = true
			made, err := n.DB.PrimaryTime(context.Background(), row.ID.Block())
			if row.ID.Number() == 0 {
				made = 1599696000 // AVAX's, as in the live service
			}
			if err != nil || datatest.Integer(a["createdAtTimestamp"]) != made || (row.Name == "Avalanche") != (row.ID.Number() == 0) {
				t.Errorf("asset %v was made at %d: %v", a, made, err)
			}
		}
		if !caps["fixed"] || !caps["variable"] {
			t.Errorf("caps of the assets of %s are %v", network, caps)
		}
		g.Ask(t, "/v1/networks/"+network+"/blockchains/x-chain/assets/"+ids.ID{7}.String(), 404)
	}
}

// checkGenesis compares the genesis of a single blockchain: for an EVM chain, the object that its virtual machine reads; for the X-Chain, the
// bytes with the transaction that made AVAX; for the P-Chain, none.
func checkGenesis(t *testing.T, n *sim.Network, c, genesis datatest.Object, given bool) {
	t.Helper()
	const began = 1599696000 // as in the live service
	primary := c["subnetId"] == ids.Empty.String()
	if primary != (c["createBlockNumber"] == "-1") || primary && datatest.Integer(c["createBlockTimestamp"]) != began {
		t.Errorf("blockchain %v was made at %v", c["blockchainId"], c["createBlockTimestamp"])
	}
	if !primary {
		height := uint64(datatest.Integer(c["createBlockNumber"]))
		if time, err := n.DB.PrimaryTime(t.Context(), store.At(n.Chain(txs.PChain), height, 0)); err != nil || time != datatest.Integer(c["createBlockTimestamp"]) {
			t.Errorf("block %d, which made %v, is of %d: %v", height, c, time, err)
		}
	}
	switch id := c["blockchainId"]; {
	case id == ids.Empty.String():
		if given {
			t.Errorf("the P-Chain is %v with genesis %v", c, genesis)
		}
	case id == n.Rules.XChainID.String():
		raw, err := hexutil.Decode(fmt.Sprint(genesis["data"]))
		if err != nil || genesis["encoding"] != "hex" || !bytes.Contains(raw, []byte("\x00\x04AVAX")) {
			t.Errorf("the X-Chain's genesis is %v: %v", genesis, err)
		}
	case c["evmChainId"] != nil:
		if have := datatest.Integer(datatest.Dig(genesis, "config", "chainId")); have != datatest.Integer(c["evmChainId"]) || genesis["alloc"] == nil {
			t.Errorf("the genesis of %v is of chain %d", id, have)
		}
	case !given:
		t.Errorf("blockchain %v has no genesis", id)
	}
}
