package primary_test

import (
	"fmt"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestBlocksOfTheCChainAreTheNodes compares every block of the C-Chain, in the list and by its number and hash, with the block that a node serves.
func TestBlocksOfTheCChainAreTheNodes(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		n, base := g.Network(t, network), "/v1/networks/"+network+"/blockchains/c-chain/blocks"
		c := n.CChain()
		list := g.Pages(t, base, "blocks", 30)
		for i, have := range list {
			b, err := c.Block(t.Context(), uint64(len(list)-1-i))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := c.RawBlock(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			at := store.At(n.Chain(txs.CChain), b.Number, 0)
			rows, err := n.DB.PrimaryTxsBetween(t.Context(), at, at.End())
			if err != nil {
				t.Fatal(err)
			}
			hashes := []any{}
			for _, row := range rows {
				hashes = append(hashes, ids.ID(row.Hash).String())
			}
			want := datatest.Object{"blockNumber": fmt.Sprint(b.Number), "blockHash": b.Hash.Hex(), "parentHash": b.Header.ParentHash.Hex(), "blockTimestamp": b.Header.Time,
				"blockType": map[bool]string{true: "Genesis", false: "Standard"}[b.Number == 0], "txCount": len(rows), "transactions": hashes, "blockSizeBytes": len(raw)}
			for _, one := range []datatest.Object{have, g.Get(t, base+"/"+fmt.Sprint(b.Number)), g.Get(t, base+"/"+b.Hash.Hex())} {
				if datatest.Encode(one) != datatest.Encode(want) {
					t.Errorf("block %s: want %s", datatest.Encode(one), datatest.Encode(want))
				}
			}
		}
		head, err := c.Head(t.Context())
		if err != nil || head.Number != uint64(len(list)-1) {
			t.Errorf("%s has %d blocks after number %d: %v", network, len(list), head.Number, err)
		}
		g.Ask(t, base+"/"+fmt.Sprint(head.Number+1), 404)
		g.Ask(t, base+"/"+common.Hash{7}.Hex(), 404)
	}
}
