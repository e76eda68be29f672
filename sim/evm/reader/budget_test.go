package reader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// TestCallsShareABudget: the calls of a batch may use an amount of gas together, whatever they are; then further ones are refused.
func TestCallsShareABudget(t *testing.T) {
	c, head := newPaidChain(t, evm.KindL1)
	call := reader.Call{From: &c.from, To: &nobody}
	tracer := "callTracer"
	for name, do := range map[string]func(context.Context) error{
		"calls": func(ctx context.Context) error { return second(c.Call(ctx, head, &call, reader.Overrides{})) },
		"traces": func(ctx context.Context) error {
			return second(c.TraceCall(ctx, head, &call, reader.Overrides{}, &reader.TraceConfig{Tracer: &tracer}))
		},
		"simulations": func(ctx context.Context) error {
			return second(c.Simulate(ctx, head, reader.Simulation{Blocks: []reader.BlockCalls{{Calls: []reader.Call{{From: &c.from, To: &nobody}}}}}))
		},
		"transactions": func(ctx context.Context) error {
			all, err := c.Transactions(ctx, head)
			if err != nil {
				return err
			}
			return second(c.TraceTransaction(ctx, all[0], &reader.TraceConfig{Tracer: &tracer}))
		},
	} {
		ctx := reader.WithGas(t.Context(), 42_001)
		for i := range 5 {
			if err := do(ctx); (err != nil) != (i >= 3) || err != nil && err.Error() != "request timed out" {
				t.Errorf("%s: number %d: %v", name, i, err)
			}
		}
		ctx = reader.WithGas(t.Context(), 42_000)
		for i := range 4 {
			if err := do(ctx); (err != nil) != (i >= 2) {
				t.Errorf("%s: number %d of exactly two: %v", name, i, err)
			}
		}
	}
}

// TestConsolesAreNoticed: whoever asks learns whether code called the console of Hardhat and Foundry.
func TestConsolesAreNoticed(t *testing.T) {
	c := newChosenChain(t, evm.KindL1, false)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]bool{fmt.Sprintf("5f5f5f5f73%x5afa00", evm.ConsoleAddress): true, fmt.Sprintf("5f5f5f5f73%x5afa00", nobody): false} {
		ctx, touched := reader.WithConsole(t.Context())
		o := reader.Overrides{State: reader.StateOverrides{bombAddress: {Code: hexData(code)}}}
		if _, err := c.Call(ctx, head, &reader.Call{To: &bombAddress}, o); err != nil || touched.Load() != want {
			t.Errorf("%s: %t %v", code, touched.Load(), err)
		}
		if _, err := c.Call(t.Context(), head, &reader.Call{To: &bombAddress}, o); err != nil {
			t.Error(err)
		}
	}
}

