// The wallet that TestIssuedTransactionsOfTheChains uses to build and send transactions.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/sim/txs"
)

const nAVAX = 1_000_000_000

// wallet spends the funds of one key on the P-Chain and the X-Chain, using only JSON-RPC.
type wallet struct {
	*views
	key *txs.Key
}

func (v *views) wallet(name string) *wallet {
	v.Helper()
	personas, err := v.world.DB.Personas(v.Context())
	if err != nil {
		v.Fatal(err)
	}
	for _, p := range personas {
		if p.Name == name {
			key, err := txs.KeyFromBytes(p.Key)
			if err != nil {
				v.Fatal(err)
			}
			return &wallet{v, key}
		}
	}
	v.Fatalf("there is no %s", name)
	return nil
}

var services = [...]string{"platform", "xvm", "avax"}
var endpoints = [...]string{"bc/P", "bc/X", "bc/C/avax"}

func (w *wallet) address(c txs.Chain) string { return w.l.Rules.Address(c, w.key.Address()) }

func (w *wallet) owner() *txs.OutputOwners {
	owner := txs.NewOwner(w.key.Address())
	return &owner
}

func (w *wallet) output(amount uint64) *txs.TransferableOutput {
	return txs.NewTransferableOutput(w.l.Rules.AVAXAssetID, amount, *w.owner())
}

// utxos returns the AVAX outputs on a chain, or in transit to it from another, that the key alone can spend now.
func (w *wallet) spendable(c txs.Chain, source string) (ins []*txs.TransferableInput, total uint64) {
	w.Helper()
	args := map[string]any{"addresses": []string{w.address(c)}, "limit": 1024}
	made := c
	if source != "" {
		args["sourceChain"] = source
		made = map[string]txs.Chain{"P": txs.PChain, "X": txs.XChain, "C": txs.CChain}[source]
	}
	for _, text := range w.rpc(endpoints[c], services[c]+".getUTXOs", args)["utxos"].([]any) {
		raw, err := formatting.Decode(formatting.Hex, text.(string))
		if err != nil {
			w.Fatal(err)
		}
		u, err := txs.ParseUTXO(made, raw)
		if err != nil {
			w.Fatal(err)
		}
		out, plain := u.Out.(*txs.TransferOutput)
		if !plain || u.AssetID != w.l.Rules.AVAXAssetID || !out.OutputOwners.Equals(w.owner()) {
			continue
		}
		in := &txs.TransferInput{Amount: out.Amount, Input: txs.Input{SigIndices: []uint32{0}}}
		ins, total = append(ins, &txs.TransferableInput{UTXOID: u.UTXOID, AssetID: u.AssetID, In: in}), total+out.Amount
	}
	txs.SortInputs(ins)
	return ins, total
}

func (w *wallet) empty(c txs.Chain) txs.BaseTx {
	return txs.BaseTx{
		NetworkID: w.l.Rules.NetworkID, BlockchainID: w.l.Rules.BlockchainID(c), Memo: txs.HexBytes{},
		Outs: []*txs.TransferableOutput{}, Ins: []*txs.TransferableInput{},
	}
}

// spend returns a base transaction that spends the fewest outputs that suffice. The rest goes back to the sender, except for a hundredth of an AVAX,
// which covers every fee.
func (w *wallet) spend(c txs.Chain, leaves uint64, outs ...*txs.TransferableOutput) txs.BaseTx {
	w.Helper()
	base, all := w.empty(c), []*txs.TransferableInput(nil)
	all, _ = w.spendable(c, "")
	var have uint64
	need := leaves + nAVAX/100
	for _, out := range outs {
		need += txs.AmountOf(out.Out)
	}
	for _, in := range all {
		if have > need {
			break
		}
		base.Ins, have = append(base.Ins, in), have+in.In.TransferInput().Amount
	}
	if have <= need {
		w.Fatalf("%s has %d on %s, needs %d", w.address(c), have, c, need)
	}
	base.Outs = append(append(base.Outs, outs...), w.output(have-need))
	if err := txs.SortOutputs(c, base.Outs); err != nil {
		w.Fatal(err)
	}
	return base
}

