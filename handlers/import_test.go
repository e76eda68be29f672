// A server imports files of other tools, across a copy and a revert of the world, and what it exports can be imported.

package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/sim"
	"snowglobe/sim/verify"
)

// foreign returns the path of another tool's file.
func foreign(name string) string {
	path, _ := filepath.Abs(filepath.Join("..", "fixtures", "interchange", "testdata", name))
	return path
}

// imports asks the server to import something.
func (d *devnet) imports(status int, body string) (answer control.Import, text string) {
	d.Helper()
	response, err := http.Post(d.url+"/sim/imports", "application/json", strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		d.Fatalf("%s: %d %s %v", body, response.StatusCode, raw, err)
	}
	_ = json.Unmarshal(raw, &answer)
	return answer, string(raw)
}

func quotedPath(name string) string { return `{"path":` + quoted(foreign(name)) + `}` }

// TestImports imports a file of each kind, restarts, copies and verifies the world, and reverts it.
func TestImports(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "world.db")
	worldFile(t, path)
	before := rowsOf(t, path)
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	d := newDevnet(t, w, w.Chains[0])
	digest := string(w.Digest())
	snapshot := d.text("evm_snapshot")

	if done, _ := d.imports(200, quotedPath("anvil-1.7.1.hex")); done.Kind != "anvil" || done.Accounts != len(decodeDump(t, anvilDump(t)).Accounts) || done.Values == 0 ||
		!slices.ContainsFunc(done.Notes, func(n string) bool { return strings.Contains(n, "blocks: state only") }) {
		t.Errorf("%+v", done)
	}
	d.holds(decodeDump(t, anvilDump(t)))
	done, _ := d.imports(200, quotedPath("genesis.json"))
	if done.Kind != "alloc" || done.Accounts != 2 || fmt.Sprint(done.Notes) != "[line 2: config: left out: only accounts are imported, because the chain has its own; with a name, the genesis starts an L1 "+
		"line 3: difficulty: left out: only accounts are imported, because the chain has its own; with a name, the genesis starts an L1 "+
		"line 4: gasLimit: left out: only accounts are imported, because the chain has its own; with a name, the genesis starts an L1]" {
		t.Errorf("%+v", done)
	}
	if got := d.text("eth_getBalance", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "latest"); got != `"0x3635c9adc5dea00000"` {
		t.Error(got)
	}
	if got := d.text("eth_call", map[string]any{"to": "0x00000000000000000000000000000000000a110c"}, "latest"); !strings.HasSuffix(got, `2a"`) {
		t.Error("the allocated contract answers", got)
	}
	done, _ = d.imports(200, quotedPath("run-latest.json"))
	if fmt.Sprint(done.Contracts) != "[{Rounding 0x00000000000000000000000000000000000a110f} {Vault 0x00000000000000000000000000000000000a110C} {Vault-2 0x00000000000000000000000000000000000a110E}]" {
		t.Errorf("%+v", done)
	}
	if fmt.Sprint(done.Notes) != "[line 12: transactions[0].additionalContracts[0].address: the file does not name this contract, which a transaction created within "+
		"Rounding is 0x00000000000000000000000000000000000a110f on chain 43114, where it has no code Vault-2 is 0x00000000000000000000000000000000000a110E on chain 43114, where it has no code]" {
		t.Errorf("%q", done.Notes)
	}
	done, _ = d.imports(200, quotedPath("journal.jsonl"))
	if fmt.Sprint(done.Contracts) != "[{Lock 0x00000000000000000000000000000000000B0C01} {TheKey 0x00000000000000000000000000000000000b0C02}]" || !strings.Contains(done.Notes[0], "line 5: result: the deployment of Broken did not succeed") {
		t.Errorf("%+v", done)
	}
	token := `{"name":"Mine","tokens":[{"chainId":43114,"address":"0x5FbDB2315678afecb367f032d93F642f64180aa3","name":"Carried","symbol":"CARRY","decimals":6},
		{"chainId":1,"address":"0x5FbDB2315678afecb367f032d93F642f64180aa3","name":"Elsewhere","symbol":"ELSE","decimals":6}]}`
	done, _ = d.imports(200, `{"content":`+token+`}`)
	if fmt.Sprint(done.Contracts) != "[{CARRY 0x5FbDB2315678afecb367f032d93F642f64180aa3}]" || fmt.Sprint(done.Notes) != "[line 1: 0x5FbDB2315678afecb367f032d93F642f64180aa3: ELSE is of chain 1]" {
		t.Errorf("%+v", done)
	}
	names := func(d *devnet) string {
		addresses := d.ask("/sim/addresses")["contracts"].(map[string]any)["43114"].(map[string]any)
		return fmt.Sprint(addresses["Vault"], addresses["Lock"], addresses["CARRY"])
	}
	want := fmt.Sprint("0x00000000000000000000000000000000000a110C", "0x00000000000000000000000000000000000B0C01", "0x5FbDB2315678afecb367f032d93F642f64180aa3")
	if got := names(d); got != want {
		t.Error(got)
	}
	if got := fmt.Sprint(d.ask("/sim/world")["chains"]); !strings.Contains(got, "Vault-2") {
		t.Error("/sim/world does not have the new names")
	}
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(1), Gas: 50_000})
	if err := w.CheckDigest(t.Context()); err != nil {
		t.Error(err)
	}
	copied := string(w.Digest())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(other, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	if w, err = sim.Open(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	d = newDevnet(t, w, w.Chains[0])
	if string(w.Digest()) != copied || names(d) != want {
		t.Error("a copy of the file is another world")
	}
	if _, err := verify.Verify(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
	if err := verify.Inspect(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
	if got := d.text("evm_revert", json.RawMessage(snapshot)); got != "true" || string(w.Digest()) != digest {
		t.Error("the world did not become what it was")
	}
	if err := w.CheckDigest(t.Context()); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for table, rows := range rowsOf(t, other) {
		if rows != before[table] {
			t.Errorf("after the revert, table %s has other rows", table)
		}
	}
}

// TestExportedAllocGoesIn imports one chain's export on another chain, and exports that.
func TestExportedAllocGoesIn(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Chains[0])
	last := w.Chains[len(w.Chains)-1]
	export := func(what, chain string) string {
		c, err := handlers.ParseCarry("export", []string{what, chain})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := c.Run(t.Context(), w, handlers.Addresses{Main: "127.0.0.1:9650"}, &handlers.Output{Writer: &out}, io.Discard); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	text := export("alloc", "43114")
	done, _ := d.imports(200, `{"chain":"`+last.Row.Name+`","content":`+text+`}`)
	var want map[common.Address]types.Account
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if done.Accounts != len(want) || done.Values == 0 {
		t.Errorf("%+v", done)
	}
	var got map[common.Address]types.Account
	if err := json.Unmarshal([]byte(export("alloc", last.Row.Name)), &got); err != nil {
		t.Fatal(err)
	}
	for address, a := range want {
		b := got[address]
		if a.Balance.Cmp(b.Balance) != 0 || !bytes.Equal(a.Code, b.Code) || b.Nonce < a.Nonce {
			t.Errorf("%s is %+v, was exported as %+v", address, b, a)
		}
		for slot, value := range a.Storage {
			if b.Storage[slot] != value {
				t.Errorf("slot %s of %s is %s, was exported as %s", slot, address, b.Storage[slot], value)
			}
		}
	}
	var list control.TokenList
	if err := json.Unmarshal([]byte(export("tokenlist", "")), &list); err != nil || len(list.Tokens) == 0 || !strings.HasPrefix(list.Tokens[0].LogoURI, "http://127.0.0.1:9650/sim/logo/") {
		t.Errorf("%v %+v", err, list)
	}
	if text := export("addresses", "C"); !strings.Contains(text, `"alice": "`+alice+`"`) || !strings.Contains(text, `"43114"`) || strings.Contains(text, `"43113"`) {
		t.Error(text)
	}
}
