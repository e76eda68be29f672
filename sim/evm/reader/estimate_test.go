package reader_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestEstimates: an estimate suffices and is at most 1.5 % above what does; what cannot succeed is explained.
func TestEstimates(t *testing.T) {
	c, head := newPaidChain(t, evm.KindL1)
	contract, deep, poor := common.HexToAddress("0xa1"), common.HexToAddress("0xa2"), common.HexToAddress("0xdead1")
	coins := (*hexutil.Big)(big.NewInt(21_000*10 + 7))
	state := func(code string) reader.Overrides {
		return reader.Overrides{State: reader.StateOverrides{contract: {Code: hexData(code)}, deep: {Code: hexData("6001 5f55 6001 6001 55 00")}, poor: {Balance: coins}}}
	}
	const (
		stores = "6001 5f55 00"
		passes = "5f5f5f5f5f 60a2 5af1 15 6012 57 00 00 00 00 00 00 5b fe" // calls another contract, and fails if that runs out of gas
		holds  = "620186a0 5a 10 600b 57 00 00 5b 5f5f fd"                 // reverts with less than 100,000 gas left
	)
	for name, code := range map[string]string{"a store": stores, "a call": passes, "gas held back": holds, "nothing": "00"} {
		call := func(gas uint64) *reader.Call { return &reader.Call{From: &c.from, To: &contract, Gas: hexNumber(gas)} }
		got, failed, err := c.Estimate(t.Context(), head, &reader.Call{From: &c.from, To: &contract}, state(code))
		if err != nil || failed != nil {
			t.Fatalf("%s: %+v %v", name, failed, err)
		}
		enough := func(gas uint64) bool {
			result, err := c.Call(t.Context(), head, call(gas), state(code))
			return err == nil && !result.Failed()
		}
		if !enough(got) {
			t.Errorf("%s: %d gas does not suffice", name, got)
		}
		if less := got - got*16/1000 - 1; less > 21_000 && enough(less) {
			t.Errorf("%s: %d gas suffices, not only %d", name, less, got)
		}
		if got, _, err = c.Estimate(t.Context(), head, call(20_999), state(code)); err != nil || !enough(got) {
			t.Errorf("%s: a limit below any transaction's counts: %d %v", name, got, err)
		}
		if _, _, err = c.Estimate(t.Context(), head, call(21_000), state(code)); name == "a store" && (!errors.Is(err, reader.ErrAllowance) || err.Error() != "gas required exceeds allowance (21000)") {
			t.Errorf("%s: a limit that is too low: %v", name, err)
		}
	}
	for _, data := range []string{"", "01"} {
		want := uint64(21_000 + 16*len(data)/2)
		if got, _, err := c.Estimate(t.Context(), head, &reader.Call{From: &c.from, To: &nobody, Value: hexBig(1), Input: hexData(data)}, reader.Overrides{}); err != nil || got < want || got > want*102/100 || data == "" && got != want {
			t.Errorf("a transfer with %q: %d %v, want %d", data, got, err, want)
		}
	}
	if got, _, err := c.Estimate(t.Context(), head, &reader.Call{From: &c.from, Input: hexData("5f5ff3")}, reader.Overrides{}); err != nil || got < 53_000 || got > 55_000 {
		t.Errorf("a creation: %d %v", got, err)
	}
	_, failed, err := c.Estimate(t.Context(), head, &reader.Call{From: &c.from, To: &contract}, state("602a5f5260205ffd"))
	if err != nil || failed == nil || wordOf(failed.Revert()) != "42" {
		t.Errorf("a revert: %+v %v", failed, err)
	}
	for _, a := range []struct {
		price, value int64
		code         string
		want         string
	}{
		{10, 0, "00", ""}, {11, 0, stores, "gas required exceeds allowance (19091)"}, {1, 210_007, "00", core.ErrInsufficientFundsForTransfer.Error()}, {1, 210_006, "00", "gas required exceeds allowance (1)"},
		{1, 100_000, stores, ""}, {0, 210_007, "00", ""}, {10, 8, stores, "gas required exceeds allowance (20999)"},
	} {
		call := &reader.Call{From: &poor, To: &contract, Value: hexBig(a.value)}
		if a.price > 0 {
			call.GasPrice = hexBig(a.price)
		}
		if _, _, err := c.Estimate(t.Context(), head, call, state(a.code)); (err == nil) != (a.want == "") || err != nil && err.Error() != a.want {
			t.Errorf("at a price of %d with %d: %v, want %s", a.price, a.value, err, a.want)
		}
	}
	c.Limits.Gas = 30_000
	if _, _, err := c.Estimate(t.Context(), head, &reader.Call{From: &c.from, To: &contract}, state(stores)); err == nil || err.Error() != "gas required exceeds allowance (30000)" {
		t.Errorf("beyond the limit of calls: %v", err)
	}
}

