package simulate_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
)

// reverts reverts with its input.
var reverts = common.FromHex("0x365f5f37365ffd")

// reason encodes a text as Solidity's require does.
func reason(t *testing.T, text string) hexutil.Bytes {
	t.Helper()
	kind, err := abi.NewType("string", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := abi.Arguments{{Type: kind}}.Pack(text)
	if err != nil {
		t.Fatal(err)
	}
	return append(crypto.Keccak256([]byte("Error(string)"))[:4], packed...)
}

// TestFailedCalls: every method gives the reason of a failed call that eth_call gives.
func TestFailedCalls(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	loud, broken := c.Deploy(reverts), c.Deploy([]byte{0xfe})
	for _, call := range []struct {
		to    common.Address
		input hexutil.Bytes
		code  int
		why   string
	}{
		{loud, reason(t, "nope"), 3, "execution reverted: nope"},
		{loud, hexutil.Bytes{1, 2, 3}, 3, "execution reverted"},
		{loud, hexutil.Bytes{}, 3, "execution reverted"},
		{broken, hexutil.Bytes{}, -32015, "invalid opcode: INVALID"},
	} {
		question := object{"from": c.From, "to": call.to, "input": call.input, "gas": "0x186a0"}
		if problem := c.Problem("eth_call", question, "latest"); !strings.HasSuffix(problem, " "+call.why) {
			t.Errorf("eth_call says %s, want %s", problem, call.why)
		}
		problem := object{"message": call.why, "code": call.code}
		if call.code == 3 {
			problem["data"] = call.input
		}
		var made []struct{ Calls []map[string]any }
		c.Call(&made, "eth_simulateV1", object{"blockStateCalls": []object{{"calls": []object{question}}}})
		if r := made[0].Calls[0]; r["status"] != "0x0" || r["returnData"] != "0x" || fmt.Sprint(r["logs"]) != "[]" || fmt.Sprint(r["error"]) != fmt.Sprint(decoded(problem)) {
			t.Errorf("eth_simulateV1 says %v, want %v", r, problem)
		}
		var tries [][]map[string]string
		c.Call(&tries, "eth_callMany", []object{{"transactions": []object{question}}})
		if fmt.Sprint(tries) != fmt.Sprint([][]map[string]string{{{"error": call.why}}}) {
			t.Errorf("eth_callMany says %v, want %s", tries, call.why)
		}
		var bundle bundleOutcome
		signed := c.Sign(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &call.to, Data: call.input, Gas: 100_000})
		c.Call(&bundle, "eth_callBundle", object{"txs": []hexutil.Bytes{c.Raw(signed)}, "blockNumber": "0x99999"})
		if r := bundle.Results[0]; r.Value != nil || *r.Error != call.why || call.code == 3 && *r.Revert != call.input.String() || call.code != 3 && *r.Revert != "0x" {
			t.Errorf("eth_callBundle says %+v, want %s", r, call.why)
		}
	}
}

// decoded is an object as it comes from JSON.
func decoded(o object) map[string]any {
	for key, value := range o {
		switch v := value.(type) {
		case int:
			o[key] = float64(v)
		case hexutil.Bytes:
			o[key] = v.String()
		}
	}
	return o
}

// TestLogs: a call without logs has an empty list, and the logs of others count on through the block.
func TestLogs(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	c := nodetest.Open(t, w, w.Chains[0])
	logs := object{someone.Hex(): object{"code": "0x5f5fa0"}}
	loud, quiet := object{"to": someone}, object{"to": common.Address{1, 2, 3}}
	var made []simulatedBlock
	c.Call(&made, "eth_simulateV1", object{"blockStateCalls": []object{{"stateOverrides": logs, "calls": []object{loud, quiet, loud}}}})
	calls := made[0].Calls
	if len(calls) != 3 || len(calls[0].Logs) != 1 || calls[1].Logs == nil || len(calls[1].Logs) != 0 || len(calls[2].Logs) != 1 || calls[2].Logs[0].Index != 1 {
		t.Errorf("%+v", calls)
	}
	var plain, full []struct {
		Size         string
		Transactions []any
	}
	question := object{"blockStateCalls": []object{{"calls": []object{quiet}}}, "returnFullTransactions": false}
	c.Call(&plain, "eth_simulateV1", question)
	question["returnFullTransactions"] = true
	c.Call(&full, "eth_simulateV1", question)
	tx, whole := full[0].Transactions[0].(map[string]any)
	if !whole || plain[0].Transactions[0] != tx["hash"] || plain[0].Size != full[0].Size || hexutil.MustDecodeUint64(plain[0].Size) < 500 {
		t.Errorf("%v and %v", plain, full)
	}
}

