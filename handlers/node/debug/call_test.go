package debug_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
)

// counts is code that counts its calls in slot 0 and returns the count.
var counts = common.FromHex("0x60015f5401805f555f5260205ff3")

// counted deploys a counter and puts three calls of it into one block.
func counted(c *nodetest.Chain) (counter common.Address, hashes []common.Hash) {
	c.Helper()
	counter = c.Deploy(counts)
	c.Text("evm_setAutomine", false)
	nonce := c.Nonce()
	for i := range uint64(3) {
		hashes = append(hashes, c.Send(&types.DynamicFeeTx{Nonce: nonce + i, To: &counter, Gas: 100_000, Value: big.NewInt(int64(10 * i))}))
	}
	c.Text("evm_mine")
	return counter, hashes
}

func word(n uint64) string { return common.BigToHash(new(big.Int).SetUint64(n)).Hex() }

// TestTracesOfABlock: a block's traces are its transactions', by whatever name the block is asked for. Large ones are, too.
func TestTracesOfABlock(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	_, hashes := counted(c)
	loop := c.Deploy(common.FromHex("0x610fff5b600190038060035700")) // some thousand steps
	c.Text("evm_mine")
	counter, small := c.Head(), c.Head().Number-1
	c.Text("evm_setAutomine", true)
	large := c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &loop, Gas: 3_000_000})
	for _, b := range []struct {
		number uint64
		hashes []common.Hash
	}{{small, hashes}, {counter.Number, nil}, {c.Head().Number, []common.Hash{large}}} {
		for _, config := range []any{nil, object{"tracer": "callTracer"}, object{"disableStack": true, "limit": 2000}} {
			of := b.hashes
			if of == nil {
				of = []common.Hash{c.Receipts(c.Block(b.number))[0].Hash()}
			}
			parts := []string{}
			for _, hash := range of {
				parts = append(parts, fmt.Sprintf(`{"txHash":"%s","result":%s}`, hash.Hex(), c.Text("debug_traceTransaction", hash, config)))
			}
			want := "[" + strings.Join(parts, ",") + "]"
			block := c.Block(b.number)
			var raw hexutil.Bytes
			c.Call(&raw, "debug_getRawBlock", hexutil.Uint64(b.number))
			for method, ref := range map[string]any{"debug_traceBlockByNumber": hexutil.Uint64(b.number), "debug_traceBlockByHash": block.Hash, "debug_traceBlock": raw} {
				if have := c.Text(method, ref, config); have != want {
					t.Errorf("%s %v of block %d: %d bytes, want %d: %.300s, want %.300s", method, config, b.number, len(have), len(want), have, want)
				}
			}
		}
	}
	if n := len(c.Text("debug_traceTransaction", large, object{"disableStack": true, "limit": 2000})); n < 64<<10 {
		t.Errorf("the large trace has %d bytes", n)
	}
	c.Text("evm_setAutomine", false)
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone})
	if have, want := c.Text("debug_traceBlockByNumber", "pending"), c.Text("debug_traceBlockByNumber", "latest"); have != want {
		t.Errorf("the pending block's traces are %.300s", have)
	}
	empty := hexutil.Uint64(c.Head().Number + 1)
	c.Text("debug_clearTxpool")
	c.Text("evm_mine")
	if have := c.Text("debug_traceBlockByNumber", empty); have != "[]" {
		t.Errorf("the traces of an empty block are %s", have)
	}
}

