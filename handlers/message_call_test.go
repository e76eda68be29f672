// Deliveries of cross-chain messages, tried again with every method of a server.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers"
	"snowglobe/sim/evm/precompile"
)

// TestDeliveriesCanBeTried: every delivery's transaction succeeds as a call on the block before, with every method, if the call includes the message.
func TestDeliveriesCanBeTried(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(tinyWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Messages []struct {
			DestinationBlockchainID string
			DestinationTransaction  *struct{ TxHash string }
		}
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/v1/icm/messages?pageSize=100", "")), &page); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, m := range page.Messages {
		if m.DestinationTransaction == nil {
			continue
		}
		tried++
		rpc := func(into any, method string, params ...any) {
			t.Helper()
			raw, err := json.Marshal(params)
			if err != nil {
				t.Fatal(err)
			}
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, raw)
			text := ask(h, "POST", "/ext/bc/"+m.DestinationBlockchainID+"/rpc", body)
			var answer struct{ Result, Error json.RawMessage }
			if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Error != nil {
				t.Fatalf("%s: %v %.500s", method, err, text)
			}
			if err := json.Unmarshal(answer.Result, into); err != nil {
				t.Fatalf("%s: %v %.500s", method, err, text)
			}
		}
		testDelivery(t, m.DestinationTransaction.TxHash, rpc)
	}
	if tried == 0 {
		t.Error("no message was delivered")
	}
}

func testDelivery(t *testing.T, hash string, rpc func(into any, method string, params ...any)) {
	t.Helper()
	var tx struct {
		From, To    common.Address
		Input       hexutil.Bytes
		AccessList  types.AccessList
		BlockNumber hexutil.Uint64
	}
	rpc(&tx, "eth_getTransactionByHash", hash)
	var receipt struct{ GasUsed hexutil.Uint64 }
	rpc(&receipt, "eth_getTransactionReceipt", hash)
	call, at := map[string]any{"from": tx.From, "to": tx.To, "input": tx.Input, "accessList": tx.AccessList}, tx.BlockNumber-1
	var output hexutil.Bytes
	rpc(&output, "eth_call", call, at)
	var limit hexutil.Uint64
	rpc(&limit, "eth_estimateGas", call, at)
	var trace struct{ GasUsed hexutil.Uint64 }
	rpc(&trace, "debug_traceCall", call, at, map[string]any{"tracer": "callTracer"})
	var planned struct {
		AccessList types.AccessList
		GasUsed    hexutil.Uint64
	}
	rpc(&planned, "eth_createAccessList", call, at)
	if limit < trace.GasUsed || trace.GasUsed > receipt.GasUsed*2 || planned.GasUsed < 125_000 {
		t.Errorf("%s used %d gas: estimated %d, traced %d, planned %d", hash, receipt.GasUsed, limit, trace.GasUsed, planned.GasUsed)
	}
	carried := func(list types.AccessList) types.AccessList {
		return slices.DeleteFunc(slices.Clone(list), func(e types.AccessTuple) bool { return e.Address != precompile.WarpAddress })
	}
	before, after := carried(tx.AccessList), carried(planned.AccessList)
	if !slices.EqualFunc(before, after, func(a, b types.AccessTuple) bool { return slices.Equal(a.StorageKeys, b.StorageKeys) }) || len(before) == 0 {
		t.Errorf("%s carries %v, the list has %v", hash, before, after)
	}
}
