package trace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/reader"
)

// replayed is a result of trace_replayTransaction.
type replayed struct {
	Output          string
	StateDiff       map[common.Address]accountDiff
	Trace           []map[string]any
	VMTrace         *vmTrace
	TransactionHash string
}

type accountDiff struct {
	Balance, Nonce, Code json.RawMessage
	Storage              map[common.Hash]json.RawMessage
}

type vmTrace struct {
	Code hexutil.Bytes
	Ops  []struct {
		Cost, PC uint64
		Op       string
		Ex       *struct {
			Mem *struct {
				Data hexutil.Bytes
				Off  int
			}
			Push  []string
			Store *struct{ Key, Val string }
			Used  uint64
		}
		Sub *vmTrace
	}
}

// stepLog is a transaction's steps from debug_traceTransaction.
type stepLog struct {
	Gas        uint64
	StructLogs []struct {
		PC, Gas, GasCost uint64
		Op, Error        string
		Depth            int
		Stack            []string
		Memory           []string
	}
}

// after returns the index of the next step in the same call, or -1.
func (l *stepLog) after(i int) int {
	for next := i + 1; next < len(l.StructLogs) && l.StructLogs[next].Depth >= l.StructLogs[i].Depth; next++ {
		if l.StructLogs[next].Depth == l.StructLogs[i].Depth {
			return next
		}
	}
	return -1
}

// replayer compares the replays of a chain's blocks.
type replayer struct {
	*nodetest.Chain

	steps, subs, stored, written, failed int // how many were compared
	diffs, born, died, slots             int
	opcodes                              int
}

var allKinds = []string{"trace", "stateDiff", "vmTrace"}

// check compares a block's replay.
func (r *replayer) check(b *reader.Block) {
	r.Helper()
	number := hexutil.EncodeUint64(b.Number)
	var all []replayed
	var gas struct {
		BlockHash    string
		BlockNumber  uint64
		Transactions []struct {
			TransactionHash string
			OpcodeGas       json.RawMessage
		}
	}
	var calls []map[string]any
	var replays json.RawMessage
	r.Call(&replays, "trace_replayBlockTransactions", number, allKinds)
	if err := json.Unmarshal(replays, &all); err != nil {
		r.Fatal(err)
	}
	r.Call(&gas, "trace_blockOpcodeGas", number)
	r.Call(&calls, "trace_block", number)
	if len(all) != b.Row.Txs || len(gas.Transactions) != b.Row.Txs || gas.BlockHash != b.Hash.Hex() || gas.BlockNumber != b.Number {
		r.Fatalf("block %d: %d replays, gas of %+v", b.Number, len(all), gas)
	}
	r.compareCalls(all, calls)
	for i := range all {
		hash := all[i].TransactionHash
		var log stepLog
		if r.Try(&log, "debug_traceTransaction", hash, object{"enableMemory": true}) != nil { // too large
			r.Call(&log, "debug_traceTransaction", hash)
		}
		if all[i].VMTrace == nil {
			r.Fatalf("%s has no steps", hash)
		}
		at := 0
		r.compareSteps(&log, all[i].VMTrace, &at)
		if at != len(log.StructLogs) {
			r.Errorf("%s: %d steps, the log has %d", hash, at, len(log.StructLogs))
		}
		r.compareGas(hash, &log, gas.Transactions[i].OpcodeGas)
		if i == len(all)-1 { // the same transaction alone
			var one, part map[string]any
			var single struct {
				TransactionHash string
				OpcodeGas       json.RawMessage
			}
			var block []map[string]any
			r.Call(&one, "trace_replayTransaction", hash, allKinds)
			if err := json.Unmarshal(replays, &block); err != nil {
				r.Fatal(err)
			}
			delete(block[i], "transactionHash")
			if !reflect.DeepEqual(one, block[i]) {
				r.Errorf("%s is %v by itself, and %v in its block", hash, one, block[i])
			}
			r.Call(&part, "trace_replayTransaction", hash, []string{"stateDiff"})
			if !reflect.DeepEqual(part["stateDiff"], one["stateDiff"]) || part["vmTrace"] != nil || len(part["trace"].([]any)) != 0 || part["output"] != one["output"] {
				r.Errorf("%s without calls and steps is %v", hash, part)
			}
			r.Call(&single, "trace_transactionOpcodeGas", hash)
			if single.TransactionHash != hash || !bytes.Equal(single.OpcodeGas, gas.Transactions[i].OpcodeGas) {
				r.Errorf("the gas of %s is %s by itself, and %s in its block", hash, single.OpcodeGas, gas.Transactions[i].OpcodeGas)
			}
		}
	}
	r.compareStates(b, all)
}