// TestPricesOfCalls: code sees the price that a call offers, by either style, and no more than its cap.
func TestPricesOfCalls(t *testing.T) {
	c, head := newPaidChain(t, evm.KindL1)
	o := reader.Overrides{Block: &reader.BlockOverrides{BaseFee: hexBig(10)}, State: reader.StateOverrides{bombAddress: {Code: returning("3a")}}} // GASPRICE
	for _, p := range []struct{ price, most, tip, want int64 }{{0, 0, 0, 0}, {12, 0, 0, 12}, {0, 30, 4, 14}, {0, 12, 4, 12}, {0, 30, 0, 10}} {
		call := &reader.Call{From: &c.from, To: &bombAddress}
		for to, n := range map[**hexutil.Big]int64{&call.GasPrice: p.price, &call.MaxFeePerGas: p.most, &call.MaxPriorityFeePerGas: p.tip} {
			if n > 0 {
				*to = hexBig(n)
			}
		}
		result, err := c.Call(t.Context(), head, call, o)
		if err != nil || wordOf(result.ReturnData) != fmt.Sprint(p.want) {
			t.Errorf("%+v: %+v %v", p, result, err)
		}
	}
	for name, w := range map[string]struct {
		call *reader.Call
		want string
	}{
		"below the base fee": {&reader.Call{From: &c.from, To: &nobody, GasPrice: hexBig(9)}, "max fee per gas less than block base fee"},
		"a tip above all":    {&reader.Call{From: &c.from, To: &nobody, MaxFeePerGas: hexBig(20), MaxPriorityFeePerGas: hexBig(21)}, "max priority fee per gas higher than max fee per gas"},
		"both styles":        {&reader.Call{GasPrice: hexBig(1), MaxPriorityFeePerGas: hexBig(1)}, "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified"},
		"too little gas":     {&reader.Call{From: &c.from, To: &nobody, Gas: hexNumber(20_999)}, "intrinsic gas too low"},
	} {
		if _, err := c.Call(t.Context(), head, w.call, o); err == nil || !strings.Contains(err.Error(), w.want) {
			t.Errorf("%s: %v, want %s", name, err, w.want)
		}
	}
}

// TestAccessListsOfCalls: the accounts and slots that a call reads, without what is warm anyway, and the gas that it then uses.
func TestAccessListsOfCalls(t *testing.T) {
	c, head := newPaidChain(t, evm.KindL1)
	o := reader.Overrides{State: reader.StateOverrides{bombAddress: {Code: hexData("6005 54 50 61aa01 31 50 30 31 50 32 31 50 6002 31 50 41 31 50 00")}}}
	list, result, err := c.AccessList(t.Context(), head, &reader.Call{From: &c.from, To: &bombAddress}, o)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ToLower(string(raw))
	for part, want := range map[string]bool{"aa01": true, slotNumber(5).Hex()[2:]: true, strings.ToLower(c.from.Hex()[2:]): false, "0x0000000000000000000000000000000000000002\"": false} {
		if strings.Contains(text, part) != want {
			t.Errorf("%s is in %s: %t", part, text, !want)
		}
	}
	if result == nil {
		t.Error("there is no result")
	}
}

