// eth_simulateV1, compared with the blocks of a served world.

package handlers_test

import (
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/reader"
)

// simulatedBlock is a block from eth_simulateV1.
type simulatedBlock struct {
	Number, GasUsed, LogsBloom, BaseFeePerGas, Timestamp, Hash, ParentHash string
	Transactions                                                           []any
	Calls                                                                  []struct {
		ReturnData, GasUsed, MaxUsedGas, Status string
		Logs                                    []types.Log
		Error                                   *struct {
			Message, Data string
			Code          int
		}
	}
}

// nativeToken is the address in logs of coin transfers.
var nativeToken = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")

// TestSimulationsAreWhatBlocksAre runs the transactions of blocks again on top of their parents.
func TestSimulationsAreWhatBlocksAre(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h := surfaceOf(t, w)
	for _, c := range w.Chains {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		blocks := uint64(60)
		if testing.Short() {
			t.Log("left out of a short run: all blocks but 15")
			blocks = 15
		}
		calls, moved := 0, 0
		for number := head.Number - min(head.Number-1, blocks); number <= head.Number; number++ {
			more, transfers := simulatedAgain(t, h, c, number)
			calls, moved = calls+more, moved+transfers
		}
		if calls < 10 || moved == 0 {
			t.Errorf("%s: only %d calls were tried, which moved coins %d times", c.Row.Name, calls, moved)
		}
	}
}

