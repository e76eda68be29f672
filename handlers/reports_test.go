// Trouble that users of other development nodes reported, repeated over HTTP.

package handlers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"snowglobe/handlers"
)

// TestTroubleThatOthersReported repeats bug reports about another development node, with their public addresses, and expects correct behaviour.
func TestTroubleThatOthersReported(t *testing.T) {
	t.Parallel()
	m := newMany(t, tinyWorld(t), handlers.Options{})
	const alice, bob = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	// call is the result of a call as JSON, or its error as code and message.
	call := func(method, params string) string {
		t.Helper()
		var a struct {
			Result json.RawMessage
			Error  *struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal([]byte(m.want(200, "POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)), &a); err != nil {
			t.Fatal(err)
		}
		if a.Error != nil {
			return text([]any{a.Error.Code, a.Error.Message})
		}
		return string(a.Result)
	}
	is := func(address, what, got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("https://github.com/%s: %s: %.500s, want %s", address, what, got, want)
		}
	}
	member := func(object, name string) string {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(object), &members); err != nil {
			t.Fatalf("%s: %v", object, err)
		}
		return string(members[name])
	}

	// Simulated calls report the most gas, the reason for a failure, and a block's complete transactions with its size.
	const stops, clears = "0x00000000000000000000000000000000000000aa", "0x00000000000000000000000000000000000000bb"
	simulated := call("eth_simulateV1", `[{"returnFullTransactions":true,"blockStateCalls":[{"stateOverrides":{"`+stops+`":{"code":"0xfe"},
		"`+clears+`":{"code":"0x5f5f5500","stateDiff":{"0x0000000000000000000000000000000000000000000000000000000000000000":"0x0000000000000000000000000000000000000000000000000000000000000001"}}},
		"calls":[{"from":"`+alice+`","to":"`+stops+`","gas":"0x20000"},{"from":"`+alice+`","to":"`+clears+`"}]}]},"latest"]`)
	var blocks []struct {
		Hash, Size   string
		Calls        []struct{ GasUsed, MaxUsedGas, Status string }
		Transactions []struct{ BlockHash, TransactionIndex, From string }
	}
	if err := json.Unmarshal([]byte(simulated), &blocks); err != nil || len(blocks) != 1 || len(blocks[0].Calls) != 2 || len(blocks[0].Transactions) != 2 {
		t.Fatal(simulated)
	}
	const simulation = "foundry-rs/foundry/pull/16028"
	is(simulation, "a halt", simulated, `"code":-32015`)
	if c := blocks[0].Calls[1]; c.Status != "0x1" || c.MaxUsedGas != c.GasUsed { // since Apricot Phase 1 nothing is refunded
		t.Errorf("%s: status %s, used %s, at most %s", simulation, c.Status, c.GasUsed, c.MaxUsedGas)
	}
	is(simulation, "a transaction's block", blocks[0].Transactions[1].BlockHash, blocks[0].Hash)
	is("foundry-rs/foundry/pull/16625", "the size", blocks[0].Size, "0x")

	// The pending block's transactions are found by their position.
	call("evm_setAutomine", "[false]")
	sent := call("eth_sendTransaction", `[{"from":"`+alice+`","to":"`+bob+`","value":"0x1"}]`)
	const pending = "foundry-rs/foundry/pull/16547"
	is(pending, "by its place", call("eth_getTransactionByBlockNumberAndIndex", `["pending","0x0"]`), sent)
	is(pending, "its bytes", call("eth_getRawTransactionByBlockNumberAndIndex", `["pending","0x0"]`), `"0x02`)

	// A queued transaction replaces the one before it, and can be dropped; then it is unknown.
	const queued = "foundry-rs/foundry/pull/16638"
	nonce := call("eth_getTransactionCount", `["`+bob+`","latest"]`)
	later := nonce[:len(nonce)-1] + `0"` // sixteen times as many
	var last string
	for _, fee := range []string{"0x174876e800", "0x2e90edd000", "0x5d21dba000"} {
		last = call("eth_sendTransaction", `[{"from":"`+bob+`","to":"`+alice+`","nonce":`+later+`,"gas":"0x5208","maxFeePerGas":"`+fee+`","maxPriorityFeePerGas":"`+fee+`"}]`)
	}
	is(queued, "three of the same nonce", call("txpool_status", "[]"), `"queued":"0x1"`)
	is(queued, "the last of them", call("eth_getTransactionByHash", "["+last+"]"), last)
	is(queued, "dropped", call("anvil_dropTransaction", "["+last+"]"), last)
	is(queued, "what is left", call("txpool_status", "[]"), `"queued":"0x0"`)
	is("foundry-rs/foundry/pull/16059", "the receipt of what was dropped", call("eth_getTransactionReceipt", "["+last+"]"), "null")
	call("anvil_dropTransaction", "["+sent+"]")
	call("evm_setAutomine", "[true]")

	// Ranges of logs that end before they begin, or beyond the last block, are refused instead of cut.
	const ranges = "foundry-rs/foundry/pull/16596"
	is(ranges, "a future end", call("eth_getLogs", `[{"fromBlock":"0x1","toBlock":"0xffff"}]`), "requested to block 65535 after last accepted block")
	is(ranges, "a future beginning", call("eth_getLogs", `[{"fromBlock":"0xffff","toBlock":"latest"}]`), "requested from block 65535 after last accepted block")
	is("foundry-rs/foundry/pull/16598", "a reversed range", call("eth_getLogs", `[{"fromBlock":"0x5","toBlock":"0x4"}]`), "invalid block range params")

	// Each mistake has its own code.
	const codes = "foundry-rs/foundry/pull/16227"
	is(codes, "an unknown method", call("eth_nope", "[]"), "-32601,")
	is(codes, "parameters of another kind", call("eth_getBlockByNumber", `["latest",{}]`), "-32602,")
	is(codes, "broken JSON", m.want(200, "POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,`), `"code":-32700`)
	is(codes, "a call without a method", m.want(200, "POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"params":[]}`), `"code":-32600`)
	is("foundry-rs/foundry/pull/16600", "no slots", call("eth_getStorageValues", `[{},"latest"]`), "-32602,empty request")

	// A snapshot keeps the earlier offset of the clock and discards later changes.
	mined := func() string {
		call("evm_mine", "[]")
		return member(call("eth_getBlockByNumber", `["latest",false]`), "timestamp")
	}
	mined()
	call("evm_increaseTime", "[1000]")
	snapshot := call("evm_snapshot", "[]")
	want := mined()
	call("evm_increaseTime", "[5000]")
	mined()
	is("foundry-rs/foundry/pull/16540", "reverted", call("evm_revert", "["+snapshot+"]"), "true")
	is("foundry-rs/foundry/pull/16540", "the time of the next block", mined(), want)
}