// TestWithinBounds goes up to each bound of eth_simulateV1 and eth_callMany.
func TestWithinBounds(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	c.Chain.Limits.Gas = 1 << 40
	calls := func(n int) []object {
		all := make([]object, n)
		for i := range all {
			all[i] = object{"to": someone, "gas": "0x5208"}
		}
		return all
	}
	var made []simulatedBlock
	c.Call(&made, "eth_simulateV1", object{"blockStateCalls": []object{
		{"calls": calls(5000), "blockOverrides": object{"gasLimit": "0xffffffff"}}, {"calls": calls(5000), "blockOverrides": object{"gasLimit": "0xffffffff"}},
	}})
	if len(made) != 2 || len(made[0].Calls) != 5000 || len(made[1].Calls) != 5000 {
		t.Errorf("%d blocks", len(made))
	}
	many := make([]object, 256)
	for i := range many {
		many[i] = object{}
	}
	if c.Call(&made, "eth_simulateV1", object{"blockStateCalls": many}); len(made) != 256 {
		t.Errorf("%d blocks", len(made))
	}
	var tries [][]callOutcome
	if c.Call(&tries, "eth_callMany", []object{{"transactions": calls(4999)}, {"transactions": calls(5001)}}); len(tries) != 2 || len(tries[1]) != 5001 {
		t.Errorf("%d bundles", len(tries))
	}
}

// TestUnknownOverrides: eth_simulateV1 alone refuses the fields that it does not know, with go-ethereum's words.
func TestUnknownOverrides(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	c := nodetest.Open(t, w, w.Chains[0])
	for want, block := range map[string]object{
		`-32602 invalid argument 0: unknown field "colour" in block override`:                                                                                     {"blockOverrides": object{"number": "0x99999", "colour": 1}},
		`-32602 invalid argument 0: unknown field "cash" in state override for 0x000000000000000000000000000000000050e50E`:                                        {"stateOverrides": object{someone.Hex(): object{"balance": "0x1", "cash": "0x1"}}},
		`-32602 invalid argument 0: json: cannot unmarshal string into Go struct field options.BlockStateCalls.Calls of type []reader.Call`:                       {"calls": "none"},
		`-32602 invalid argument 0: json: cannot unmarshal number into Go struct field options.BlockStateCalls.BlockOverrides of type map[string]json.RawMessage`: {"blockOverrides": 1},
		"": {"blockOverrides": object{"NUMBER": hexutil.Uint64(c.Head().Number + 1), "time": "0x7fffffff"}, "stateOverrides": object{someone.Hex(): object{"Balance": "0x1", "nonce": "0x1"}}},
	} {
		if problem := c.Problem("eth_simulateV1", object{"blockStateCalls": []object{block}}); problem != want {
			t.Errorf("%v: %s, want %s", block, problem, want)
		}
	}
	for want, params := range map[string]any{
		"-32602 empty input": object{"blockStateCalls": []object{}}, "-32000 header for hash not found": nil,
	} {
		all := []any{params}
		if params == nil {
			all = []any{object{"blockStateCalls": []object{{}}}, common.Hash{1}}
		}
		if problem := c.Problem("eth_simulateV1", all...); problem != want {
			t.Errorf("%v: %s, want %s", all, problem, want)
		}
	}
}