// simulatedAgain counts the calls of a block, and how often they moved coins.
func simulatedAgain(t *testing.T, h http.Handler, c *reader.Chain, number uint64) (calls, moved int) {
	t.Helper()
	b, err := c.Block(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Receipts(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	var list []object
	for _, tx := range all {
		list = append(list, callOf(tx.Transaction, tx.Sender))
	}
	var answer []simulatedBlock
	if problem := callEVM(t, h, rpcPath(c), "eth_simulateV1", &answer, object{
		"validation": true, "traceTransfers": true, "blockStateCalls": []object{{"calls": list, "blockOverrides": object{
			"time": hexutil.Uint64(b.Header.Time), "gasLimit": hexutil.Uint64(b.Header.GasLimit), "baseFeePerGas": (*hexutil.Big)(b.Results.BaseFee),
		}}},
	}, hexutil.EncodeUint64(number-1)); problem != "" {
		t.Fatalf("%s, block %d: %s", c.Row.Name, number, problem)
	}
	made, gas, bloom := answer[0], uint64(0), types.Bloom{}
	for _, tx := range all { // since Helicon, a header has the logs of other blocks
		gas += tx.Row.GasUsed
		for _, log := range tx.Logs {
			bloom.Add(log.Address[:])
			for _, topic := range log.Topics {
				bloom.Add(topic[:])
			}
		}
	}
	if made.GasUsed != hexutil.EncodeUint64(gas) || made.LogsBloom != hexutil.Encode(bloom[:]) || made.ParentHash != b.Header.ParentHash.Hex() ||
		made.Number != hexutil.EncodeUint64(number) || len(made.Calls) != len(all) {
		t.Fatalf("%s, block %d: %+v", c.Row.Name, number, made)
	}
	for i, tx := range all {
		var got, want []string
		for _, log := range made.Calls[i].Logs {
			if log.Address == nativeToken {
				moved++
				continue
			}
			got = append(got, fmt.Sprint(log.Address, log.Topics, log.Data))
		}
		for _, log := range tx.Logs {
			want = append(want, fmt.Sprint(log.Address, log.Topics, log.Data))
		}
		call := made.Calls[i]
		if call.GasUsed != hexutil.EncodeUint64(tx.Row.GasUsed) || call.Status != hexutil.EncodeUint64(tx.Row.Status) || !slices.Equal(got, want) || (call.Error == nil) != (tx.Row.Status == 1) {
			t.Errorf("%s, transaction %s: %+v, want %+v with logs %v", c.Row.Name, tx.Hash(), call, tx.Row, want)
		}
	}
	return len(all), moved
}

// callOf returns a transaction in the form of a call.
func callOf(tx *types.Transaction, sender common.Address) object {
	call := object{"from": sender, "to": tx.To(), "gas": hexutil.Uint64(tx.Gas()), "nonce": hexutil.Uint64(tx.Nonce()), "value": (*hexutil.Big)(tx.Value()), "input": hexutil.Bytes(tx.Data())}
	if tx.Type() == types.DynamicFeeTxType {
		call["maxFeePerGas"], call["maxPriorityFeePerGas"] = (*hexutil.Big)(tx.GasFeeCap()), (*hexutil.Big)(tx.GasTipCap())
	} else {
		call["gasPrice"] = (*hexutil.Big)(tx.GasPrice())
	}
	if list := tx.AccessList(); len(list) > 0 {
		call["accessList"] = list
	}
	return call
}

// TestSimulationsGoOn simulates calls that depend on each other, in several blocks, and then has them mined.
func TestSimulationsGoOn(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	h := surfaceOf(t, w)
	target := common.HexToAddress("0x51a1")
	// It counts in slot 0, logs the count and returns it.
	code := common.FromHex("0x6001600054018060005560005260206000a060206000f3")
	deploy := append(common.FromHex(fmt.Sprintf("0x60%02x600c60003960%02x6000f3", len(code), len(code))), code...)
	nonce := d.nonce()
	counter := crypto.CreateAddress(d.from, nonce)
	fee := (*hexutil.Big)(big.NewInt(2_000_000_000_000))
	call := func(to *common.Address, input []byte, value int64) object {
		return object{"from": d.from, "to": to, "input": hexutil.Bytes(input), "value": (*hexutil.Big)(big.NewInt(value)), "gas": "0x30d40", "maxFeePerGas": fee}
	}
	blocks := []object{
		{"calls": []object{call(nil, deploy, 0), call(&counter, nil, 0)}},
		{"calls": []object{call(&counter, nil, 0), call(&target, nil, 5)}},
	}
	var made []simulatedBlock
	d.call(&made, "eth_simulateV1", object{"blockStateCalls": blocks, "validation": true}, "latest")
	if made[1].Calls[0].ReturnData != common.BigToHash(common.Big2).Hex() || made[1].ParentHash != made[0].Hash {
		t.Fatalf("the simulation gave %+v", made)
	}
	d.text("evm_setAutomine", false)
	sent := []*types.DynamicFeeTx{{Data: deploy}, {To: &counter}, {To: &counter}, {To: &target, Value: big.NewInt(5)}}
	var hashes []common.Hash
	for i, tx := range sent {
		tx.Nonce, tx.Gas = nonce+uint64(i), 200_000
		hashes = append(hashes, d.mustSend(tx))
		if i%2 == 1 {
			d.text("evm_mine")
		}
	}
	for i, hash := range hashes {
		receipt, err := d.client.TransactionReceipt(t.Context(), hash)
		if err != nil {
			t.Fatal(err)
		}
		tried := made[i/2].Calls[i%2]
		if tried.GasUsed != hexutil.EncodeUint64(receipt.GasUsed) || tried.Status != hexutil.EncodeUint64(receipt.Status) || len(tried.Logs) != len(receipt.Logs) {
			t.Errorf("transaction %d: the simulation gave %+v, the chain %+v", i, tried, receipt)
		}
		for at, log := range tried.Logs {
			if mined := receipt.Logs[at]; log.Address != mined.Address || !slices.Equal(log.Data, mined.Data) || log.Index != mined.Index {
				t.Errorf("log %d of transaction %d is %+v, mined as %+v", at, i, log, mined)
			}
		}
	}
	var estimate hexutil.Uint64
	var returned string
	var again []simulatedBlock
	question := object{"from": d.from, "to": counter}
	d.call(&estimate, "eth_estimateGas", question)
	d.call(&returned, "eth_call", question, "latest")
	d.call(&again, "eth_simulateV1", object{"blockStateCalls": []object{{"calls": []object{question}}}}, "latest")
	if used := hexutil.MustDecodeUint64(again[0].Calls[0].GasUsed); again[0].Calls[0].ReturnData != returned || used > uint64(estimate) || used*2 < uint64(estimate) {
		t.Errorf("the simulation gave %+v, eth_call %s and eth_estimateGas %d", again[0].Calls[0], returned, estimate)
	}
	tracesAgree(t, w, h, []*reader.Chain{d.chain})
	if history := otterscanHistory(t, h, d.chain, target, "ots_searchTransactionsBefore"); len(history) != 1 || history[0] != hashes[3].Hex() {
		t.Errorf("the history of %s is %v", target, history)
	}
	d.text("anvil_setNonce", d.from, "0x3e8") // raised without a transaction
	for skipped, want := range map[uint64]string{3: `"` + hashes[3].Hex() + `"`, 4: "null", 900: "null"} {
		if got := d.text("ots_getTransactionBySenderAndNonce", d.from, nonce+skipped); got != want {
			t.Errorf("transaction %d is %s, want %s", nonce+skipped, got, want)
		}
	}
	if first := hexutil.EncodeUint64(d.head().Number.Uint64()); d.text("trace_filter", object{"fromBlock": first, "toAddress": []common.Address{target}}) == "[]" {
		t.Errorf("no trace goes to %s", target)
	}
}

// TestSimulationsAreBounded exceeds each bound.
func TestSimulationsAreBounded(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h, c := surfaceOf(t, w), w.Chains[0]
	for want, blocks := range map[string][]object{
		"too many blocks":                      make([]object, 257),
		"too many calls in block: 5001 > 5000": {{"calls": make([]object, 5001)}},
		"too many calls: 10001 > 10000":        {{"calls": make([]object, 5000)}, {"calls": make([]object, 5000)}, {"calls": make([]object, 1)}},
	} {
		for _, b := range blocks {
			if calls, ok := b["calls"].([]object); ok {
				for i := range calls {
					calls[i] = object{}
				}
			}
		}
		for i := range blocks {
			if blocks[i] == nil {
				blocks[i] = object{}
			}
		}
		if problem := callEVM(t, h, rpcPath(c), "eth_simulateV1", new([]any), object{"blockStateCalls": blocks}); problem != want {
			t.Errorf("%.200s, want %s", problem, want)
		}
	}
	// An endless loop in each call, which creates contracts to burn gas quickly: together they get the gas of one call.
	loop := object{"to": someone, "gas": "0x1c9c380"}
	var made []simulatedBlock
	if problem := callEVM(t, h, rpcPath(c), "eth_simulateV1", &made, object{"blockStateCalls": []object{{"blockOverrides": object{"gasLimit": "0xffffffff"},
		"stateOverrides": object{someone.Hex(): object{"code": "0x5b5f5f5ff0505f56"}}, "calls": []object{loop, loop}}}}); problem != "" || len(made) != 1 {
		t.Fatalf("%d blocks: %s", len(made), problem)
	}
	if last := made[0].Calls[1]; last.GasUsed != hexutil.EncodeUint64(20_000_000) || last.Error == nil || !strings.Contains(last.Error.Message, "capped") {
		t.Errorf("the last call used %s: %+v", last.GasUsed, last.Error)
	}
}
