package simulate_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
)

type object = nodetest.Object

var someone = common.HexToAddress("0x50e50e")

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
	w := seedtest.Shared(t, "tiny", 1)
	for _, chain := range w.Chains {
		c := nodetest.Open(t, w, chain)
		head := c.Head()
		blocks := uint64(60)
		if testing.Short() {
			t.Log("left out of a short run: all blocks but 15")
			blocks = 15
		}
		calls, moved := 0, 0
		for number := head.Number - min(head.Number-1, blocks); number <= head.Number; number++ {
			more, transfers := simulatedAgain(c, number)
			calls, moved = calls+more, moved+transfers
		}
		if calls < 10 || moved == 0 {
			t.Errorf("%s: only %d calls were tried, which moved coins %d times", c.Chain.Row.Name, calls, moved)
		}
	}
}

// simulatedAgain counts the calls of a block, and how often they moved coins.
func simulatedAgain(c *nodetest.Chain, number uint64) (calls, moved int) {
	c.Helper()
	b := c.Block(number)
	all := c.Receipts(b)
	var list []object
	for _, tx := range all {
		list = append(list, callOf(tx.Transaction, tx.Sender))
	}
	var answer []simulatedBlock
	c.Call(&answer, "eth_simulateV1", object{
		"validation": true, "traceTransfers": true, "blockStateCalls": []object{{"calls": list, "blockOverrides": object{
			"time": hexutil.Uint64(b.Header.Time), "gasLimit": hexutil.Uint64(b.Header.GasLimit), "baseFeePerGas": (*hexutil.Big)(b.Results.BaseFee),
		}}},
	}, hexutil.EncodeUint64(number-1))
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
		c.Fatalf("%s, block %d: %+v", c.Chain.Row.Name, number, made)
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
			c.Errorf("%s, transaction %s: %+v, want %+v with logs %v", c.Chain.Row.Name, tx.Hash(), call, tx.Row, want)
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
	w := seedtest.Copy(t, 1)
	d := nodetest.Open(t, w, w.Networks[0].CChain())
	target := common.HexToAddress("0x51a1")
	// It counts in slot 0, logs the count and returns it.
	code := common.FromHex("0x6001600054018060005560005260206000a060206000f3")
	deploy := append(common.FromHex(fmt.Sprintf("0x60%02x600c60003960%02x6000f3", len(code), len(code))), code...)
	nonce := d.Nonce()
	counter := crypto.CreateAddress(d.From, nonce)
	fee := (*hexutil.Big)(big.NewInt(2_000_000_000_000))
	call := func(to *common.Address, input []byte, value int64) object {
		return object{"from": d.From, "to": to, "input": hexutil.Bytes(input), "value": (*hexutil.Big)(big.NewInt(value)), "gas": "0x30d40", "maxFeePerGas": fee}
	}
	blocks := []object{
		{"calls": []object{call(nil, deploy, 0), call(&counter, nil, 0)}},
		{"calls": []object{call(&counter, nil, 0), call(&target, nil, 5)}},
	}
	var made []simulatedBlock
	d.Call(&made, "eth_simulateV1", object{"blockStateCalls": blocks, "validation": true}, "latest")
	if made[1].Calls[0].ReturnData != common.BigToHash(common.Big2).Hex() || made[1].ParentHash != made[0].Hash {
		t.Fatalf("the simulation gave %+v", made)
	}
	d.Text("evm_setAutomine", false)
	sent := []*types.DynamicFeeTx{{Data: deploy}, {To: &counter}, {To: &counter}, {To: &target, Value: big.NewInt(5)}}
	var hashes []common.Hash
	for i, tx := range sent {
		tx.Nonce, tx.Gas = nonce+uint64(i), 200_000
		hashes = append(hashes, d.Send(tx))
		if i%2 == 1 {
			d.Text("evm_mine")
		}
	}
	for i, hash := range hashes {
		receipt := d.Transaction(hash).Receipt()
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
	question := object{"from": d.From, "to": counter}
	d.Call(&estimate, "eth_estimateGas", question)
	d.Call(&returned, "eth_call", question, "latest")
	d.Call(&again, "eth_simulateV1", object{"blockStateCalls": []object{{"calls": []object{question}}}}, "latest")
	if used := hexutil.MustDecodeUint64(again[0].Calls[0].GasUsed); again[0].Calls[0].ReturnData != returned || used > uint64(estimate) || used*2 < uint64(estimate) {
		t.Errorf("the simulation gave %+v, eth_call %s and eth_estimateGas %d", again[0].Calls[0], returned, estimate)
	}
}

// TestSimulationsAreBounded exceeds each bound.
func TestSimulationsAreBounded(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	c := nodetest.Open(t, w, w.Chains[0])
	for want, blocks := range map[string][]object{
		"-38026 too many blocks":                      make([]object, 257),
		"-38026 too many calls in block: 5001 > 5000": {{"calls": make([]object, 5001)}},
		"-38026 too many calls: 10001 > 10000":        {{"calls": make([]object, 5000)}, {"calls": make([]object, 5000)}, {"calls": make([]object, 1)}},
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
		if problem := c.Problem("eth_simulateV1", object{"blockStateCalls": blocks}); problem != want {
			t.Errorf("%.200s, want %s", problem, want)
		}
	}
	// An endless loop in each call, which creates contracts to burn gas quickly: together they get the gas of one call.
	loop := object{"to": someone, "gas": "0x1c9c380"}
	var made []simulatedBlock
	c.Call(&made, "eth_simulateV1", object{"blockStateCalls": []object{{"blockOverrides": object{"gasLimit": "0xffffffff"},
		"stateOverrides": object{someone.Hex(): object{"code": "0x5b5f5f5ff0505f56"}}, "calls": []object{loop, loop}}}})
	if last := made[0].Calls[1]; last.GasUsed != hexutil.EncodeUint64(20_000_000) || last.Error == nil || !strings.Contains(last.Error.Message, "capped") {
		t.Errorf("the last call used %s: %+v", last.GasUsed, last.Error)
	}
}
