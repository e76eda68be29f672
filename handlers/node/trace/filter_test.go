package trace_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/miner"
)

// sides returns who a trace comes from and who it goes to.
func (p *parityTrace) sides() (from, to string) {
	switch p.Type {
	case "create":
		if p.Result != nil {
			to = p.Result.Address
		}
		return p.Action.From, to
	case "suicide":
		return p.Action.Address, p.Action.RefundAddress
	}
	return p.Action.From, p.Action.To
}

// TestFilter filters the traces of all blocks by every address, as trace_block lists them.
func TestFilter(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	first := c.Head().Number - 5
	maker := c.Deploy(common.FromHex("0x6133ff6000526002601e6000f050" + "60fe60005360016000" + "60006000f050" + "00")) // creates a contract that destroys itself, and fails to create another
	for range 2 {
		c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &maker, Gas: 300_000})
	}
	var all []json.RawMessage
	var read []parityTrace
	kinds := map[string]int{}
	for number := first; number <= c.Head().Number; number++ {
		var traces []json.RawMessage
		c.Call(&traces, "trace_block", hexutil.EncodeUint64(number))
		all = append(all, traces...)
	}
	seen := map[string]bool{}
	for _, raw := range all {
		var p parityTrace
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		read = append(read, p)
		kinds[p.Type]++
		from, to := p.sides()
		seen[from], seen[to] = true, true
	}
	delete(seen, "")
	if kinds["suicide"] == 0 || kinds["create"] < 4 || kinds["call"] < 4 {
		t.Errorf("there are only %v", kinds)
	}
	addresses := make([]string, 0, len(seen))
	for address := range seen {
		addresses = append(addresses, address)
	}
	slices.Sort(addresses)
	check := func(mode string, from, to []string) {
		t.Helper()
		var want []json.RawMessage
		for i := range read {
			a, b := read[i].sides()
			sent, received := slices.Contains(from, a), slices.Contains(to, b)
			wanted := sent || received
			if mode == "intersection" {
				wanted = (sent || len(from) == 0) && (received || len(to) == 0)
			}
			if wanted || len(from)+len(to) == 0 {
				want = append(want, all[i])
			}
		}
		var have []json.RawMessage
		if c.Call(&have, "trace_filter", object{"fromBlock": hexutil.Uint64(first), "mode": mode, "fromAddress": from, "toAddress": to}); fmt.Sprintf("%s", have) != fmt.Sprintf("%s", want) {
			t.Errorf("%s from %v to %v: %d traces, want %d", mode, from, to, len(have), len(want))
		}
	}
	for _, mode := range []string{"", "union", "intersection"} {
		check(mode, nil, nil)
		for i, a := range addresses {
			check(mode, []string{a}, nil)
			check(mode, nil, []string{a})
			check(mode, []string{a}, []string{addresses[(i+1)%len(addresses)]})
			check(mode, []string{a}, []string{a})
		}
		check(mode, addresses, addresses)
	}
}

// TestFilteredBlocks: a range ends at the head at the latest.
func TestFilteredBlocks(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	head := c.Head().Number
	between := func(from, to uint64) (want []json.RawMessage) {
		for number := from; number <= min(to, head); number++ {
			var traces []json.RawMessage
			c.Call(&traces, "trace_block", hexutil.EncodeUint64(number))
			want = append(want, traces...)
		}
		return want
	}
	for _, b := range []struct {
		from, to any
		want     []json.RawMessage
	}{
		{head, head, between(head, head)}, {head - 3, head - 2, between(head-3, head-2)}, {head, nil, between(head, head)}, {head - 2, head + 900, between(head-2, head)},
		{nil, 3, between(0, 3)}, {head + 1, nil, nil}, {head + 9, head + 7, nil}, {head + 1, head + 1, nil}, {"latest", "latest", between(head, head)}, {c.Head().Hash, nil, between(head, head)},
	} {
		question := object{}
		if b.from != nil {
			question["fromBlock"] = numbered(b.from)
		}
		if b.to != nil {
			question["toBlock"] = numbered(b.to)
		}
		if have := c.Text("trace_filter", question); have != listed(b.want) {
			t.Errorf("%v: %.300s, want %.300s", question, have, listed(b.want))
		}
	}
	c.Text("evm_setAutomine", false)
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone})
	for _, f := range []struct {
		filter object
		want   string
	}{
		{object{"fromBlock": "0x5", "toBlock": "0x4"}, "-32602 fromBlock (5) is after toBlock (4)"},
		{object{"fromBlock": hexutil.Uint64(head + 5), "toBlock": "0x4"}, fmt.Sprintf("-32602 fromBlock (%d) is after toBlock (4)", head+1)},
		{object{"fromBlock": "pending"}, "-32602 tracing on top of pending is not supported"},
		{object{"toBlock": "pending"}, "-32602 tracing on top of pending is not supported"},
		{object{"fromBlock": common.Hash{1}}, "-32000 header for hash not found"},
		{object{"toBlock": common.Hash{1}}, "-32000 header for hash not found"},
		{object{"mode": "both"}, `-32602 mode is "both": expected union or intersection`},
	} {
		if have := c.Problem("trace_filter", f.filter); have != f.want {
			t.Errorf("%v: %s, want %s", f.filter, have, f.want)
		}
	}
}

