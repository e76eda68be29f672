package eth_test

import (
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestDeliveriesCanBeTried: every delivery's transaction succeeds as a call on the block before, with every method, if the call includes the message.
func TestDeliveriesCanBeTried(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	messages, err := w.DB.MessagesSince(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, m := range messages {
		events, err := w.DB.MessageEvents(t.Context(), m.Hash)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Kind != store.MessageReceived {
				continue
			}
			tried++
			at := slices.IndexFunc(w.Chains, func(c *reader.Chain) bool { return c.Row.ID == e.ID.Chain() })
			c := nodetest.Open(t, w, w.Chains[at])
			tryDelivery(c, c.Receipts(c.Block(e.ID.Number()))[e.Tx].Hash())
		}
	}
	if tried == 0 {
		t.Error("no message was delivered")
	}
}

func tryDelivery(c *nodetest.Chain, hash common.Hash) {
	c.Helper()
	var tx struct {
		From, To    common.Address
		Input       hexutil.Bytes
		AccessList  types.AccessList
		BlockNumber hexutil.Uint64
	}
	c.Call(&tx, "eth_getTransactionByHash", hash)
	var receipt struct{ GasUsed hexutil.Uint64 }
	c.Call(&receipt, "eth_getTransactionReceipt", hash)
	call, at := map[string]any{"from": tx.From, "to": tx.To, "input": tx.Input, "accessList": tx.AccessList}, tx.BlockNumber-1
	var output hexutil.Bytes
	c.Call(&output, "eth_call", call, at)
	var limit hexutil.Uint64
	c.Call(&limit, "eth_estimateGas", call, at)
	var trace struct{ GasUsed hexutil.Uint64 }
	c.Call(&trace, "debug_traceCall", call, at, map[string]any{"tracer": "callTracer"})
	var planned struct {
		AccessList types.AccessList
		GasUsed    hexutil.Uint64
	}
	c.Call(&planned, "eth_createAccessList", call, at)
	if limit < trace.GasUsed || trace.GasUsed > receipt.GasUsed*2 || planned.GasUsed < 125_000 {
		c.Errorf("%s used %d gas: estimated %d, traced %d, planned %d", hash, receipt.GasUsed, limit, trace.GasUsed, planned.GasUsed)
	}
	carried := func(list types.AccessList) types.AccessList {
		return slices.DeleteFunc(slices.Clone(list), func(e types.AccessTuple) bool { return e.Address != precompile.WarpAddress })
	}
	before, after := carried(tx.AccessList), carried(planned.AccessList)
	if !slices.EqualFunc(before, after, func(a, b types.AccessTuple) bool { return slices.Equal(a.StorageKeys, b.StorageKeys) }) || len(before) == 0 {
		c.Errorf("%s carries %v, the list has %v", hash, before, after)
	}
}
