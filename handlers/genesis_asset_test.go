// AVAX's own asset id, in the node and in the Data API of one server.

package handlers_test

import (
	"testing"

	"snowglobe/handlers"
	"snowglobe/sim/txs"
)

// TestGenesisAsset requests the transaction whose id is AVAX's asset id: it created the X-Chain's initial outputs.
func TestGenesisAsset(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h, err := handlers.New(w, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range w.Networks {
		v := &views{t, w, h, n}
		id := n.Rules.AVAXAssetID.String()
		v.same("status", v.rpc("bc/X", "avm.getTxStatus", map[string]any{"txID": id})["status"], "Accepted")
		tx := v.rpc("bc/X", "avm.getTx", map[string]any{"txID": id, "encoding": "json"})["tx"].(object)
		unsigned := tx["unsignedTx"].(object)
		v.same("asset", tx["id"], id, unsigned["name"], "Avalanche", unsigned["symbol"], "AVAX", unsigned["denomination"], 9)
		outputs := objects(objects(unsigned["initialStates"])[0]["outputs"])
		shown := v.get("/blockchains/x-chain/transactions/" + id)
		v.same("transaction", shown["txHash"], id, shown["txType"], "CreateAssetTx", shown["blockHeight"], 0, dig(shown, "assetCreated", "assetId"), id)
		emitted := objects(shown["emittedUtxos"])
		rows, err := n.DB.UTXOsOfTx(t.Context(), n.Chain(txs.XChain), n.Rules.AVAXAssetID[:])
		if err != nil {
			t.Fatal(err)
		}
		v.same("outputs", len(outputs), len(rows), len(emitted), len(rows))
		for i := range min(len(outputs), len(emitted)) {
			v.same("output", outputs[i]["amount"], dig(emitted[i], "asset", "amount"), emitted[i]["creationTxHash"], id, emitted[i]["outputIndex"], rows[i].Output)
		}
		bytes, err := n.DB.PrimaryTxByHash(t.Context(), n.Chain(txs.XChain), n.Rules.AVAXAssetID[:])
		if err != nil {
			t.Fatal(err)
		}
		if made, err := txs.ParseTx(txs.XChain, bytes.Bytes); err != nil || !txs.SortedStates(made.Unsigned.(*txs.CreateAssetTx).States) {
			t.Errorf("%s: the transaction's outputs are not in the network's order: %v", n.Name, err)
		}
		parent := v.rpc("info", "info.upgrades", nil)["cortinaXChainStopVertexID"]
		v.same("last vertex", v.get("/blockchains/x-chain/blocks/0")["parentHash"], parent)
	}
}