// TestHalfOfTheLimitIsCharged: since Helicon a transaction pays for half of its gas limit at least (ACP-194), and so does a call that names one. What
// the code used remains known.
func TestHalfOfTheLimitIsCharged(t *testing.T) {
	for _, helicon := range []bool{true, false} {
		c := newChosenChain(t, evm.KindC, helicon)
		c.with(1_775_000_010, payment{gas: 100_000}, payment{gas: 60_000, to: &emitters[1], data: make([]byte, 160)}, payment{gas: 30_000})
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		half := map[bool]uint64{true: 50_000, false: 21_000}[helicon]
		for gas, want := range map[uint64]uint64{0: 21_000, 100_000: half, 40_000: 21_000} {
			call := func() reader.Call {
				call := reader.Call{From: &c.from, To: &nobody}
				if gas > 0 {
					call.Gas = hexNumber(gas)
				}
				return call
			}
			one := call()
			result, err := c.Call(t.Context(), head, &one, reader.Overrides{})
			if err != nil || result.UsedGas != want {
				t.Errorf("Helicon %t: a call with %d gas: %+v %v", helicon, gas, result, err)
			}
			many, err := c.CallMany(t.Context(), head, reader.Overrides{}, []reader.Bundle{{Calls: []reader.Call{call()}}}, c.Limits.Time)
			if err != nil || many[0][0].UsedGas != want {
				t.Errorf("Helicon %t: a bundle with %d gas: %v", helicon, gas, err)
			}
			made, err := c.Simulate(t.Context(), head, reader.Simulation{Blocks: []reader.BlockCalls{{Calls: []reader.Call{call()}}}})
			if err != nil || made[0].Calls[0].UsedGas != want {
				t.Errorf("Helicon %t: a simulation with %d gas: %d %v", helicon, gas, made[0].Calls[0].UsedGas, err)
			}
			tracer := "callTracer"
			trace, err := c.TraceCall(t.Context(), head, &one, reader.Overrides{}, &reader.TraceConfig{Tracer: &tracer})
			var of struct{ GasUsed hexutil.Uint64 }
			if err == nil {
				err = json.Unmarshal(trace.JSON(), &of)
			}
			if err != nil || uint64(of.GasUsed) != want {
				t.Errorf("Helicon %t: a trace with %d gas: %d %v", helicon, gas, of.GasUsed, err)
			}
		}
		all, err := c.Transactions(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		for i, tx := range all {
			used, err := c.UsedGas(t.Context(), tx)
			if charged := tx.Row.GasUsed; err != nil || i != 1 && used != 21_000 || helicon && charged != max(used, tx.Gas()/2) || !helicon && charged != used {
				t.Errorf("Helicon %t: transaction %d used %d and was charged %d: %v", helicon, i, used, charged, err)
			}
		}
	}
}

// TestTheDeepestWords: DUP16 and SWAP16 reach seventeen words, and all of them are in OpenEthereum's steps.
func TestTheDeepestWords(t *testing.T) {
	c := newChosenChain(t, evm.KindL1, false)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tracer := reader.VMTrace
	o := reader.Overrides{State: reader.StateOverrides{bombAddress: {Code: hexData(strings.Repeat("5f", 16) + "8f 9f 7f" + strings.Repeat("ff", 32) + "60ff f5")}}}
	trace, err := c.TraceCall(t.Context(), head, &reader.Call{To: &bombAddress}, o, &reader.TraceConfig{Tracer: &tracer, Newer: true})
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Ops []struct {
			Op string
			Ex *struct{ Push []string }
		}
	}
	if err := json.Unmarshal(trace.JSON(), &all); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]string{16: "DUP16", 17: "SWAP16"} {
		if got := all.Ops[i]; got.Op != want || len(got.Ex.Push) != 17 {
			t.Errorf("%+v, want 17 words of %s", got, want)
		}
	}
	if push := all.Ops[18].Ex.Push; len(push) != 1 || push[0] != "0x"+strings.Repeat("f", 64) {
		t.Errorf("PUSH32 pushes %s", push)
	}
}

// TestRewindsAreRemembered: the newest ones, and how many there were.
func TestRewindsAreRemembered(t *testing.T) {
	c := newChosenChain(t, evm.KindL1, false)
	c.with(1_775_000_010, payment{})
	for i := range 40 {
		all, total := c.Rewinds(0)
		newer, _ := c.Rewinds(uint64(max(i-3, 0)))
		if total != uint64(i) || len(all) != min(i, 16) || len(newer) != min(i, 3) {
			t.Fatalf("after %d: %d, %d and %d", i, total, len(all), len(newer))
		}
		if err := c.Rewound(t.Context(), nil, false); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAmountsThatDoNotFit are refused before anything runs.
func TestAmountsThatDoNotFit(t *testing.T) {
	c := newChosenChain(t, evm.KindL1, false)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	vast := new(big.Int).Lsh(common.Big1, 256)
	for _, n := range []*big.Int{vast, big.NewInt(-1)} {
		number := (*hexutil.Big)(n)
		for name, call := range map[string]*reader.Call{"value": {Value: number}, "gasPrice": {GasPrice: number}, "maxFeePerGas": {MaxFeePerGas: number}, "maxPriorityFeePerGas": {MaxPriorityFeePerGas: number}} {
			if _, err := c.Call(t.Context(), head, call, reader.Overrides{}); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s of %d: %v", name, n, err)
			}
		}
		if _, err := c.Call(t.Context(), head, &reader.Call{}, reader.Overrides{State: reader.StateOverrides{nobody: {Balance: number}}}); err == nil || !strings.Contains(err.Error(), "does not fit 256 bits") {
			t.Errorf("a balance of %d: %v", n, err)
		}
	}
	most := (*hexutil.Big)(new(big.Int).Sub(vast, common.Big1))
	if _, err := c.Simulate(t.Context(), head, reader.Simulation{Blocks: []reader.BlockCalls{{Block: &reader.BlockOverrides{BaseFee: most}}}}); err != nil {
		t.Errorf("the highest base fee: %v", err)
	}
	o := reader.Overrides{State: reader.StateOverrides{bombAddress: {Balance: most, Code: returning("47")}}}
	if result, err := c.Call(t.Context(), head, &reader.Call{To: &bombAddress}, o); err != nil || common.BytesToHash(result.ReturnData) != common.MaxHash {
		t.Errorf("the highest balance: %+v %v", result, err)
	}
}