// sign signs every input with the key, and adds further keys where more signatures are needed.
func (w *wallet) sign(c txs.Chain, unsigned txs.Unsigned, more ...*txs.Key) *txs.Tx {
	w.Helper()
	tx := &txs.Tx{Unsigned: unsigned}
	var signers [][]*txs.Key
	for range tx.Inputs() {
		signers = append(signers, []*txs.Key{w.key})
	}
	for _, key := range more {
		signers = append(signers, []*txs.Key{key})
	}
	if err := tx.Sign(c, signers); err != nil {
		w.Fatal(err)
	}
	return tx
}

// say sends a transaction and returns the reason if it is refused, with ids in the node's form.
func (w *wallet) say(c txs.Chain, tx *txs.Tx) string {
	w.Helper()
	text, err := formatting.Encode(formatting.Hex, tx.Bytes())
	if err != nil {
		w.Fatal(err)
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": services[c] + ".issueTx", "params": map[string]any{"tx": text, "encoding": "hex"}}) // strings
	var answer struct {
		Result struct{ TxID string }
		Error  *struct{ Message string }
	}
	said := ask(w.h, http.MethodPost, "/"+w.l.Name+"/ext/"+endpoints[c], string(body))
	if err := json.Unmarshal([]byte(said), &answer); err != nil {
		w.Fatalf("%s: %v", said, err)
	}
	if answer.Error != nil {
		return answer.Error.Message
	}
	if answer.Result.TxID != tx.ID().String() {
		w.Errorf("the id of %s is %s", tx.ID(), answer.Result.TxID)
	}
	return ""
}

// issue sends a transaction and finds it in both interfaces.
func (w *wallet) issue(c txs.Chain, unsigned txs.Unsigned, more ...*txs.Key) *txs.Tx {
	w.Helper()
	tx := w.sign(c, unsigned, more...)
	if said := w.say(c, tx); said != "" {
		w.Fatalf("%s: %s", tx.TypeName(), said)
	}
	want := map[txs.Chain]string{txs.PChain: "Committed", txs.XChain: "Accepted"}[c]
	status := w.rpc(endpoints[c], services[c]+".getTxStatus", map[string]any{"txID": tx.ID()})["status"]
	raw := w.rpc(endpoints[c], services[c]+".getTx", map[string]any{"txID": tx.ID()})["tx"]
	shown := w.get(fmt.Sprintf("/blockchains/%s-chain/transactions/%s", strings.ToLower(c.String()), tx.ID()))
	text, _ := formatting.Encode(formatting.Hex, tx.Bytes()) // it was sent like that
	if status != want || raw != text || shown["txType"] != tx.TypeName() {
		w.Errorf("%s %s: status %v, %.40v, %v", tx.TypeName(), tx.ID(), status, raw, shown["txType"])
	}
	return tx
}

// refused checks why the P-Chain refuses a transaction.
func (w *wallet) refused(reason string, unsigned txs.Unsigned, more ...*txs.Key) {
	w.Helper()
	tx := w.sign(txs.PChain, unsigned, more...)
	want := strings.ReplaceAll("couldn't issue tx: failed verification: "+reason, "{tx}", fmt.Sprint("failed execution: standard tx ", tx.ID(), " failed execution: "))
	if said := w.say(txs.PChain, tx); said != want {
		w.Errorf("%s\n is refused with %s\nwant %s", tx.TypeName(), said, want)
	}
	status := w.rpc("bc/P", "platform.getTxStatus", map[string]any{"txID": tx.ID()})
	w.same("status", status["status"], "Dropped", status["reason"], strings.TrimPrefix(want, "couldn't issue tx: failed verification: "))
}

// importTx imports everything that another chain exported to the key.
func (w *wallet) importTx(c txs.Chain, source string, from ids.ID) txs.Unsigned {
	w.Helper()
	ins, total := w.spendable(c, source)
	if total == 0 {
		w.Fatalf("nothing came from %s to %s", source, c)
	}
	tx := &txs.ImportTx{BaseTx: w.empty(c), SourceChain: from, ImportedInputs: ins}
	tx.Outs = append(tx.Outs, w.output(total-nAVAX/100))
	return tx
}