// TestSignedTransactionsAreTraced as if a block contained them.
func TestSignedTransactionsAreTraced(t *testing.T) {
	c, head := newPaidChain(t, evm.KindL1)
	tx := types.MustSignNewTx(c.key, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{ChainID: big.NewInt(43114), Nonce: 1, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 100_000, To: &emitters[1], Data: make([]byte, 160)})
	tracer := "callTracer"
	trace, err := c.TraceSigned(t.Context(), head, tx, c.from, &reader.TraceConfig{Tracer: &tracer})
	if err != nil {
		t.Fatal(err)
	}
	var call struct {
		From, To common.Address
		Gas      hexutil.Uint64
		Error    string
	}
	if err := json.Unmarshal(trace.JSON(), &call); err != nil || call.From != c.from || call.To != emitters[1] || call.Gas != 100_000 || call.Error != "" {
		t.Errorf("%s %v", trace.JSON(), err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if got, sender, err := c.Recover(raw); err != nil || got.Hash() != tx.Hash() || sender != c.from {
		t.Errorf("%v %s %v", got, sender, err)
	}
	if _, _, err := c.Recover(raw[:len(raw)-1]); err == nil {
		t.Error("a torn transaction has a sender")
	}
}

// TestCallsAreTracedInTurn: each on the state that the last one left, and all together within the bound of a trace.
func TestCallsAreTracedInTurn(t *testing.T) {
	c := newChosenChain(t, evm.KindL1, false)
	counter := crypto.CreateAddress(c.from, 0)
	c.with(1_775_000_010, payment{create: true, gas: 200_000, data: creating(common.FromHex("5f5460010180" + "5f55" + "5f5260205ff3"))})
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tracer := "callTracer"
	config := &reader.TraceConfig{Tracer: &tracer}
	call := reader.Call{From: &c.from, To: &counter}
	traces, err := c.TraceCalls(t.Context(), head, []reader.Call{call, call, call}, []*reader.TraceConfig{config, config, config})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for i, trace := range traces {
		var of struct{ Output hexutil.Bytes }
		if err := json.Unmarshal(trace.JSON(), &of); err != nil || wordOf(of.Output) != fmt.Sprint(i+1) {
			t.Errorf("call %d: %s %v", i, trace.JSON(), err)
		}
		size += trace.Size()
	}
	for most, good := range map[int]bool{size: true, size - 1: false} {
		c.Limits.Trace = most
		if _, err := c.TraceCalls(t.Context(), head, []reader.Call{call, call, call}, []*reader.TraceConfig{config, config, config}); (err == nil) != good || err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("the trace is larger than %d bytes", most)) {
			t.Errorf("%d bytes: %v", most, err)
		}
	}
}

// TestPendingBlocksAreRead: a preview of the next block has its transactions, receipts and state like any other.
func TestPendingBlocksAreRead(t *testing.T) {
	for _, helicon := range []bool{false, true} {
		kind := evm.KindL1
		if helicon {
			kind = evm.KindC
		}
		c := newChosenChain(t, kind, helicon)
		c.with(1_775_000_010, payment{value: 5})
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		builder, err := c.NewDraft(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		p, err := builder.Open(1000 * 1_775_000_020)
		if err != nil {
			t.Fatal(err)
		}
		var hashes []common.Hash
		for i := range 2 {
			tx := types.MustSignNewTx(c.key, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{ChainID: big.NewInt(43114), Nonce: p.Nonce(c.from), GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 100_000, To: &emitters[i], Value: new(big.Int), Data: make([]byte, 160)})
			if _, err := p.Apply(tx, c.from); err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, tx.Hash())
		}
		b, err := c.PendingBlock(p)
		if err != nil || !b.Pending() || b.Number != 2 || head.Pending() || b.Row.Txs != 2 {
			t.Fatal(b, err)
		}
		all, err := c.Receipts(t.Context(), b)
		if err != nil || len(all) != 2 || all[0].Hash() != hashes[0] || all[1].Hash() != hashes[1] || len(all[0].Logs) != 1 || len(all[1].Logs) != 1 || len(all[0].Logs[0].Topics) != 0 || len(all[1].Logs[0].Topics) != 1 {
			t.Fatalf("%+v %v", all, err)
		}
		if at, err := c.TransactionAt(t.Context(), b, 1); err != nil || at.Hash() != hashes[1] {
			t.Error(at, err)
		}
		if _, err := c.TransactionAt(t.Context(), b, 2); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		states, err := c.State(t.Context(), b)
		if err != nil || states.GetNonce(c.from) != 3 {
			t.Errorf("the sender's nonce is %d: %v", states.GetNonce(c.from), err)
		}
		account, err := c.Account(t.Context(), b, c.from)
		if err != nil || account.Nonce != 3 || account.Balance.Cmp(states.GetBalance(c.from)) != 0 {
			t.Errorf("%+v %v", account, err)
		}
		if account, err = c.Account(t.Context(), head, c.from); err != nil || account.Nonce != 1 {
			t.Errorf("%+v %v", account, err)
		}
		made, err := c.Simulate(t.Context(), b, reader.Simulation{Blocks: []reader.BlockCalls{{Calls: []reader.Call{{From: &c.from, To: &nobody}}}}})
		if err != nil || made[0].Number != 3 || made[0].Transactions[0].Nonce() != 3 {
			t.Errorf("a simulation on top: %+v %v", made, err)
		}
	}
}