// numbered writes a block's number, and leaves anything else.
func numbered(ref any) any {
	switch n := ref.(type) {
	case uint64:
		return hexutil.Uint64(n)
	case int:
		return hexutil.Uint64(n)
	}
	return ref
}

// listed writes a list as the node does.
func listed(all []json.RawMessage) string {
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = string(all[i])
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// TestFilteredBounds goes up to each bound of a search, and over it.
func TestFilteredBounds(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	question := object{"fromBlock": hexutil.Uint64(c.Head().Number - 30)}
	var found []json.RawMessage
	c.Call(&found, "trace_filter", question)
	most := 0
	for _, trace := range found {
		most += len(trace)
	}
	c.Chain.Limits.Trace = most
	if again := c.Text("trace_filter", question); again != listed(found) {
		t.Errorf("there are %.300s", again)
	}
	c.Chain.Limits.Trace = most - 1
	if problem := c.Problem("trace_filter", question); problem != fmt.Sprintf("-32602 there are more than 10000 traces, or more than %d bytes of them; request a page with after and count", most-1) {
		t.Error(problem)
	}
	c.Chain.Limits.Trace = 1 << 30
	// The code calls an account 9,998 times.
	loop := c.Deploy(common.FromHex("0x61270e5b5f5f5f5f5f61ffff5af150600190038060035700"))
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &loop, Gas: 3_000_000})
	question["fromBlock"] = hexutil.Uint64(c.Head().Number)
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone, Value: big.NewInt(1)})
	if c.Call(&found, "trace_filter", question); len(found) != 10_000 {
		t.Fatalf("there are %d traces", len(found))
	}
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone, Value: big.NewInt(1)})
	if problem := c.Problem("trace_filter", question); problem != "-32602 there are more than 10000 traces, or more than 1073741824 bytes of them; request a page with after and count" {
		t.Error(problem)
	}
	for _, page := range []struct {
		after, count any
		want         int
	}{{1, 10_000, 10_000}, {"0x270f", 3, 2}, {9_999, "0x2", 2}, {10_001, 1, 0}, {0, 0, 0}} {
		question["after"], question["count"] = page.after, page.count
		if c.Call(&found, "trace_filter", question); len(found) != page.want {
			t.Errorf("after %v and %v more there are %d", page.after, page.count, len(found))
		}
	}
	c.Chain.Limits.Time = time.Nanosecond
	delete(question, "count")
	if problem := c.Problem("trace_filter", question); problem != "-32000 the search took longer than 1ns; narrow fromBlock and toBlock" {
		t.Error(problem)
	}
}

// TestTheLongestRange searches the largest allowed number of blocks.
func TestTheLongestRange(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	first := c.Head().Number + 1
	if err := c.Miner.Mine(t.Context(), 10_001, 0); err != nil {
		t.Fatal(err)
	}
	for last, want := range map[uint64]string{
		first + 9_999: "", first + 10_000: "-32602 the range has 10001 blocks: expected at most 10000; narrow fromBlock and toBlock",
		first + 1<<40: "-32602 the range has 10001 blocks: expected at most 10000; narrow fromBlock and toBlock",
	} {
		if problem := c.Problem("trace_filter", object{"fromBlock": hexutil.Uint64(first), "toBlock": hexutil.Uint64(last)}); problem != want {
			t.Errorf("to %d: %q, want %q", last, problem, want)
		}
	}
}

