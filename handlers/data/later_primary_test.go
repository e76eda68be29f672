package data_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/txs"
)

// TestOutputsThatAreSpentLater spends, between two pages, the output after which the second page begins.
func TestOutputsThatAreSpentLater(t *testing.T) {
	g := serve(t, generate(t, 6))
	defer func() {
		if err := g.DB.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, network := range networks {
		l, base := ledger(t, g, network), "/v1/networks/"+network+"/blockchains/x-chain"
		who, nobody := owner(t, g, network, "hoarder"), owner(t, g, network, "nobody")
		for _, order := range []string{"&sortBy=amount", "&sortOrder=asc", ""} {
			list := base + "/utxos?assetId=" + l.Rules.AVAXAssetID.String() + "&addresses=" + who + order
			all := text(g.pages(t, list, "utxos", 100), "utxoId")
			first := g.get(t, list+"&pageSize=5")
			last := dig(first, "utxos", 4).(object)
			tx := spend(t, g, l, last, nobody, 1)
			rest := text(g.pages(t, list+"&pageToken="+first["nextPageToken"].(string), "utxos", 100), "utxoId")
			if made := dig(tx, "emittedUtxos", 0, "utxoId"); slices.Contains(rest, made.(string)) {
				t.Errorf("the list of %s has %v, which is nobody's", who, made)
			}
			if !slices.Equal(rest, all[5:]) {
				t.Errorf("after the spent output %s goes on with %d outputs: want %d", list, len(rest), len(all)-5)
			}
			if slices.Contains(text(g.pages(t, list, "utxos", 100), "utxoId"), last["utxoId"].(string)) {
				t.Error("a spent output is listed")
			}
			have := g.get(t, base+"/lastActivityTimestampByAddresses?addresses="+nobody)
			if have["txHash"] != tx["txHash"] || have["isConsumed"] != false {
				t.Errorf("nobody's last activity is %v: want that of %v", have, tx["txHash"])
			}
			seen := g.get(t, "/v1/networks/"+network+"/addresses:listChainIds?addresses="+nobody)
			if dig(seen, "addresses", 0, "blockchainIds") == nil {
				t.Errorf("nobody was seen on %v", seen)
			}
		}
		if n := integer(dig(g.get(t, base+"/balances?addresses="+nobody), "balances", "unlocked", 0, "utxoCount")); n != 3 {
			t.Errorf("nobody has %d outputs: want 3", n)
		}
	}
}

// TestPagesWithVeryManyOutputsAreShorter makes transactions so large that a page holds fewer than requested.
func TestPagesWithVeryManyOutputsAreShorter(t *testing.T) {
	g := serve(t, generate(t, 8))
	defer func() {
		if err := g.DB.Close(); err != nil {
			t.Error(err)
		}
	}()
	const parts, many = 700, 16 // more than 10,000 outputs
	n, base := ledger(t, g, "mainnet"), "/v1/networks/mainnet/blockchains/x-chain"
	who, nobody := owner(t, g, "mainnet", "hoarder"), owner(t, g, "mainnet", "nobody")
	owned := g.pages(t, base+"/utxos?sortBy=amount&assetId="+n.Rules.AVAXAssetID.String()+"&addresses="+who, "utxos", 100)
	var want []any
	for i := range many {
		want = append(want, spend(t, g, n, owned[i], nobody, parts)["txHash"])
	}
	slices.Reverse(want)
	var have []any
	for token := ""; ; {
		page := g.get(t, base+"/transactions?pageSize="+itoa(many)+"&addresses="+nobody+token)
		for _, tx := range page["transactions"].([]any) {
			have = append(have, dig(tx, "txHash"))
		}
		next, more := page["nextPageToken"].(string)
		if token == "" && (!more || len(have) == 0 || len(have) == many) {
			t.Errorf("the first page has %d of %d transactions", len(have), many)
		}
		if !more {
			break
		}
		token = "&pageToken=" + next
	}
	if !slices.Equal(have, want) {
		t.Errorf("the pages have %v: want %v", have, want)
	}
}

// spend splits an output of the hoarder into equal parts for a recipient, and returns the transaction as the API shows it.
func spend(t *testing.T, g *globe, n *sim.Network, u object, to string, parts int) object {
	t.Helper()
	id, err := ids.FromString(u["creationTxHash"].(string))
	if err != nil {
		t.Fatal(err)
	}
	personas, err := g.DB.Personas(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var key *txs.Key
	var heir ids.ShortID
	for _, p := range personas {
		k, err := txs.KeyFromBytes(p.Key)
		if err != nil {
			continue
		}
		switch n.Rules.Bech32(k.Address()) {
		case to:
			heir = k.Address()
		case owner(t, g, n.Name, "hoarder"):
			key = k
		}
	}
	amount, index := uint64(integer(dig(u, "asset", "amount"))), uint32(integer(u["outputIndex"]))
	part := txs.NewTransferableOutput(n.Rules.AVAXAssetID, (amount-n.Rules.TxFee)/uint64(parts), txs.NewOwner(heir))
	tx, err := txs.NewSigned(txs.XChain, &txs.BaseTx{
		NetworkID: n.Rules.NetworkID, BlockchainID: n.Rules.XChainID, Outs: slices.Repeat([]*txs.TransferableOutput{part}, parts),
		Ins: []*txs.TransferableInput{{UTXOID: txs.UTXOID{TxID: id, OutputIndex: index}, AssetID: n.Rules.AVAXAssetID,
			In: &txs.TransferInput{Amount: amount, Input: txs.Input{SigIndices: []uint32{0}}}}},
	}, []*txs.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.IssueX(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
	return g.get(t, fmt.Sprint("/v1/networks/", n.Name, "/blockchains/x-chain/transactions/", tx.ID()))
}
