package primary_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/txs"
)

var (
	primaryBlockFields = datatest.Fields{"blockNumber": "string", "blockHash": "string", "parentHash": "string", "blockTimestamp": "integer", "blockType": "string",
		"txCount": "integer", "transactions": "array", "blockSizeBytes": "integer"}
	pBlockFields = datatest.Fields{"l1ValidatorsAccruedFees": "integer", "activeL1Validators": "integer", "currentSupply": "string"}
)

func TestPrimaryBlocksAreTheChains(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		n := g.Network(t, network)
		for kind, name := range map[txs.Chain]string{txs.PChain: "p-chain", txs.XChain: "x-chain"} {
			base := "/v1/networks/" + network + "/blockchains/" + name
			all := g.Pages(t, base+"/blocks", "blocks", 17)
			for i, b := range all {
				row, err := n.DB.PrimaryBlock(context.Background(), n.Chain(kind), uint64(len(all)-1-i))
				if err != nil {
					t.Fatal(err)
				}
				want := primaryBlockFields
				if kind == txs.PChain {
					want = want.With(pBlockFields)
				}
				if row.ID.Number() > 0 {
					want = want.With(datatest.Fields{"proposerDetails": "object"})
				}
				want.Check(t, name+" block", b)
				if b["blockHash"] != ids.ID(row.Hash).String() || b["blockNumber"] != strconv.FormatUint(row.ID.Number(), 10) || b["blockType"] != row.Type {
					t.Errorf("block %v of %s is %v", b["blockNumber"], name, b)
				}
				if i+1 < len(all) && b["parentHash"] != all[i+1]["blockHash"] {
					t.Errorf("the parent of block %v is %v", b["blockNumber"], b["parentHash"])
				}
				for _, id := range []any{b["blockNumber"], b["blockHash"]} {
					if i%9 == 0 && datatest.Encode(g.Get(t, fmt.Sprint(base, "/blocks/", id))) != datatest.Encode(b) {
						t.Errorf("block %v is another by itself", id)
					}
				}
			}
			byID := g.Pages(t, "/v1/networks/"+network+"/blockchains/"+n.Rules.BlockchainID(kind).String()+"/blocks", "blocks", 100)
			if datatest.Encode(byID) != datatest.Encode(all) {
				t.Errorf("%s is another by its id", name)
			}
			proposals(t, g, base, all)
			timeRanges(t, g, base, all)
		}
		atomic := g.Pages(t, "/v1/networks/"+network+"/blockchains/c-chain/blocks", "blocks", 30)
		timeRanges(t, g, "/v1/networks/"+network+"/blockchains/c-chain", atomic)
		found := 0
		for _, b := range atomic {
			primaryBlockFields.Check(t, "C block", b)
			found += len(b["transactions"].([]any))
		}
		if found == 0 {
			t.Error("no C-Chain block has an atomic transaction")
		}
	}
}

// proposals requests the blocks of each proposer.
func proposals(t *testing.T, g *datatest.Globe, base string, all []datatest.Object) {
	t.Helper()
	by := map[any][]datatest.Object{}
	for _, b := range all {
		if node := datatest.Dig(b, "proposerDetails", "proposerNodeId"); node != nil {
			by[node] = append(by[node], b)
		}
	}
	for node, want := range by {
		if have := g.Pages(t, fmt.Sprint(base, "/nodes/", node, "/blocks"), "blocks", 2); datatest.Encode(have) != datatest.Encode(want) {
			t.Errorf("%v proposed %d blocks of %s: want %d", node, len(have), base, len(want))
		}
	}
}

// timeRanges requests ranges at the times of blocks, and one second off.
func timeRanges(t *testing.T, g *datatest.Globe, base string, all []datatest.Object) {
	t.Helper()
	unix := func(b datatest.Object) int64 {
		n, _ := strconv.ParseInt(fmt.Sprint(b["blockTimestamp"]), 10, 64)
		return n
	}
	middle, late := unix(all[len(all)/2]), unix(all[len(all)/4])
	for _, r := range [][2]int64{{middle, late}, {middle + 1, late + 1}, {middle - 1, late - 1}, {late, late}, {0, 1}, {0, late}, {late, 1 << 40}} {
		have := datatest.Text(g.Pages(t, fmt.Sprintf("%s/blocks?startTimestamp=%d&endTimestamp=%d", base, r[0], r[1]), "blocks", 9), "blockHash")
		var want []string
		for _, b := range all {
			if unix(b) >= r[0] && unix(b) < r[1] {
				want = append(want, b["blockHash"].(string))
			}
		}
		if !slices.Equal(have, want) {
			t.Errorf("%s from %d to %d has %d blocks: want %d", base, r[0], r[1], len(have), len(want))
		}
	}
}
