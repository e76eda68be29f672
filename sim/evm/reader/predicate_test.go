package reader_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/warp"
)

// TestAccessListsKeepMessages: the messages of a call are returned unchanged, before everything that it touches, and a transaction with that list
// costs the estimate.
func TestAccessListsKeepMessages(t *testing.T) {
	c, v := newWarpChain(t, false)
	ctx := context.Background()
	long := v.sign(t, unsignedMessage(t, siblingChain, strings.Repeat("long ", 40)), siblingSubnet, 3)
	payload, err := warp.HashPayload(ids.ID{0xbe, 0xef})
	if err != nil {
		t.Fatal(err)
	}
	hash := v.sign(t, &warp.UnsignedMessage{NetworkID: 1, SourceChainID: siblingChain, Payload: payload}, siblingSubnet, 3)
	hint := types.AccessTuple{Address: receiver, StorageKeys: []common.Hash{{2}, {1}}}
	sorted := types.AccessTuple{Address: receiver, StorageKeys: []common.Hash{{1}, {2}}}
	head, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	from, data := addressOf(c.outsider), hexutil.Bytes(input("getVerifiedWarpMessage(uint32)", 0))
	for _, q := range []struct {
		name        string
		given, want types.AccessList
	}{
		{"one", types.AccessList{entry(long)}, types.AccessList{entry(long)}},
		{"two", types.AccessList{entry(long), entry(hash)}, types.AccessList{entry(long), entry(hash)}},
		{"twice the same", types.AccessList{entry(long), entry(long)}, types.AccessList{entry(long), entry(long)}},
		{"beside other hints", types.AccessList{hint, entry(long)}, types.AccessList{entry(long), sorted}},
	} {
		call := &reader.Call{From: &from, To: &forwarder, Input: &data, AccessList: &q.given}
		list, result, err := c.AccessList(ctx, head, call, reader.Overrides{})
		if err != nil || result.Err != nil {
			t.Fatalf("%s: %+v, %v", q.name, result, err)
		}
		if !slices.EqualFunc(list, q.want, func(a, b types.AccessTuple) bool {
			return a.Address == b.Address && slices.Equal(a.StorageKeys, b.StorageKeys)
		}) {
			t.Errorf("%s: the list is %v, want %v", q.name, list, q.want)
		}
		receipt, _, err := c.sendWithPredicates(forwarder, 500_000, data, list)
		if err != nil || receipt.Status != 1 || receipt.GasUsed != result.UsedGas {
			t.Errorf("%s: estimated %d gas, used %+v, %v", q.name, result.UsedGas, receipt, err)
		}
	}
}

// TestSendersNeedNoMessages: a call of the warp contract does not put that contract into the list, where it would be an empty message and make the
// transaction invalid.
func TestSendersNeedNoMessages(t *testing.T) {
	c, _ := newWarpChain(t, false)
	head, err := c.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	from, data := addressOf(c.outsider), hexutil.Bytes(selector("getBlockchainID()"))
	list, result, err := c.AccessList(context.Background(), head, &reader.Call{From: &from, To: &forwarder, Input: &data}, reader.Overrides{})
	if err != nil || result.Err != nil || list == nil || len(list) != 0 {
		t.Fatalf("%v, %+v, %v", list, result, err)
	}
	if receipt, _, err := c.sendWithPredicates(forwarder, 100_000, data, list); err != nil || receipt.Status != 1 || receipt.GasUsed != result.UsedGas {
		t.Errorf("estimated %d gas, used %+v, %v", result.UsedGas, receipt, err)
	}
}

// TestCallsThatCarryMessages makes a call with predicates in every possible way, and compares with the transaction.
func TestCallsThatCarryMessages(t *testing.T) {
	c, v := newWarpChain(t, false)
	ctx := context.Background()
	head, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	from, data := addressOf(c.outsider), hexutil.Bytes(input("getVerifiedWarpMessage(uint32)", 0))
	list := types.AccessList{entry(v.sign(t, unsignedMessage(t, siblingChain, "hello"), siblingSubnet, 3))}
	call := func() *reader.Call { return &reader.Call{From: &from, To: &forwarder, Input: &data, AccessList: &list} }
	called, err := c.Call(ctx, head, call(), reader.Overrides{})
	if err != nil || called.Err != nil {
		t.Fatal(err, called)
	}
	limit, failed, err := c.Estimate(ctx, head, call(), reader.Overrides{})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	for _, name := range tracerNames {
		trace, err := c.TraceCall(ctx, head, call(), reader.Overrides{}, &reader.TraceConfig{Tracer: &name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var top struct{ GasUsed hexutil.Uint64 }
		if err := json.Unmarshal(trace.JSON(), &top); name == "callTracer" && (err != nil || uint64(top.GasUsed) != called.UsedGas) {
			t.Errorf("a trace has %d gas, a call %d: %v", top.GasUsed, called.UsedGas, err)
		}
	}
	receipt, _, err := c.sendWithPredicates(forwarder, limit, data, list)
	if err != nil || receipt.Status != 1 || receipt.GasUsed != called.UsedGas {
		t.Errorf("with the estimate of %d: %+v, %v; a call used %d", limit, receipt, err, called.UsedGas)
	}
	bad := types.AccessList{{Address: precompile.WarpAddress, StorageKeys: []common.Hash{{1, 2, 3}}}}
	wrong := func() *reader.Call { return &reader.Call{From: &from, To: &forwarder, Input: &data, AccessList: &bad} }
	_, _, listed := c.AccessList(ctx, head, wrong(), reader.Overrides{})
	_, _, estimated := c.Estimate(ctx, head, wrong(), reader.Overrides{})
	_, traced := c.TraceCall(ctx, head, wrong(), reader.Overrides{}, nil)
	_, tried := c.Call(ctx, head, wrong(), reader.Overrides{})
	for _, err := range []error{listed, estimated, traced, tried} {
		if err == nil || !strings.Contains(err.Error(), "cannot unpack predicate bytes") {
			t.Errorf("a malformed message: %v", err)
		}
	}
}
