package evm_test

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// TestBlocksThatComeLaterAreIndexed deploys a token and sends some of it, and finds it in every list.
func TestBlocksThatComeLaterAreIndexed(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 5))
	for _, c := range g.Chains {
		alice, friend := common.HexToAddress(g.Persona(t, "alice")), common.HexToAddress("0x00000000000000000000000000000000000F71e9")
		url := datatest.Path(c, "addresses", alice.Hex(), "transactions:listNative?pageSize=5")
		first := g.Get(t, url)
		all := datatest.Text(g.Pages(t, datatest.Path(c, "addresses", alice.Hex(), "transactions:listNative"), "transactions", 100), "txHash")
		blocks := g.Get(t, "/v1/blocks?pageSize=5")

		s := datatest.NewSender(t, g, c)
		artifact, err := contracts.Load("Token")
		if err != nil {
			t.Fatal(err)
		}
		code, err := artifact.InitCode("Late Token", "LATE", uint8(4), big.NewInt(1_000_000), alice)
		if err != nil {
			t.Fatal(err)
		}
		late := s.Send(nil, nil, code)
		data, err := artifact.ABI.Pack("transfer", friend, big.NewInt(12_345))
		if err != nil {
			t.Fatal(err)
		}
		s.Send(&late, nil, data)

		held := g.Get(t, datatest.Path(c, "addresses", friend.Hex(), "balances:listErc20"))
		if datatest.Dig(held, "erc20TokenBalances", 0, "name") != "Late Token" || datatest.Dig(held, "erc20TokenBalances", 0, "balance") != "12345" {
			t.Errorf("friend holds %v", held)
		}
		if moves := g.Pages(t, datatest.Path(c, "tokens", late.Hex(), "transfers"), "transfers", 1); len(moves) != 2 {
			t.Errorf("the late token has %d transfers: want 2", len(moves))
		}
		if d := g.Get(t, datatest.Path(c, "contracts", late.Hex(), "transactions:getDeployment")); datatest.Dig(d, "nativeTransaction", "to", "symbol") != "LATE" {
			t.Errorf("deployment of the late token goes to %v", datatest.Dig(d, "nativeTransaction", "to"))
		}
		if n := len(g.Pages(t, datatest.Path(c, "addresses", friend.Hex(), "transactions"), "transactions", 5)); n != 1 {
			t.Errorf("friend has %d transactions", n)
		}
		if chains := g.Get(t, "/v1/address/"+friend.Hex()+"/chains"); len(chains["indexedChains"].([]any)) == 0 {
			t.Error("friend is on no chain")
		}

		rest := datatest.Text(g.Pages(t, url+"&pageToken="+first["nextPageToken"].(string), "transactions", 5), "txHash")
		if !slices.Equal(rest, all[5:]) {
			t.Errorf("pages that were begun before the blocks came go on with %d transactions: want %d", len(rest), len(all)-5)
		}
		for _, b := range g.Pages(t, "/v1/blocks?pageToken="+blocks["nextPageToken"].(string), "blocks", 50) {
			if datatest.Dig(blocks, "blocks", 0, "blockHash") == b["blockHash"] {
				t.Error("a block comes twice")
			}
		}
		if err := verify.VerifyChain(context.Background(), g.DB, c, func(*store.Delta) {}); err != nil {
			t.Errorf("verify after the later blocks: %v", err)
		}
	}
}