// compareCalls compares the calls with those of trace_block.
func (r *replayer) compareCalls(all []replayed, calls []map[string]any) {
	r.Helper()
	var got, want []map[string]any
	for i := range all {
		for _, frame := range all[i].Trace {
			frame["transactionHash"] = all[i].TransactionHash
			got = append(got, frame)
		}
		first := all[i].Trace[0]
		output := any("0x")
		if result, ok := first["result"].(map[string]any); ok {
			if output = result["output"]; first["type"] == "create" {
				output = result["code"]
			}
		}
		if all[i].Output != output {
			r.Errorf("%s: the output is %s, of the call %v", all[i].TransactionHash, all[i].Output, output)
		}
	}
	for _, frame := range calls {
		delete(frame, "blockHash")
		delete(frame, "blockNumber")
		delete(frame, "transactionPosition")
		want = append(want, frame)
	}
	if !reflect.DeepEqual(got, want) {
		r.Fatalf("the calls are %v, of the block %v", got, want)
	}
}

// compareSteps compares the steps of a call, from an index on, with the log.
func (r *replayer) compareSteps(log *stepLog, trace *vmTrace, at *int) {
	r.Helper()
	for i := range trace.Ops {
		op := &trace.Ops[i]
		if *at >= len(log.StructLogs) {
			*at++
			return
		}
		step, next := &log.StructLogs[*at], log.after(*at)
		if op.PC != step.PC || op.Op != step.Op || op.Cost != step.GasCost {
			r.Fatalf("step %d is %+v, in the log %+v", *at, op, step)
		}
		// The log has an error only if the step could not begin; a step that fails later is the last of its call.
		if op.Ex != nil && step.Error != "" || op.Ex == nil && step.Error == "" && (next >= 0 || slices.Contains([]string{"STOP", "RETURN", "REVERT", "SELFDESTRUCT"}, op.Op)) {
			r.Fatalf("step %d, %s, has the effects %+v and the error %q", *at, op.Op, op.Ex, step.Error)
		}
		if r.steps++; op.Ex == nil {
			r.failed++
		} else {
			r.compareEffects(log, op.Op, step.Stack, op.Ex.Push, op.Ex.Used, next, step.Gas-step.GasCost)
		}
		if op.Ex != nil && (op.Op == "SSTORE") != (op.Ex.Store != nil) {
			r.Errorf("step %d, %s, stores %v", *at, op.Op, op.Ex.Store)
		}
		if op.Ex != nil && op.Ex.Store != nil {
			r.stored++
			if n := len(step.Stack); op.Ex.Store.Key != step.Stack[n-1] || op.Ex.Store.Val != step.Stack[n-2] {
				r.Errorf("step %d stores %+v, with the stack %v", *at, op.Ex.Store, step.Stack)
			}
		}
		if op.Ex != nil && op.Ex.Mem != nil && log.StructLogs[next].Memory != nil {
			r.written++
			memory := common.FromHex(strings.Join(log.StructLogs[next].Memory, ""))
			if m := op.Ex.Mem; !bytes.Equal(memory[m.Off:m.Off+len(m.Data)], m.Data) {
				r.Errorf("step %d wrote %x at %d, the memory is %x", *at, m.Data, m.Off, memory)
			}
		} else if op.Ex != nil && op.Ex.Mem == nil && next > 0 && slices.Contains([]string{"MSTORE", "MSTORE8", "MLOAD"}, op.Op) {
			r.Errorf("step %d, %s, wrote nothing", *at, op.Op)
		}
		if n := len(step.Stack); strings.HasSuffix(op.Op, "CALL") && n > 1 && slices.Contains([]string{"0x1", "0x2", "0x4"}, step.Stack[n-2]) && op.Sub != nil {
			r.Errorf("step %d, a %s of a precompile, has steps: %+v", *at, op.Op, op.Sub)
		}
		if *at++; op.Sub != nil {
			r.subs++
			r.compareSteps(log, op.Sub, at)
		}
	}
}

