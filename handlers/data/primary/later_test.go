package primary_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/txs"
)

// TestOutputsThatAreSpentLater spends, between two pages, the output after which the second page begins.
func TestOutputsThatAreSpentLater(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 6))
	defer func() {
		if err := g.DB.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, network := range datatest.Networks {
		l, base := g.Network(t, network), "/v1/networks/"+network+"/blockchains/x-chain"
		who, nobody := g.Owner(t, network, "hoarder"), g.Owner(t, network, "nobody")
		for _, order := range []string{"&sortBy=amount", "&sortOrder=asc", ""} {
			list := base + "/utxos?assetId=" + l.Rules.AVAXAssetID.String() + "&addresses=" + who + order
			all := datatest.Text(g.Pages(t, list, "utxos", 100), "utxoId")
			first := g.Get(t, list+"&pageSize=5")
			last := datatest.Dig(first, "utxos", 4).(datatest.Object)
			tx := spend(t, g, l, last, nobody, 1)
			rest := datatest.Text(g.Pages(t, list+"&pageToken="+first["nextPageToken"].(string), "utxos", 100), "utxoId")
			if made := datatest.Dig(tx, "emittedUtxos", 0, "utxoId"); slices.Contains(rest, made.(string)) {
				t.Errorf("the list of %s has %v, which is nobody's", who, made)
			}
			if !slices.Equal(rest, all[5:]) {
				t.Errorf("after the spent output %s goes on with %d outputs: want %d", list, len(rest), len(all)-5)
			}
			if slices.Contains(datatest.Text(g.Pages(t, list, "utxos", 100), "utxoId"), last["utxoId"].(string)) {
				t.Error("a spent output is listed")
			}
			have := g.Get(t, base+"/lastActivityTimestampByAddresses?addresses="+nobody)
			if have["txHash"] != tx["txHash"] || have["isConsumed"] != false {
				t.Errorf("nobody's last activity is %v: want that of %v", have, tx["txHash"])
			}
			seen := g.Get(t, "/v1/networks/"+network+"/addresses:listChainIds?addresses="+nobody)
			if datatest.Dig(seen, "addresses", 0, "blockchainIds") == nil {
				t.Errorf("nobody was seen on %v", seen)
			}
		}
		if n := datatest.Integer(datatest.Dig(g.Get(t, base+"/balances?addresses="+nobody), "balances", "unlocked", 0, "utxoCount")); n != 3 {
			t.Errorf("nobody has %d outputs: want 3", n)
		}
	}
}

// TestPagesWithVeryManyOutputsAreShorter makes transactions so large that a page holds fewer than requested.
func TestPagesWithVeryManyOutputsAreShorter(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 8))
	defer func() {
		if err := g.DB.Close(); err != nil {
			t.Error(err)
		}
	}()
	const parts, many = 700, 16 // more than 10,000 outputs
	n, base := g.Network(t, "mainnet"), "/v1/networks/mainnet/blockchains/x-chain"
	who, nobody := g.Owner(t, "mainnet", "hoarder"), g.Owner(t, "mainnet", "nobody")
	owned := g.Pages(t, base+"/utxos?sortBy=amount&assetId="+n.Rules.AVAXAssetID.String()+"&addresses="+who, "utxos", 100)
	var want []any
	for i := range many {
		want = append(want, spend(t, g, n, owned[i], nobody, parts)["txHash"])
	}
	slices.Reverse(want)
	var have []any
	for token := ""; ; {
		page := g.Get(t, base+"/transactions?pageSize="+strconv.Itoa(many)+"&addresses="+nobody+token)
		for _, tx := range page["transactions"].([]any) {
			have = append(have, datatest.Dig(tx, "txHash"))
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
func spend(t *testing.T, g *datatest.Globe, n *sim.Network, u datatest.Object, to string, parts int) datatest.Object {
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
		case g.Owner(t, n.Name, "hoarder"):
			key = k
		}
	}
	amount, index := uint64(datatest.Integer(datatest.Dig(u, "asset", "amount"))), uint32(datatest.Integer(u["outputIndex"]))
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
	return g.Get(t, fmt.Sprint("/v1/networks/", n.Name, "/blockchains/x-chain/transactions/", tx.ID()))
}
