package primary_test

import (
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

// TestWhatIsOnItsWayIsInOrder exports AVAX and another asset from the X-Chain to an owner whose exports from the P-Chain nobody has imported yet: the
// sums are ordered by asset, then by the other chain, then by direction.
func TestWhatIsOnItsWayIsInOrder(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 6))
	n, base := g.Network(t, "mainnet"), "/v1/networks/mainnet/blockchains/"
	var who string
	for _, name := range []string{"traveller", "alice", "bob", "whale", "committee"} {
		owner := g.Owner(t, "mainnet", name)
		if len(datatest.Objects(datatest.Dig(g.Get(t, base+"p-chain/balances?addresses="+owner), "balances", "atomicMemoryUnlocked"))) > 0 {
			who = owner
		}
	}
	if who == "" {
		t.Fatal("nobody has an export from the P-Chain")
	}
	avax := n.Rules.AVAXAssetID
	outputs := g.Pages(t, base+"x-chain/utxos?sortBy=amount&assetId="+avax.String()+"&addresses="+g.Owner(t, "mainnet", "hoarder"), "utxos", 100)
	for i, to := range []ids.ID{n.Rules.CChainID, ids.Empty, ids.Empty, n.Rules.CChainID} {
		export(t, g, n, outputs[i], who, to)
	}
	for _, chain := range datatest.Chains {
		shares := datatest.Objects(datatest.Dig(g.Get(t, base+chain+"/balances?addresses="+who), "balances", "atomicMemoryUnlocked"))
		var have []string
		directions := map[any]int{}
		for _, s := range shares {
			have = append(have, fmt.Sprint(s["assetId"], s["sharedWithChainId"], s["status"]))
			directions[s["status"]]++
		}
		if !slices.IsSorted(have) || len(have) < 2 {
			t.Errorf("on the way on the %s: %v", chain, have)
		}
		if chain == "p-chain" && (directions["pendingExport"] == 0 || directions["pendingImport"] == 0) {
			t.Errorf("on the P-Chain is %v", directions)
		}
	}
}

// export sends an output of the hoarder to another chain.
func export(t *testing.T, g *datatest.Globe, n *sim.Network, u datatest.Object, to string, chain ids.ID) {
	t.Helper()
	in, key, amount := unlock(t, g, n, u)
	out := txs.NewTransferableOutput(n.Rules.AVAXAssetID, amount-n.Rules.TxFee, txs.NewOwner(keyOf(t, g, n, to).Address()))
	tx, err := txs.NewSigned(txs.XChain, &txs.ExportTx{
		BaseTx:           txs.BaseTx{NetworkID: n.Rules.NetworkID, BlockchainID: n.Rules.XChainID, Ins: []*txs.TransferableInput{in}},
		DestinationChain: chain, ExportedOutputs: []*txs.TransferableOutput{out},
	}, []*txs.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.IssueX(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// spend splits an output of the hoarder into equal parts for a recipient, and returns the transaction as the API shows it.
func spend(t *testing.T, g *datatest.Globe, n *sim.Network, u datatest.Object, to string, parts int) datatest.Object {
	t.Helper()
	in, key, amount := unlock(t, g, n, u)
	part := txs.NewTransferableOutput(n.Rules.AVAXAssetID, (amount-n.Rules.TxFee)/uint64(parts), txs.NewOwner(keyOf(t, g, n, to).Address()))
	tx, err := txs.NewSigned(txs.XChain, &txs.BaseTx{
		NetworkID: n.Rules.NetworkID, BlockchainID: n.Rules.XChainID, Outs: slices.Repeat([]*txs.TransferableOutput{part}, parts), Ins: []*txs.TransferableInput{in},
	}, []*txs.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.IssueX(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	return g.Get(t, fmt.Sprint("/v1/networks/", n.Name, "/blockchains/x-chain/transactions/", tx.ID()))
}

// unlock returns an input that spends an output of the hoarder, with its key and amount.
func unlock(t *testing.T, g *datatest.Globe, n *sim.Network, u datatest.Object) (*txs.TransferableInput, *txs.Key, uint64) {
	t.Helper()
	id, err := ids.FromString(u["creationTxHash"].(string))
	if err != nil {
		t.Fatal(err)
	}
	amount, index := uint64(datatest.Integer(datatest.Dig(u, "asset", "amount"))), uint32(datatest.Integer(u["outputIndex"]))
	return &txs.TransferableInput{UTXOID: txs.UTXOID{TxID: id, OutputIndex: index}, AssetID: n.Rules.AVAXAssetID,
		In: &txs.TransferInput{Amount: amount, Input: txs.Input{SigIndices: []uint32{0}}}}, keyOf(t, g, n, g.Owner(t, n.Name, "hoarder")), amount
}

// keyOf returns the persona's key for an address.
func keyOf(t *testing.T, g *datatest.Globe, n *sim.Network, address string) *txs.Key {
	t.Helper()
	personas, err := g.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range personas {
		if key, err := txs.KeyFromBytes(p.Key); err == nil && n.Rules.Bech32(key.Address()) == address {
			return key
		}
	}
	t.Fatalf("nobody has the key of %s", address)
	return nil
}