// compareEffects compares gas and stack after a step with the next step of the same call; without one, the call ended.
func (r *replayer) compareEffects(log *stepLog, op string, before, pushed []string, used uint64, next int, left uint64) {
	r.Helper()
	if next < 0 {
		if used != left || len(pushed) > 0 {
			r.Errorf("the last step, %s, leaves %d and pushes %v, want %d", op, used, pushed, left)
		}
		return
	}
	after := log.StructLogs[next].Stack
	if n := len(pushed); used != log.StructLogs[next].Gas || n > len(after) || !slices.Equal(after[len(after)-n:], pushed) {
		r.Errorf("%s leaves %d and pushes %v, want %d and of %v", op, used, pushed, log.StructLogs[next].Gas, after)
	}
	for _, prefix := range []string{"DUP", "SWAP"} {
		if n, err := strconv.Atoi(strings.TrimPrefix(op, prefix)); err == nil && len(pushed) != n+1 {
			r.Errorf("%s pushes %v", op, pushed)
		}
	}
	// Below what the step pushed, the stack is unchanged.
	if kept := len(after) - len(pushed); kept > len(before) || !slices.Equal(after[:kept], before[:kept]) {
		r.Errorf("%s pushes %v, from %v to %v", op, pushed, before, after)
	}
}

// compareGas adds up the gas of the log's opcodes: a call counts without the gas that it passes on.
func (r *replayer) compareGas(hash string, log *stepLog, got json.RawMessage) {
	r.Helper()
	type use struct {
		Opcode         string
		Count, GasUsed uint64
	}
	want, silent := map[string]*use{}, map[string]bool{}
	for i, step := range log.StructLogs {
		u := want[step.Op]
		if u == nil {
			u = &use{Opcode: step.Op}
			want[step.Op] = u
		}
		u.Count++
		u.GasUsed += step.GasCost
		switch {
		case !strings.HasSuffix(step.Op, "CALL") && step.Op != "CALLCODE" || step.Error != "":
		case i+1 < len(log.StructLogs) && log.StructLogs[i+1].Depth > step.Depth:
			u.GasUsed -= log.StructLogs[i+1].Gas
			if value := step.Stack[len(step.Stack)-3]; (step.Op == "CALL" || step.Op == "CALLCODE") && value != "0x0" {
				u.GasUsed += params.CallStipend
			}
		default:
			silent[step.Op] = true // an account without code has no steps that show what was passed on
		}
	}
	var all []use
	if err := json.Unmarshal(got, &all); err != nil {
		r.Fatal(err)
	}
	for _, u := range all {
		r.opcodes++
		w := want[u.Opcode]
		if w == nil || w.Count != u.Count || w.GasUsed != u.GasUsed && !silent[u.Opcode] || silent[u.Opcode] && (u.GasUsed > w.GasUsed || u.GasUsed < params.WarmStorageReadCostEIP2929*u.Count) {
			r.Errorf("%s: %+v, want %+v", hash, u, w)
		}
	}
	if len(all) != len(want) {
		r.Errorf("%s: %d opcodes, want %d", hash, len(all), len(want))
	}
}

// accountState is an account in the middle of a block.
type accountState struct {
	Balance, Nonce, Code string
	storage              map[common.Hash]common.Hash
}

// compareStates follows the changes from the state before a block to the state after it.
func (r *replayer) compareStates(b *reader.Block, all []replayed) {
	r.Helper()
	parent := r.Block(b.Number - 1)
	states := map[common.Address]*accountState{}
	of := func(address common.Address) *accountState {
		if states[address] == nil {
			states[address] = r.stateAfter(parent, address)
		}
		return states[address]
	}
	for i := range all {
		for address, diff := range all[i].StateDiff {
			r.diffs++
			r.follow(fmt.Sprint(all[i].TransactionHash, " ", address), of(address), &diff)
		}
	}
	modified, err := r.Chain.Chain.ModifiedAccounts(r.Context(), parent, b)
	if err != nil {
		r.Fatal(err)
	}
	for _, address := range append(modified, slices.Collect(maps.Keys(states))...) {
		if got, want := of(address), r.stateAfter(b, address); !reflect.DeepEqual(got, want) && !r.movedOtherwise(b, address) {
			r.Errorf("%s, block %d, %s: followed to %.300v, is %.300v", r.Chain.Chain.Row.Name, b.Number, address, got, want)
		}
	}
}

