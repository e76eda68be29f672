package session

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/seed/seedtest"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/txs"
)

func named(t *testing.T) *names {
	t.Helper()
	n, err := readNames(t.Context(), seedtest.Shared(t, "tiny", 1))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// signedBy signs a transaction with a persona's key and returns the parameters of eth_sendRawTransaction.
func signedBy(t *testing.T, n *names, who string, inner types.TxData) string {
	t.Helper()
	tx, err := secp256k1.SignTx(types.NewTx(inner), types.LatestSignerForChainID(big.NewInt(43114)), n.accounts[who].key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return `["` + hexutil.Encode(raw) + `"]`
}

// TestLines: each call of a method or an operation becomes the line that a person would write.
func TestLines(t *testing.T) {
	n := named(t)
	alice, bob, usdx := n.accounts["alice"].address, n.accounts["bob"].address, n.chains["C"].contracts["usdx"].address
	transfer := common.FromHex("0xa9059cbb" + common.Bytes2Hex(common.LeftPadBytes(bob[:], 32)) + strings.Repeat("0", 63) + "5")
	id := big.NewInt(43114)
	stranger := "0x00000000000000000000000000000000000000AA"
	at := strings.NewReplacer("$alice", strings.ToLower(alice.Hex()), "$bob", strings.ToLower(bob.Hex()), "$usdx", strings.ToLower(usdx.Hex()), "$transfer", hexutil.Encode(transfer))
	raw := func(inner types.TxData) string { return signedBy(t, n, "alice", inner) }
	listed := &types.AccessListTx{ChainID: id, Nonce: 7, Gas: 9, GasPrice: big.NewInt(1), To: &bob, Value: big.NewInt(1)}
	access := &types.DynamicFeeTx{ChainID: id, Nonce: 7, Gas: 9, GasFeeCap: big.NewInt(1), GasTipCap: big.NewInt(1), To: &bob, AccessList: types.AccessList{{Address: bob}}}
	for _, c := range []struct {
		a    action
		want string
	}{
		{action{method: "evm_mine"}, "mine on C"}, {action{method: "evm_mine", data: []byte(`[]`)}, "mine on C"}, {action{method: "evm_mine", data: []byte(`[5]`)}, "evm_mine [5] on C"},
		{action{method: "hardhat_mine"}, "mine on C"}, {action{method: "anvil_mine", data: []byte(`["0x3"]`)}, "mine 3 on C"}, {action{method: "anvil_mine", data: []byte(`[2, "0x3c"]`)}, "mine 2 every 1m0s on C"},
		{action{method: "anvil_mine", data: []byte(`["x"]`)}, `anvil_mine ["x"] on C`}, {action{method: "anvil_mine", data: []byte(`{"a": 1}`)}, `anvil_mine {"a":1} on C`},
		{action{method: scheduled}, "mine on C by interval"},
		{action{method: "evm_snapshot", result: []byte(`"0x1f"`)}, "snapshot 31"}, {action{method: "evm_snapshot", result: []byte(`7`)}, "evm_snapshot on C"},
		{action{method: "evm_revert", data: []byte(`["0x1f"]`)}, "revert to 31 and delete it"}, {action{method: "evm_revert", data: []byte(`[4]`)}, "revert to 4 and delete it"},
		{action{method: "evm_revert", data: []byte(`[]`)}, "evm_revert [] on C"}, {action{method: "evm_revert", data: []byte(`["a"]`)}, `evm_revert ["a"] on C`}, {action{method: "evm_revert", data: []byte(`["0x1","0x2"]`)}, `evm_revert ["0x1","0x2"] on C`},
		{action{method: "anvil_reset", data: []byte(`[{}]`)}, "reset"}, {action{method: "evm_setIntervalMining", data: []byte(`[9]`)}, "evm_setIntervalMining [0] on C"},
		{action{method: "personal_sendTransaction", data: []byte(`[{},"secret"]`)}, "missing personal_sendTransaction, whose parameters have a password"},
		{action{method: "anvil_setBalance", data: []byte(at.Replace(`[ "$alice", "0x1" ]`))}, `anvil_setBalance ["@alice","0x1"] on C`}, {action{method: "anvil_setCode", data: []byte(at.Replace(`["$usdx","@x"]`))}, `anvil_setCode ["@usdx","@@x"] on C`},
		{action{method: "anvil_setBalance", data: []byte(`["` + stranger + `"]`)}, `anvil_setBalance ["` + stranger + `"] on C`}, {action{method: "evm_increase", data: []byte(`null`)}, "evm_increase on C"}, {action{method: "evm_increase", data: []byte(`{`)}, "evm_increase on C"},
		{action{method: "anvil_setCode", path: "", large: 99}, "missing anvil_setCode  with 99 bytes, more than a session keeps"},

		// What clients signed.
		{action{method: "eth_sendRawTransaction", data: []byte(raw(&types.DynamicFeeTx{ChainID: id, Nonce: 7, Gas: 21_000, GasFeeCap: big.NewInt(1_500_000_000), GasTipCap: big.NewInt(1), To: &bob, Value: big.NewInt(1_500_000_000_000_000_000)}))},
			"alice sends 1.5 AVAX to bob on C nonce 7 gas 21000 fee 1.5 gwei tip 0.000000001 gwei"},
		{action{method: "eth_sendRawTransactionSync", data: []byte(raw(&types.LegacyTx{Nonce: 8, Gas: 50_000, GasPrice: big.NewInt(25_000_000_000), To: &usdx, Data: transfer}))},
			"alice calls usdx.transfer(bob, 5) on C nonce 8 gas 50000 price 25 gwei"},
		{action{method: "eth_sendRawTransaction", data: []byte(raw(&types.LegacyTx{Nonce: 8, Gas: 50_000, GasPrice: big.NewInt(25_000_000_000), Data: []byte{1, 2}, Value: big.NewInt(1)}))},
			"alice deploys 0x0102 on C value 0.000000000000000001 AVAX nonce 8 gas 50000 price 25 gwei"},
		{action{method: "eth_sendRawTransaction", data: []byte(raw(&types.LegacyTx{Gas: 50_000, GasPrice: big.NewInt(1), Data: []byte{1, 2}}))}, "alice deploys 0x0102 on C nonce 0 gas 50000 price 0.000000001 gwei"},
		{action{method: "eth_sendRawTransaction", data: []byte(raw(&types.LegacyTx{Gas: 50_000, GasPrice: new(big.Int), To: &usdx, Data: append(transfer[:len(transfer):len(transfer)], 1)}))},
			"alice sends 0 AVAX to usdx on C nonce 0 gas 50000 price 0 gwei data " + hexutil.Encode(transfer) + "01"},
		{action{method: "eth_sendRawTransaction", data: []byte(raw(&types.LegacyTx{Gas: 50_000, GasPrice: new(big.Int), To: &usdx, Data: transfer[:3]}))}, "alice sends 0 AVAX to usdx on C nonce 0 gas 50000 price 0 gwei data 0xa9059c"},
		{action{method: "eth_sendRawTransaction", data: []byte(raw(listed))}, "raw " + strings.Trim(raw(listed), `[]"`) + " on C # alice sends 0.000000000000000001 AVAX to bob on C"},
		{action{method: "eth_sendRawTransaction", data: []byte(raw(access))}, "raw " + strings.Trim(raw(access), `[]"`) + " on C # alice sends 0 AVAX to bob on C"},
		{action{method: "eth_sendRawTransaction", data: []byte(`["0x02"]`)}, `eth_sendRawTransaction ["0x02"] on C`}, {action{method: "eth_sendRawTransaction", data: []byte(`[]`)}, "eth_sendRawTransaction [] on C"},
		{action{method: "eth_sendRawTransaction", data: []byte(`[7]`)}, "eth_sendRawTransaction [7] on C"}, {action{method: "eth_sendRawTransaction", data: []byte(`7`)}, "eth_sendRawTransaction 7 on C"},

		// What the node signed.
		{action{method: "eth_sendTransaction", data: []byte(at.Replace(`[{"from":"$alice","to":"$bob","value":"0xde0b6b3a7640000"}]`))}, "alice sends 1 AVAX to bob on C"},
		{action{method: "eth_sendTransactionSync", data: []byte(at.Replace(`[{"from":"$alice","to":"$bob","nonce":"0x5","gas":"0x5208","gasPrice":"0x3b9aca00"}]`))}, "alice sends 0 AVAX to bob on C nonce 5 gas 21000 price 1 gwei"},
		{action{method: "eth_sendTransaction", data: []byte(at.Replace(`[{"from":"$alice","to":"$bob","maxFeePerGas":"0x77359400","maxPriorityFeePerGas":"0x1"}]`))}, "alice sends 0 AVAX to bob on C fee 2 gwei tip 0.000000001 gwei"},
		{action{method: "eth_sendTransaction", data: []byte(at.Replace(`[{"from":"$alice","to":"$usdx","data":"$transfer"}]`))}, "alice calls usdx.transfer(bob, 5) on C"},
		{action{method: "eth_sendTransaction", data: []byte(at.Replace(`[{"from":"$alice","to":"$usdx","data":"0x01","input":"$transfer"}]`))}, "alice calls usdx.transfer(bob, 5) on C"},
		{action{method: "eth_sendTransaction", data: []byte(at.Replace(`[{"from":"$alice","input":"0x0102"}]`))}, "alice deploys 0x0102 on C"},
		{action{method: "eth_sendTransaction", data: []byte(at.Replace(`[{"from":"$alice","to":"$bob","gasPrice":"0x1","maxFeePerGas":"0x1"}]`))}, `eth_sendTransaction [{"from":"@alice","to":"@bob","gasPrice":"0x1","maxFeePerGas":"0x1"}] on C`},
		{action{method: "eth_sendTransaction", data: []byte(at.Replace(`[{"from":"$alice","to":"$bob","accessList":[]}]`))}, `eth_sendTransaction [{"from":"@alice","to":"@bob","accessList":[]}] on C`},
		{action{method: "eth_sendTransaction", data: []byte(at.Replace(`[{"to":"$bob"}]`))}, `eth_sendTransaction [{"to":"@bob"}] on C`}, {action{method: "eth_sendTransaction", data: []byte(`[]`)}, "eth_sendTransaction [] on C"},
		{action{method: "eth_sendTransaction", data: []byte(`[{"from":"` + stranger + `","value":"0x1","data":"0x"}]`), result: []byte(`"0x01"`)}, stranger + " deploys 0x on C value 0.000000000000000001 AVAX"},

		// Issued transactions that nobody could read, or that the node would not accept in this form.
		{action{chain: "P", method: "platform.issueTx", data: []byte(`{"tx":"0x01","encoding":"hex"}`)}, "issue 0x01 on P"}, {action{chain: "X", method: "avm.issueTx", data: []byte(`[{"tx":"0x01"}]`)}, "issue 0x01 on X"},
		{action{chain: "P", method: "platform.issueTx", data: []byte(`{"tx":"0x01","encoding":"json"}`)}, `platform.issueTx {"tx":"0x01","encoding":"json"} on P`},
		{action{chain: "P", method: "platform.issueTx", data: []byte(`[{"tx":"0x01"},2]`)}, `platform.issueTx [{"tx":"0x01"},2] on P`}, {action{chain: "P", method: "platform.issueTx", data: []byte(`{"tx":"zz"}`)}, `platform.issueTx {"tx":"zz"} on P`},

		// Operations of the simulator.
		{action{method: "POST", path: "/sim/reset"}, "reset"}, {action{method: "POST", path: "/sim/snapshots", result: []byte(`{"id":"4","name":"before lunch"}`)}, `snapshot 4 "before lunch"`},
		{action{method: "POST", path: "/sim/snapshots/0x10:revert"}, "revert to 16"}, {action{method: "DELETE", path: "/sim/snapshots/7"}, "delete snapshot 7"}, {action{method: "DELETE", path: "/sim/snapshots/x"}, "delete snapshot x"},
		{action{method: "POST", path: "/sim/clock", data: []byte(`{"advance":"1h"}`), result: []byte(`{"milliseconds":1785250800123}`)}, "clock to 2026-07-28T15:00:00.123Z"},
		{action{method: "POST", path: "/sim/clock", data: []byte(`{"advance":"1h","populate":true,"wait":true}`), result: []byte(`{"milliseconds":1785250800000}`)}, "clock to 2026-07-28T15:00:00Z with people"},
		{action{method: "POST", path: "/sim/clock", data: []byte(`{"advance":"1h","populate":false}`), result: []byte(`{"milliseconds":1785250800000}`)}, "clock to 2026-07-28T15:00:00Z"},
		{action{method: "POST", path: "/sim/clock", data: []byte(`{"rate":2}`)}, `POST /sim/clock {"rate":2}`}, {action{method: "POST", path: "/sim/clock", data: []byte(`{"freeze":true}`)}, `POST /sim/clock {"freeze":true}`},
		{action{method: "POST", path: "/sim/clock", data: []byte(`{"advance":"1h","wait":false}`)}, `POST /sim/clock {"advance":"1h","wait":false}`}, {action{method: "POST", path: "/sim/clock", data: []byte(`{"advance":"1h"}`), failed: true}, `POST /sim/clock {"advance":"1h"}`},
		{action{method: "DELETE", path: "/sim/faults"}, "DELETE /sim/faults"}, {action{method: "POST", path: "/sim/faucet", data: []byte(at.Replace(`{ "address": "$bob" }`))}, `POST /sim/faucet {"address":"@bob"}`},
	} {
		if c.a.chain == "" && c.a.path == "" {
			c.a.chain = "C"
		}
		step := n.step(&c.a)
		if strings.HasPrefix(c.want, "reset") || strings.HasPrefix(c.want, "snapshot") || strings.HasPrefix(c.want, "revert") || strings.HasPrefix(c.want, "missing") {
			step.Chain = ""
		}
		if got := step.String(); got != c.want {
			t.Errorf("%s %s%s: %s, want %s", c.a.method, c.a.path, c.a.data, got, c.want)
		}
	}
}

// TestArguments writes the values of every Solidity type as arguments of a line, which lead to the same data again.
func TestArguments(t *testing.T) {
	n := named(t)
	c, bob := n.chains["C"], n.accounts["bob"].address
	for types, value := range map[string]struct {
		data string
		want string
	}{
		"(bytes32)":           {"01" + strings.Repeat("0", 60) + "ff", "0x01" + strings.Repeat("0", 60) + "ff"},
		"(bytes4)":            {"01020304" + strings.Repeat("0", 56), "0x01020304"},
		"(bool)":              {strings.Repeat("0", 63) + "1", "true"},
		"(uint8)":             {strings.Repeat("0", 62) + "11", "17"},
		"(int256)":            {strings.Repeat("f", 64), "-1"},
		"(address)":           {common.Bytes2Hex(common.LeftPadBytes(bob[:], 32)), "bob"},
		"(uint256[2])":        {strings.Repeat("0", 63) + "1" + strings.Repeat("0", 63) + "2", "[1, 2]"},
		"(string)":            {strings.Repeat("0", 62) + "20" + strings.Repeat("0", 63) + "2" + "6869" + strings.Repeat("0", 60), `"hi"`},
		"(bytes)":             {strings.Repeat("0", 62) + "20" + strings.Repeat("0", 63) + "2" + "6869" + strings.Repeat("0", 60), "0x6869"},
		"(uint256[])":         {strings.Repeat("0", 62) + "20" + strings.Repeat("0", 63) + "1" + strings.Repeat("0", 63) + "7", "[7]"},
		"((address,uint256))": {common.Bytes2Hex(common.LeftPadBytes(bob[:], 32)) + strings.Repeat("0", 63) + "7", "[bob, 7]"},
	} {
		m, err := method(&emptyABI, "f", types)
		if err != nil {
			t.Fatal(types, err)
		}
		values, err := m.Inputs.UnpackValues(common.FromHex(value.data))
		if err != nil {
			t.Fatal(types, err)
		}
		arg := n.argument(c, &m.Inputs[0].Type, valueOf(values[0]))
		if arg.String() != value.want {
			t.Errorf("%s: %s, want %s", types, arg.String(), value.want)
		}
		if again, err := pack(m.Inputs, argsOf(arg), func(name string) (common.Address, error) { return n.resolve(c, name) }); err != nil || common.Bytes2Hex(again) != value.data {
			t.Errorf("%s: %x %v, want %s", types, again, err, value.data)
		}
	}
	for n, want := range map[int64]string{0: "0", 5: "0.000000005", 1_000_000_000: "1", 1_500_000_000: "1.5", 20_000_000_000: "20", 100_000_000: "0.1"} {
		if got := decimal(big.NewInt(n), 9); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestIssuedTransactionsInWords: behind the bytes of a transaction stands who does what.
func TestIssuedTransactionsInWords(t *testing.T) {
	n := named(t)
	network := n.world.Networks[0]
	avax, other := network.Rules.AVAXAssetID, ids.ID{7}
	key := func(who string) *txs.Key {
		for i := range n.personas {
			if n.personas[i].Name == who {
				k, err := txs.KeyFromBytes(n.personas[i].Key)
				if err != nil {
					t.Fatal(err)
				}
				return k
			}
		}
		t.Fatal(who)
		return nil
	}
	alice, bob := key("alice"), key("bob")
	out := func(asset ids.ID, amount uint64, to ...ids.ShortID) *txs.TransferableOutput {
		return txs.NewTransferableOutput(asset, amount, txs.NewOutputOwners(0, uint32(len(to)), to...))
	}
	in := func(amount uint64) *txs.TransferableInput {
		return &txs.TransferableInput{AssetID: avax, In: &txs.TransferInput{Amount: amount, Input: txs.Input{SigIndices: []uint32{0}}}}
	}
	base := txs.BaseTx{NetworkID: network.Rules.NetworkID, Ins: []*txs.TransferableInput{in(9_000_000_000)}}
	with := func(outs ...*txs.TransferableOutput) txs.BaseTx {
		b := base
		b.Outs = outs
		return b
	}
	sends := func(outs ...*txs.TransferableOutput) *txs.BaseTx { b := with(outs...); return &b }
	validator := txs.Validator{NodeID: ids.NodeID{1}, Start: 0, End: 1785250800, Weight: 1}
	stranger := ids.ShortID{9}
	for _, c := range []struct {
		unsigned txs.Unsigned
		signers  []*txs.Key
		want     string
	}{
		{sends(out(avax, 1_500_000_000, bob.Address()), out(avax, 3_000_000_000, alice.Address())), []*txs.Key{alice}, "alice sends 1.5 AVAX to bob"},
		{sends(out(avax, 2_000_000_000, alice.Address())), []*txs.Key{alice}, "alice sends 2 AVAX to alice"},
		{sends(out(avax, 1, bob.Address()), out(other, 5, bob.Address()), out(avax, 2, bob.Address())), []*txs.Key{alice}, "alice sends 0.000000003 AVAX and 5 of " + other.String() + " to bob"},
		{sends(out(avax, 1_000_000_000, alice.Address(), bob.Address()), out(avax, 1_000_000_000, stranger)), nil, "someone sends 1 AVAX to 2 of alice and bob, 1 AVAX to " + network.Rules.Address(txs.PChain, stranger)},
		{&txs.ImportTx{BaseTx: with(), SourceChain: ids.Empty, ImportedInputs: []*txs.TransferableInput{in(1_000_000_000), in(500_000_000)}}, []*txs.Key{bob}, "bob imports 1.5 AVAX from P"},
		{&txs.ImportTx{BaseTx: with(), SourceChain: ids.ID{5}, ImportedInputs: []*txs.TransferableInput{in(1_000_000_000)}}, []*txs.Key{bob}, "bob imports 1 AVAX from " + ids.ID{5}.String()},
		{&txs.ExportTx{BaseTx: with(), DestinationChain: network.Rules.XChainID, ExportedOutputs: []*txs.TransferableOutput{out(avax, 1_000_000_000, bob.Address())}}, []*txs.Key{alice}, "alice exports 1 AVAX to bob on X"},
		{&txs.AddPermissionlessDelegatorTx{BaseTx: with(), Validator: validator, StakeOuts: []*txs.TransferableOutput{out(avax, 25_000_000_000, alice.Address())}, RewardsOwner: &txs.OutputOwners{}}, []*txs.Key{alice},
			"alice delegates 25 AVAX to " + ids.NodeID{1}.String() + " until 2026-07-28T15:00:00Z"},
	} {
		tx, err := txs.NewSigned(txs.PChain, c.unsigned, c.signers)
		if err != nil {
			t.Fatal(c.want, err)
		}
		raw := hexChecked(tx.Bytes())
		if got := n.issuedWords("P", raw); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if got := n.issuedWords("P", raw[:len(raw)-2]); got != "" {
			t.Error(got)
		}
		for _, chain := range []string{"nowhere/P", "70411", "P/P/P"} {
			if got := n.issuedWords(chain, raw); got != "" {
				t.Errorf("on %s: %s", chain, got)
			}
		}
	}
}

// TestRequests: each line becomes the requests that a client would send.
func TestRequests(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	n := named(t)
	alice, bob, usdx := strings.ToLower(n.accounts["alice"].address.Hex()), strings.ToLower(n.accounts["bob"].address.Hex()), strings.ToLower(n.chains["C"].contracts["usdx"].address.Hex())
	at := strings.NewReplacer("$alice", alice, "$bob", bob, "$usdx", usdx)
	later := w.Clock.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	cID := n.chains["C"].Row.BlockchainID
	chain, err := ids.ToID(cID[:])
	if err != nil {
		t.Fatal(err)
	}
	rpc := "POST /mainnet/ext/bc/" + chain.String() + "/rpc "
	call := func(method, params string) string {
		return `{"id":1,"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`
	}
	for _, c := range []struct{ line, answer, want, outcome string }{
		{"alice sends 1.5 AVAX to bob on C", `{"result":"0x"}`, rpc + call("eth_sendTransaction", at.Replace(`[{"from":"$alice","to":"$bob","value":"0x14d1120d7b160000","input":"0x"}]`)), "1"},
		{"alice sends 0 AVAX to bob on C nonce 5 gas 21000 data 0x01", `{}`, rpc + call("eth_sendTransaction", at.Replace(`[{"from":"$alice","to":"$bob","gas":"0x5208","value":"0x0","nonce":"0x5","input":"0x01"}]`)), "1"},
		{"alice calls usdx.transfer(bob, 5) on C price 2 gwei", `{}`, rpc + call("eth_sendTransaction", at.Replace(`[{"from":"$alice","to":"$usdx","gasPrice":"0x77359400","value":"0x0","input":"0xa9059cbb000000000000000000000000`)+bob[2:]+strings.Repeat("0", 63)+`5"}]`), "1"},
		{"alice deploys 0x0102 on C value 1 wei fee 2 gwei tip 1 wei", `{}`, rpc + call("eth_sendTransaction", at.Replace(`[{"from":"$alice","maxFeePerGas":"0x77359400","maxPriorityFeePerGas":"0x1","value":"0x1","input":"0x0102"}]`)), "1"},
		{"0x00000000000000000000000000000000000000aa sends 1 wei to bob on C", `{}`, rpc + call("eth_sendTransaction", at.Replace(`[{"from":"0x00000000000000000000000000000000000000aa","to":"$bob","value":"0x1","input":"0x"}]`)), "1"},
		{"raw 0x0102 on C", `{}`, rpc + call("eth_sendRawTransaction", `["0x0102"]`), "1"},
		{"issue 0x01 on P", `{}`, "POST /mainnet/ext/bc/P " + call("platform.issueTx", `{"encoding":"hex","tx":"0x01"}`), "1"},
		{"issue 0x01 on fuji/X", `{}`, "POST /fuji/ext/bc/X " + call("avm.issueTx", `{"encoding":"hex","tx":"0x01"}`), "1"},
		{"issue 0x01 on C", `{}`, "POST /mainnet/ext/bc/" + chain.String() + "/avax " + call("avax.issueTx", `{"encoding":"hex","tx":"0x01"}`), "1"},
		{"mine on C", `{}`, rpc + call("evm_mine", `[]`), "1"}, {"mine 3 on C", `{}`, rpc + call("anvil_mine", `["0x3"]`), "1"}, {"mine every 5s on C", `{}`, rpc + call("anvil_mine", `["0x1","0x5"]`), "1"}, {"mine 3 every 1m on C", `{}`, rpc + call("anvil_mine", `["0x3","0x3c"]`), "1"},
		{"anvil_setBalance [\"@bob\",\"0x1\",\"@@x\"] on C", `{}`, rpc + call("anvil_setBalance", at.Replace(`["BOB","0x1","@x"]`)), "1"}, {"evm_increase on C", `{}`, rpc + call("evm_increase", `[]`), "1"},
		{"snapshot 4 \"lunch\"\nrevert to 4", `{"id":"9"}`, `POST /sim/snapshots {"name":"lunch"}` + "\nPOST /sim/snapshots/9:revert ", "2"}, {"revert to 7", `{}`, "POST /sim/snapshots/7:revert ", "1"}, {"delete snapshot 7", `{}`, "DELETE /sim/snapshots/7 ", "1"},
		{"snapshot\nrevert to 7", `{"id":"9"}`, `POST /sim/snapshots {"name":""}` + "\nPOST /sim/snapshots/7:revert ", "2"},
		{"revert to 7 and delete it", `{"result":true}`, rpc + call("evm_revert", `["0x7"]`), "1"}, {"revert to 7 and delete it", `{"result":false}`, rpc + call("evm_revert", `["0x7"]`), "line 1: there is no snapshot 7"},
		{"revert to x and delete it", `{}`, "", "line 1: there is no snapshot x"}, {"revert to 7 and delete it fails", `{"result":false}`, rpc + call("evm_revert", `["0x7"]`), "1"},
		{"reset", `{}`, "POST /sim/reset ", "1"}, {"DELETE /sim/faults", `{}`, "DELETE /sim/faults ", "1"}, {"POST /sim/faucet {\"address\":\"@bob\"}", `{}`, `POST /sim/faucet {"address":"BOB"}`, "1"},
		{"clock advance 1h", `{}`, `POST /sim/clock {"advance":"1h0m0s","populate":false}`, "1"}, {"clock to " + later + " with people", `{}`, `POST /sim/clock {"populate":true,"set":"` + later + `"}`, "1"}, {"clock to 2020-01-01T00:00:00Z", `{}`, "", "1"},
		{"mine on C", `{"error":{"message":"no"}}`, rpc + call("evm_mine", `[]`), "line 1: evm_mine: no"}, {"mine on C fails", `{"error":{"message":"no"}}`, rpc + call("evm_mine", `[]`), "1"}, {"mine on C fails", `{}`, rpc + call("evm_mine", `[]`), "line 1: it succeeded, but the line expects it to fail"},
		{"mine on C", ` oh`, rpc + call("evm_mine", `[]`), "line 1: status 200: oh"}, {"reset", `400{"message":"no"}`, "POST /sim/reset ", "line 1: no"}, {"reset", `400oh`, "POST /sim/reset ", "line 1: oh"}, {"reset fails", `400oh`, "POST /sim/reset ", "1"},
		{"POST /sim/faucet {\"address\":\"@who\"}", `{}`, "", `line 1: "who" is not an account, contract or address`}, {"alice calls usdx.nothing() on C", `{}`, "", "line 1: usdx: it has no method nothing, only "},
		{"alice calls usdx.transfer(bob) on C", `{}`, "", "line 1: expected 2 arguments, got 1"}, {"alice calls fresh.f(bytes4)(0x01020304) on C", `{}`, rpc, "1"}, {"alice calls fresh.f() on C fails", `{}`, "", "line 1: fresh: its ABI is unknown"},
		{"mine on D fails", `{}`, "", `line 1: there is no EVM chain "D"`}, {"world " + fmt.Sprintf("%x", w.Digest()) + "\ndigest " + fmt.Sprintf("%x", w.Digest()), `{}`, "", "0"},
	} {
		var sent []string
		p := NewPlayer(w, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			var body json.RawMessage
			_ = json.NewDecoder(r.Body).Decode(&body)
			sent = append(sent, r.Method+" "+r.URL.Path+" "+string(body))
			text, bad := strings.CutPrefix(c.answer, "400")
			if bad {
				rw.WriteHeader(http.StatusBadRequest)
			}
			rw.Write([]byte(text))
		}))
		played, err := p.Play(t.Context(), c.line)
		outcome := fmt.Sprint(err)
		if err == nil {
			outcome = fmt.Sprint(played.Lines)
			for _, note := range played.Notes {
				outcome += " " + note
			}
		}
		got := strings.Join(sent, "\n")
		want := strings.ReplaceAll(c.want, "BOB", n.accounts["bob"].address.Hex())
		if got != want && (c.want != rpc || !strings.HasPrefix(got, rpc)) || !strings.HasPrefix(outcome, c.outcome) {
			t.Errorf("%s\ngot %s\n%s, want\n%s\n%s", c.line, outcome, got, c.outcome, want)
		}
	}
}