// TestPaymentsToTheCoinbase: what a contract pays the coinbase is apart from fees.
func TestPaymentsToTheCoinbase(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	pays := c.Deploy(common.FromHex("0x5f5f5f5f34415af1")) // passes its value on to COINBASE
	var raw []hexutil.Bytes
	for i := range uint64(2) {
		raw = append(raw, c.Raw(c.Sign(&types.DynamicFeeTx{Nonce: c.Nonce() + i, To: &pays, Gas: 100_000, Value: big.NewInt(int64(1000 + i))})))
	}
	var made bundleOutcome
	c.Call(&made, "eth_callBundle", object{"txs": raw, "blockNumber": "0x99999", "coinbase": someone, "baseFee": "0x5"})
	if made.EthSentToCoinbase != "2001" || made.Results[0].EthSentToCoinbase != "1000" || made.Results[1].EthSentToCoinbase != "1001" {
		t.Errorf("%+v", made)
	}
	total := new(big.Int)
	for _, r := range made.Results {
		fee := new(big.Int).SetUint64(6 * r.GasUsed) // the base fee and the tip
		diff := new(big.Int)
		fmt.Sscan(r.EthSentToCoinbase, diff)
		if diff.Add(diff, fee); r.GasPrice != "6" || r.GasFees != fee.String() || r.CoinbaseDiff != diff.String() {
			t.Errorf("%+v", r)
		}
		total.Add(total, diff)
	}
	if made.CoinbaseDiff != total.String() || made.GasFees != fmt.Sprint(6*made.TotalGasUsed) || made.BundleGasPrice != new(big.Int).Quo(total, new(big.Int).SetUint64(made.TotalGasUsed)).String() {
		t.Errorf("%+v, want %s in all", made, total)
	}
}

// TestTheBlockOfABundle: a signed bundle's transactions see the block that it describes, and without a description the one after its state's.
func TestTheBlockOfABundle(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	sees := c.Deploy(common.FromHex("0x435f52426020524160405245606052486080524460a05260c05ff3")) // NUMBER, TIMESTAMP, COINBASE, GASLIMIT, BASEFEE, PREVRANDAO
	head := c.Head()
	raw := c.Raw(c.Sign(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &sees, Gas: 100_000}))
	for _, b := range []struct {
		with object
		want map[int]uint64
	}{
		{object{"blockNumber": 0x777}, map[int]uint64{0: 0x777, 1: head.Header.Time + 1, 3: head.Header.GasLimit}},
		{object{"blockNumber": "0x777", "timestamp": head.Header.Time + 99, "coinbase": someone, "gasLimit": 200_000, "baseFee": "0x9"},
			map[int]uint64{0: 0x777, 1: head.Header.Time + 99, 2: 0x50e50e, 3: 200_000, 4: 9}},
		{object{"blockNumber": 1, "timeout": 0}, map[int]uint64{0: 1}},
		{object{"blockNumber": 1, "timeout": 100_000}, map[int]uint64{0: 1}},
		{object{"blockNumber": 1, "timeout": "0xffffffffffffffff"}, map[int]uint64{0: 1}},
		{object{"blockNumber": 1, "gasLimit": c.Chain.Limits.Gas}, map[int]uint64{3: c.Chain.Limits.Gas}},
	} {
		b.with["txs"] = []hexutil.Bytes{raw}
		var made bundleOutcome
		c.Call(&made, "eth_callBundle", b.with)
		seen := common.FromHex(*made.Results[0].Value)
		for at, want := range b.want {
			if got := new(big.Int).SetBytes(seen[32*at : 32*at+32]); !got.IsUint64() || got.Uint64() != want {
				t.Errorf("%v: word %d is %d, want %d", b.with, at, got, want)
			}
		}
		if made.Results[0].FromAddress != strings.ToLower(c.From.Hex()) || made.StateBlockNumber != head.Number {
			t.Errorf("%+v", made)
		}
	}
	unsigned, err := types.NewTx(&types.LegacyTx{Gas: 21_000, To: &someone}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	loop := c.Deploy(common.FromHex("0x5b5f56"))
	burns := c.Raw(c.Sign(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &loop, Gas: 8_000_000}))
	for want, with := range map[string]object{
		"-32602 transaction 1: ":            {"txs": []hexutil.Bytes{raw, unsigned}, "blockNumber": 1},
		"execution aborted (timeout = 1ms)": {"txs": []hexutil.Bytes{burns}, "blockNumber": 1, "timeout": 1},
		"-32000 transaction 0, 0x":          {"txs": []hexutil.Bytes{raw}, "blockNumber": 1, "stateBlockNumber": "0x0"},
		"-32602 bundle missing blockNumber": {"txs": []hexutil.Bytes{raw}},
		"-32602 bundle missing txs":         {"blockNumber": 1},
		"-32000 header for hash not found":  {"txs": []hexutil.Bytes{raw}, "blockNumber": 1, "stateBlockNumber": common.Hash{1}},
		fmt.Sprintf("-32602 gasLimit is %d: expected at most %d", c.Chain.Limits.Gas+1, c.Chain.Limits.Gas): {"txs": []hexutil.Bytes{raw}, "blockNumber": 1, "gasLimit": c.Chain.Limits.Gas + 1},
	} {
		if problem := c.Problem("eth_callBundle", with); !strings.Contains(problem, want) {
			t.Errorf("%.300v: %s, want %s", with, problem, want)
		}
	}
}