// movedOtherwise reports whether something other than transactions may have changed an account: an import, an export, or an upgrade.
func (r *replayer) movedOtherwise(b *reader.Block, address common.Address) bool {
	var block struct{ BlockExtraData string }
	r.Call(&block, "eth_getBlockByNumber", hexutil.EncodeUint64(b.Number), false)
	return block.BlockExtraData != "" && block.BlockExtraData != "0x" || address[0] == 2
}

func (r *replayer) stateAfter(b *reader.Block, address common.Address) *accountState {
	r.Helper()
	a := &accountState{storage: map[common.Hash]common.Hash{}}
	r.Call(a, "eth_getAccountInfo", address, b.Hash)
	slots, err := r.Chain.Chain.Slots(r.Context(), b, address)
	if err != nil {
		r.Fatal(err)
	}
	for _, s := range slots {
		a.storage[s.Key] = s.Value
	}
	return a
}

func (a *accountState) exists() bool { return a.Balance != "0x0" || a.Nonce != "0x0" || a.Code != "0x" }

// follow applies a diff to an account.
func (r *replayer) follow(what string, a *accountState, diff *accountDiff) {
	r.Helper()
	born, died := !a.exists(), false
	apply := func(part string, from string, change json.RawMessage) string {
		r.Helper()
		if string(change) == `"="` {
			return from
		}
		var moves map[string]json.RawMessage
		var value string
		var changed struct{ From, To string }
		err := json.Unmarshal(change, &moves)
		switch {
		case err != nil || len(moves) != 1:
		case moves["+"] != nil && born:
			if err = json.Unmarshal(moves["+"], &value); err == nil {
				return value
			}
		case moves["-"] != nil && !born:
			died = true
			if err = json.Unmarshal(moves["-"], &value); value == from {
				return map[string]string{"balance": "0x0", "nonce": "0x0", "code": "0x"}[part]
			}
		case moves["*"] != nil && !born:
			if err = json.Unmarshal(moves["*"], &changed); changed.From == from && changed.To != from {
				return changed.To
			}
		}
		r.Errorf("%s: %s changes by %s, from %s: %v", what, part, change, from, err)
		return from
	}
	a.Balance, a.Nonce, a.Code = apply("balance", a.Balance, diff.Balance), apply("nonce", a.Nonce, diff.Nonce), apply("code", a.Code, diff.Code)
	for slot, change := range diff.Storage {
		r.slots++
		if now := common.HexToHash(apply("slot", a.storage[slot].Hex(), change)); now != (common.Hash{}) {
			a.storage[slot] = now
		} else {
			delete(a.storage, slot)
		}
	}
	if born {
		r.born++
	}
	if died {
		r.died++
		a.storage = map[common.Hash]common.Hash{}
	}
}

// TestReplays replays blocks of every chain.
func TestReplays(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	total := replayer{}
	for _, c := range w.Chains {
		r := &replayer{Chain: nodetest.Open(t, w, c)}
		head := r.Head()
		first := uint64(1)
		if testing.Short() {
			t.Log("left out of a short run: all blocks but the last 15")
			first = head.Number - min(head.Number-1, 15)
		}
		for number := first; number <= head.Number; number++ {
			r.check(r.Block(number))
		}
		total.steps, total.subs, total.stored, total.written, total.failed = total.steps+r.steps, total.subs+r.subs, total.stored+r.stored, total.written+r.written, total.failed+r.failed
		total.diffs, total.born, total.slots, total.opcodes = total.diffs+r.diffs, total.born+r.born, total.slots+r.slots, total.opcodes+r.opcodes
	}
	if total.steps < 1_000 || total.subs == 0 || total.stored == 0 || total.written == 0 || total.diffs < 100 || total.born == 0 || total.slots == 0 || total.opcodes < 100 {
		t.Errorf("only %d steps, %d subs, %d stored, %d written, %d diffs, %d born, %d slots and %d opcodes were compared", total.steps, total.subs, total.stored, total.written, total.diffs, total.born, total.slots, total.opcodes)
	}
}