// TestTracedCalls traces calls before each transaction of a block, and on other states.
func TestTracedCalls(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	counter, hashes := counted(c)
	call := object{"from": c.From, "to": counter, "gas": "0x186a0"}
	type outcome struct{ Output, GasUsed, ReturnValue string }
	returned := func(config object) string {
		t.Helper()
		var o outcome
		config["tracer"] = "callTracer"
		c.Call(&o, "debug_traceCall", call, "latest", config)
		return o.Output
	}
	for i := range uint64(3) {
		if have := returned(object{"txIndex": hexutil.Uint64(i)}); have != word(i+1) {
			t.Errorf("before transaction %d the call returns %s", i, have)
		}
		var mined outcome
		if c.Call(&mined, "debug_traceTransaction", hashes[i]); "0x"+mined.ReturnValue != word(i+1) {
			t.Errorf("transaction %d returned %s", i, mined.ReturnValue)
		}
		var info struct{ Balance, Nonce, Code string }
		if c.Call(&info, "debug_accountInfoAt", "latest", i, counter); info.Balance != hexutil.EncodeUint64([]uint64{0, 10, 30}[i]) || info.Code != hexutil.Encode(counts) || info.Nonce != "0x1" {
			t.Errorf("after transaction %d the counter is %+v", i, info)
		}
		if c.Call(&info, "debug_accountInfoAt", "latest", hexutil.Uint64(i), c.From); info.Nonce != hexutil.EncodeUint64(c.Nonce()-2+i) {
			t.Errorf("after transaction %d alice's nonce is %s of %d", i, info.Nonce, c.Nonce())
		}
	}
	for want, config := range map[string]object{
		word(4): {}, word(0x51): {"stateOverrides": object{counter.Hex(): object{"stateDiff": object{common.Hash{}.Hex(): word(0x50)}}}},
		word(0x777): {"blockOverrides": object{"number": "0x777"}, "stateOverrides": object{counter.Hex(): object{"code": "0x435f5260205ff3"}}},
	} {
		if have := returned(config); have != want {
			t.Errorf("%v: %s, want %s", config, have, want)
		}
	}
	var steps outcome
	if c.Call(&steps, "debug_traceCall", call, "latest"); "0x"+steps.ReturnValue != word(4) {
		t.Errorf("without options the call returns %s", steps.ReturnValue)
	}
	var code *hexutil.Bytes
	if c.Call(&code, "debug_codeByHash", crypto.Keccak256Hash(counts), "0x0"); code == nil || code.String() != hexutil.Encode(counts) {
		t.Errorf("the code is %s", code)
	}
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone})
	for want, refused := range map[string]struct {
		method string
		params []any
	}{
		"-32000 tracing on top of pending is not supported":                            {"debug_traceCall", []any{call, "pending"}},
		"-32000 tracing on top of pending is not supported ":                           {"debug_accountInfoAt", []any{"pending", 0, counter}},
		"-32000 tracing on top of pending is not supported  ":                          {"debug_executionWitness", []any{"pending"}},
		"-32602 transaction index 3 is out of range for a block with 3 transactions":   {"debug_accountInfoAt", []any{"latest", 3, counter}},
		"-32602 transaction index 300 is out of range for a block with 3 transactions": {"debug_accountInfoAt", []any{"latest", "0x12c", counter}},
	} {
		if have := c.Problem(refused.method, refused.params...); have != strings.TrimSpace(want) {
			t.Errorf("%s: %s, want %s", refused.method, have, want)
		}
	}
}

// TestClearTxpool drops what waits, but not in a world that is read-only.
func TestClearTxpool(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	c.Text("evm_setAutomine", false)
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone})
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce() + 3, To: &someone})
	status := func() string { return c.Text("txpool_status") }
	if before := status(); before != `{"pending":"0x1","queued":"0x1"}` {
		t.Error(before)
	}
	c.Text("debug_clearTxpool")
	if after := status(); after != `{"pending":"0x0","queued":"0x0"}` {
		t.Error(after)
	}
	path := filepath.Join(t.TempDir(), "w.db")
	if err := w.DB.WriteCopy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	read, err := sim.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if problem := nodetest.Open(t, read, read.Chains[0]).Problem("debug_clearTxpool"); !strings.Contains(problem, "read-only") {
		t.Error(problem)
	}
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	counter, hashes := counted(c)
	c.Text("evm_mine")
	b := c.Block(c.Head().Number - 1)
	ref, hash := hexutil.Uint64(b.Number), hashes[1]
	var raw hexutil.Bytes
	c.Call(&raw, "debug_getRawBlock", ref)
	for method, params := range map[string][]any{
		"debug_getRawHeader": {ref}, "debug_getRawBlock": {ref}, "debug_getRawTransactions": {ref}, "debug_getRawTransaction": {hash}, "debug_getRawReceipts": {ref},
		"debug_traceTransaction": {hash}, "debug_traceBlockByNumber": {ref}, "debug_traceBlockByHash": {b.Hash}, "debug_traceBlock": {raw}, "debug_traceCall": {object{"to": counter}, ref},
		"debug_executionWitness": {ref}, "debug_accountInfoAt": {ref, 1, counter}, "debug_codeByHash": {crypto.Keccak256Hash(counts), ref},
		"debug_dumpBlock": {ref}, "debug_accountRange": {ref, "0x", 20, false, false, false}, "debug_storageRangeAt": {ref, 1, counter, "0x", 1},
		"debug_getModifiedAccountsByNumber": {b.Number - 1, b.Number}, "debug_getModifiedAccountsByHash": {b.Header.ParentHash, b.Hash},
	} {
		t.Run(method, func(t *testing.T) {
			rpctest.FailEach(t, w.DB, func() error { return c.Try(new(json.RawMessage), method, params...) })
		})
	}
	for method, params := range map[string][]any{"debug_getModifiedAccountsByNumber": {b.Number}, "debug_getModifiedAccountsByHash": {b.Hash}} {
		rpctest.FailEach(t, w.DB, func() error { return c.Try(new(json.RawMessage), method, params...) })
	}
}