// TestTransactionsOneByOne: trace_transaction has the part of trace_block, and trace_get one trace of it.
func TestTransactionsOneByOne(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	c := nodetest.Open(t, w, w.Chains[0])
	head, deep := c.Head().Number, 0
	for number := head - 40; number <= head; number++ {
		var all []json.RawMessage
		c.Call(&all, "trace_block", hexutil.EncodeUint64(number))
		of := map[string][]json.RawMessage{}
		for _, raw := range all {
			var p parityTrace
			if err := json.Unmarshal(raw, &p); err != nil {
				t.Fatal(err)
			}
			of[p.TransactionHash] = append(of[p.TransactionHash], raw)
			if have := c.Text("trace_get", p.TransactionHash, addressOf(p.TraceAddress)); have != string(raw) {
				t.Errorf("%s %v: %s, want %s", p.TransactionHash, p.TraceAddress, have, raw)
			}
			if len(p.TraceAddress) > 0 {
				deep++
			}
		}
		for hash, traces := range of {
			if have := c.Text("trace_transaction", hash); have != listed(traces) {
				t.Errorf("%s: %s, want %s", hash, have, listed(traces))
			}
			if have := c.Text("trace_get", hash, []int{len(traces)}); have != "null" {
				t.Errorf("%s: %s", hash, have)
			}
		}
	}
	if deep == 0 {
		t.Error("no call is inside another")
	}
	for _, method := range []string{"trace_transaction", "trace_get"} {
		params := []any{common.Hash{1}}
		if method == "trace_get" {
			params = append(params, []int{})
		}
		if have := c.Text(method, params...); have != "null" {
			t.Errorf("%s: %s", method, have)
		}
	}
}

// TestLaggingExecution: what is accepted and not executed yet has no traces.
func TestLaggingExecution(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Networks[0].CChain())
	if err := c.Miner.SetFault(t.Context(), miner.Fault{ExecutionLag: miner.Lag{Blocks: 2}}); err != nil {
		t.Fatal(err)
	}
	executed := c.Head().Number
	hash := c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone})
	head := c.Head().Number
	for _, call := range []struct {
		want, method string
		params       []any
	}{
		{"null", "trace_transaction", []any{hash}}, {"null", "trace_transactionOpcodeGas", []any{hash}}, {"null", "trace_get", []any{hash, []int{}}},
		{"-32000 transaction not found", "trace_replayTransaction", []any{hash, allKinds}},
		{"-32000 the block is accepted but not executed yet", "trace_block", []any{hexutil.Uint64(head)}},
		{"-32000 the block is accepted but not executed yet", "trace_replayBlockTransactions", []any{hexutil.Uint64(head), allKinds}},
		{"-32000 the block is accepted but not executed yet", "trace_blockOpcodeGas", []any{hexutil.Uint64(head)}},
		{"[]", "trace_filter", []any{object{"fromBlock": hexutil.Uint64(executed + 1)}}},
		{"[]", "trace_filter", []any{object{"fromBlock": hexutil.Uint64(head), "toBlock": hexutil.Uint64(head)}}},
	} {
		have := c.Problem(call.method, call.params...)
		if have == "" {
			have = c.Text(call.method, call.params...)
		}
		if have != call.want {
			t.Errorf("%s %v: %s, want %s", call.method, call.params, have, call.want)
		}
	}
	if head != executed+1 {
		t.Errorf("the head is %d, executed is %d", head, executed)
	}
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	hash := c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone})
	raw := c.Raw(c.Sign(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone}))
	head := hexutil.Uint64(c.Head().Number)
	for method, params := range map[string][]any{
		"trace_block": {head}, "trace_transaction": {hash}, "trace_get": {hash, []int{}}, "trace_transactionOpcodeGas": {hash}, "trace_blockOpcodeGas": {head},
		"trace_replayTransaction": {hash, allKinds}, "trace_replayBlockTransactions": {head, allKinds}, "trace_rawTransaction": {raw, allKinds, head},
		"trace_call": {object{"to": someone}, allKinds, head}, "trace_callMany": {[]any{[]any{object{"to": someone}, allKinds}}, head}, "trace_filter": {object{"fromBlock": head}},
	} {
		rpctest.FailEach(t, w.DB, func() error { return c.Try(new(any), method, params...) })
	}
}