// TestReplaysOfSentTransactions replays what no generated block has: contracts that are destroyed, slots that become zero, steps that fail, and
// transactions traced before they are sent.
func TestReplaysOfSentTransactions(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, c := range []*reader.Chain{w.Networks[0].CChain(), w.Chains[len(w.Chains)-1]} {
		t.Run(c.Row.Name, func(t *testing.T) {
			r := &replayer{Chain: nodetest.Open(t, w, c)}
			r.replayOddities()
			traceBeforeSending(r.Chain)
			tracesRefused(r.Chain)
		})
	}
}

// toggled is code that sets slot 0 to one and zero in turn.
var toggled = common.FromHex("0x6000541560005500")

func (r *replayer) replayOddities() {
	r.Helper()
	d := r.Chain
	toggle, broken := d.Deploy(toggled), d.Deploy(common.FromHex("0x600556")) // jumps to nowhere
	call := func(op vm.OpCode, to common.Address, value string, gas string) []byte {
		return slices.Concat(common.FromHex("6000600060006000"+value+"73"), to[:], common.FromHex(gas), []byte{byte(op), byte(vm.POP)})
	}
	odd := d.Deploy(slices.Concat(
		common.FromHex("602060006020600060006004"+"61fffff150"), // a precompile that copies memory
		common.FromHex("60ab600553"+"600160026003829150505050"), // MSTORE8, DUP3, SWAP2
		common.FromHex("6133ff6000526002601e6000f050"),          // a contract that destroys itself while it is created
		call(vm.CALL, broken, "6000", "61ffff"), call(vm.STATICCALL, toggle, "", "61ffff"), call(vm.DELEGATECALL, toggle, "", "61ffff"),
		call(vm.CALL, toggle, "6001", "61ffff"), call(vm.CALL, someone, "6001", "6000"), []byte{byte(vm.STOP)}))
	doomed := crypto.CreateAddress(odd, 1)
	d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &doomed, Value: big.NewInt(7)})
	for range 2 {
		d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &odd, Value: big.NewInt(2), Gas: 1_000_000})
		d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &toggle, Gas: 100_000})
	}
	d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &toggle, Gas: 30_000}) // too little
	head := d.Head()
	for number := head.Number - 8; number <= head.Number; number++ {
		r.check(d.Block(number))
	}
	if r.died == 0 || r.failed < 3 || r.born < 3 || r.slots < 6 || r.written < 4 || r.subs < 5 {
		d.Errorf("only %d died, %d failed, %d born, %d slots, %d written, %d subs", r.died, r.failed, r.born, r.slots, r.written, r.subs)
	}
}