// TestWhereCallsBegin: a position counts in a block that is accepted, and every override has two names.
func TestWhereCallsBegin(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	sees := object{someone.Hex(): object{"code": "0x435f52426020525f60405260605ff3"}} // NUMBER, TIMESTAMP
	look := []object{{"to": someone}}
	for _, override := range []object{{"number": "0x777", "time": "0x7fffffff"}, {"blockNumber": "0x777", "timestamp": "0x7fffffff"},
		{"number": "0x1", "time": "0x1", "blockNumber": "0x777", "timestamp": "0x7fffffff"}} {
		var tries [][]callOutcome
		c.Call(&tries, "eth_callMany", []object{{"transactions": look, "blockOverride": override}}, object{}, sees)
		if seen := common.FromHex(*tries[0][0].Value); new(big.Int).SetBytes(seen[:32]).Uint64() != 0x777 || new(big.Int).SetBytes(seen[32:64]).Uint64() != 0x7fffffff {
			t.Errorf("%v: %x", override, seen)
		}
	}
	bundles := []object{{"transactions": look}}
	n := c.Head().Row.Txs
	c.Text("evm_setAutomine", false)
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone})
	for want, context := range map[string]object{
		"": {"transactionIndex": n}, "-32602 transactionIndex: the pending block has no positions": {"blockNumber": "pending", "transactionIndex": 0},
		fmt.Sprintf("-32602 transactionIndex is %d, and the block has %d transactions", n+1, n):     {"transactionIndex": n + 1},
		fmt.Sprintf("-32602 transactionIndex is %d, and the block has %d transactions", 1<<31-1, n): {"transactionIndex": "0xffffffffffffffff"},
		"-32000 header for hash not found": {"blockNumber": common.Hash{1}},
	} {
		if problem := c.Problem("eth_callMany", bundles, context); problem != want {
			t.Errorf("%v: %s, want %s", context, problem, want)
		}
	}
	if problem := c.Problem("eth_callMany", []object{{"transactions": look, "blockOverride": 7}}); !strings.HasPrefix(problem, "-32602 invalid argument 0: ") {
		t.Error(problem)
	}
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	raw := c.Raw(c.Sign(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone}))
	for method, params := range map[string][]any{
		"eth_simulateV1": {object{"blockStateCalls": []object{{"calls": []object{{"to": someone}}}}}, "0x10"},
		"eth_callMany":   {[]object{{"transactions": []object{{"to": someone}}}}, object{"blockNumber": "0x10"}},
		"eth_callBundle": {object{"txs": []hexutil.Bytes{raw}, "blockNumber": "0x11"}},
	} {
		rpctest.FailEach(t, w.DB, func() error { return c.Try(new(any), method, params...) })
	}
}
