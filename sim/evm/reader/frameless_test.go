package reader_test

import (
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
)

// TestCallsStartAgain: code that writes, and only then calls a stateful precompile, which needs call frames, writes once, and its gas counts once.
func TestCallsStartAgain(t *testing.T) {
	c, _ := newWarpChain(t, false)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const (
		count  = "600054600101600055" // add 1 to the first slot
		answer = "60005460005260206000f3"
	)
	ask := "63" + common.Bytes2Hex(precompile.PackInput("getBlockchainID()")) + "60e01b600052" + "6020600060046000" + "73" + common.Bytes2Hex(precompile.WarpAddress[:]) + "5afa50"
	used := map[string]uint64{}
	for name, code := range map[string]string{"alone": count + answer, "with a precompile": count + ask + answer} {
		raw := hexutil.Bytes(common.FromHex(code))
		o := reader.Overrides{State: reader.StateOverrides{bombAddress: {Code: &raw}}}
		result, err := c.Call(t.Context(), head, &reader.Call{To: &bombAddress}, o)
		if err != nil || result.Err != nil || common.BytesToHash(result.ReturnData) != (common.Hash{31: 1}) {
			t.Fatalf("%s: %x %v %v", name, result.ReturnData, result.Err, err)
		}
		used[name] = result.UsedGas
		if gas, failed, err := c.Estimate(t.Context(), head, &reader.Call{To: &bombAddress}, o); err != nil || failed != nil || gas < result.UsedGas || gas > result.UsedGas*102/100 {
			t.Errorf("%s: estimated %d, used %d: %v %v", name, gas, result.UsedGas, failed, err)
		}
	}
	if more := used["with a precompile"] - used["alone"]; more < 2_600 || more > 6_000 {
		t.Errorf("asking a precompile costs %d gas", more)
	}
}

// TestWarmAddresses: reading an account is cheap at the addresses that are warm when a transaction begins (EIP-2929), including the stateless
// precompiles, and costs 2,600 gas elsewhere.
func TestWarmAddresses(t *testing.T) {
	c, _ := newWarpChain(t, false)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[common.Address]uint64{
		{19: 4}: 100, {18: 1}: 100, bombAddress: 100, {19: 0xee}: 2_600, precompile.WarpAddress: 2_600,
	} {
		const cheap = 2 + 3 + 2 // GAS twice, PUSH20, POP
		raw := hexutil.Bytes(common.FromHex(fmt.Sprintf("5a73%x31505a900360005260206000f3", address)))
		result, err := c.Call(t.Context(), head, &reader.Call{To: &bombAddress}, reader.Overrides{State: reader.StateOverrides{bombAddress: {Code: &raw}}})
		if err != nil || result.Err != nil {
			t.Fatal(result, err)
		}
		if got := common.BytesToHash(result.ReturnData).Big().Uint64() - cheap; got != want {
			t.Errorf("%s costs %d gas, want %d", address, got, want)
		}
	}
}