func traceBeforeSending(d *nodetest.Chain) {
	d.Helper()
	toggle := d.Deploy(toggled)
	price := big.NewInt(2_000_000_000_000)
	signed := d.SignAny(&types.LegacyTx{Nonce: d.Nonce(), To: &toggle, Gas: 100_000, GasPrice: price})
	raw := d.Raw(signed)
	var before, after map[string]any
	d.Call(&before, "trace_rawTransaction", raw, allKinds, "latest")
	d.Call(new(any), "eth_sendRawTransaction", raw)
	d.Call(&after, "trace_replayTransaction", signed.Hash(), allKinds)
	if !reflect.DeepEqual(before, after) || dig(before, "stateDiff", strings.ToLower(toggle.Hex()), "storage", common.Hash{}.Hex(), "*", "to") != common.BigToHash(common.Big1).Hex() {
		d.Errorf("before it was sent, the transaction did %v, and later %v", before, after)
	}
	if got := d.Problem("trace_rawTransaction", raw, allKinds); !strings.HasPrefix(got, "-32000 tracing failed: nonce too low") {
		d.Error(got)
	}
	call := object{"from": d.From, "to": toggle, "gas": "0x186a0", "gasPrice": (*hexutil.Big)(price)}
	pay := object{"from": d.From, "to": someone, "gas": "0x5208", "gasPrice": (*hexutil.Big)(price), "value": "0x3"}
	var many []map[string]any
	d.Call(&many, "trace_callMany", []any{[]any{call, allKinds}, []any{call, allKinds}, []any{pay, allKinds}}, "latest")
	d.Text("evm_setAutomine", false)
	nonce := d.Nonce()
	for i, args := range []object{call, call, pay} {
		args = maps.Clone(args)
		args["nonce"] = hexutil.Uint64(nonce + uint64(i))
		d.Text("eth_sendTransaction", args)
	}
	d.Text("evm_mine")
	d.Text("evm_setAutomine", true)
	var mined []map[string]any
	d.Call(&mined, "trace_replayBlockTransactions", "latest", allKinds)
	if len(many) != 3 || len(mined) != 3 {
		d.Fatal(many, mined)
	}
	for i := range many {
		for _, address := range []common.Address{toggle, someone} {
			at := strings.ToLower(address.Hex())
			if got, want := dig(many[i], "stateDiff", at), dig(mined[i], "stateDiff", at); !reflect.DeepEqual(got, want) {
				d.Errorf("call %d changes %v by %v, as a transaction by %v", i, at, got, want)
			}
		}
		for _, part := range []string{"trace", "vmTrace", "output"} {
			if !reflect.DeepEqual(many[i][part], mined[i][part]) {
				d.Errorf("call %d has the %s %v, as a transaction %v", i, part, many[i][part], mined[i][part])
			}
		}
	}
	var other struct{ Output string }
	d.Call(&other, "trace_call", object{"to": someone}, []string{}, "latest", object{someone.Hex(): object{"code": "0x4360005260206000f3"}}, object{"number": "0x77"})
	if other.Output != common.BigToHash(big.NewInt(0x77)).Hex() {
		d.Errorf("with another state and block the output is %s", other.Output)
	}
}

func dig(v any, keys ...string) any {
	for _, k := range keys {
		o, _ := v.(object)
		v = o[k]
	}
	return v
}

func tracesRefused(d *nodetest.Chain) {
	d.Helper()
	call := object{"to": someone}
	for _, c := range []struct {
		method string
		params []any
		want   string
	}{
		{"trace_call", []any{call, []string{"calls"}}, `-32602 there is no trace of the kind "calls", only trace, stateDiff and vmTrace`},
		{"trace_call", []any{call, allKinds, "pending"}, ""},
		{"trace_callMany", []any{[]any{[]any{call}}}, "-32602 invalid argument 0: expected a list of a call and the kinds of its traces"},
		{"trace_callMany", []any{[]any{[]any{call, []string{"steps"}}}}, `-32602 there is no trace of the kind "steps"`},
		{"trace_replayTransaction", []any{common.HexToHash("0x1"), allKinds}, "-32000 transaction not found"},
		{"trace_replayBlockTransactions", []any{"0xffffffff", allKinds}, "-32000 "},
		{"trace_blockOpcodeGas", []any{"0xffffffff"}, "-32000 "},
		{"trace_rawTransaction", []any{"0x01", allKinds}, "-32000 "},
		{"trace_rawTransaction", []any{"0x", allKinds}, "-32000 "},
		{"debug_traceCall", []any{call, "latest", object{"tracer": "vmTrace"}}, "-32000 "}, // debug has no such tracer
	} {
		if got := d.Problem(c.method, c.params...); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			d.Errorf("%s %v: %s, want %s", c.method, c.params, got, c.want)
		}
	}
	for method, want := range map[string]string{"trace_transactionOpcodeGas": "null"} {
		if got := d.Text(method, common.HexToHash("0x1")); got != want {
			d.Errorf("%s of nothing is %s", method, got)
		}
	}
	if got := d.Text("trace_replayBlockTransactions", "0x0", allKinds); got != "[]" {
		d.Errorf("the first block's replay is %s", got)
	}
	d.Text("evm_setAutomine", false)
	d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &someone})
	for _, method := range []string{"trace_call", "trace_replayBlockTransactions"} {
		params := []any{"pending", allKinds}
		if method == "trace_call" {
			params = []any{call, allKinds, "pending"}
		}
		if got := d.Problem(method, params...); got != "-32602 tracing on top of pending is not supported" {
			d.Errorf("%s: %s", method, got)
		}
	}
	d.Text("evm_setAutomine", true)
}
