package reader_test

import (
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

const (
	loopCode  = "5b600056"                                      // forever
	inputCode = "5b600060006210000060006000611234 5af150600056" // forever: call another contract with a megabyte of input
	deepCode  = "60006000621000006000600030 5af1"               // call itself with a megabyte of memory, as deep as it goes
)

var bombAddress = common.HexToAddress("0xb0b")

func bomb(t *testing.T, code string) (*randomChain, *reader.Block, *reader.Call, reader.Overrides) {
	c := newRandomChain(t, evm.KindC, 1, 1)
	b, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	raw := hexutil.Bytes(common.FromHex(strings.ReplaceAll(code, " ", "")))
	return c, b, &reader.Call{To: &bombAddress}, reader.Overrides{State: reader.StateOverrides{bombAddress: {Code: &raw}}}
}

// TestGasIsBounded calls with the largest gas limit and gets that of Limits.
func TestGasIsBounded(t *testing.T) {
	c, b, call, o := bomb(t, loopCode)
	all := hexutil.Uint64(math.MaxUint64)
	call.Gas = &all
	c.Limits.Time = time.Minute // slow machines need it; this test is about gas
	result, err := c.Call(t.Context(), b, call, o)
	if err != nil || result.Err == nil || result.Err.Error() != "out of gas" || result.UsedGas != c.Limits.Gas {
		t.Errorf("%+v %v", result, err)
	}
}

// TestTimeIsBounded runs endless code in each way that a client can.
func TestTimeIsBounded(t *testing.T) {
	c, b, call, o := bomb(t, loopCode)
	c.Limits.Gas, c.Limits.Time = math.MaxUint64/2, 30*time.Millisecond
	const want = "execution aborted (timeout = 30ms)"
	started := time.Now()
	if _, err := c.Call(t.Context(), b, call, o); err == nil || err.Error() != want {
		t.Error(err)
	}
	if _, _, err := c.Estimate(t.Context(), b, &reader.Call{To: &bombAddress, Gas: (*hexutil.Uint64)(&c.Limits.Gas)}, o); err == nil || err.Error() != want {
		t.Error(err)
	}
	if _, _, err := c.AccessList(t.Context(), b, call, o); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if _, err := c.Simulate(t.Context(), b, reader.Simulation{Blocks: []reader.BlockCalls{{Block: &reader.BlockOverrides{GasLimit: (*hexutil.Uint64)(&c.Limits.Gas)}, State: o.State, Calls: []reader.Call{{To: &bombAddress}}}}}); err == nil || err.Error() != want {
		t.Error(err)
	}
	long, tracer := "1h", "callTracer"
	if _, err := c.TraceCall(t.Context(), b, call, o, &reader.TraceConfig{Tracer: &tracer, Timeout: &long}); err == nil || err.Error() != "execution timeout" {
		t.Error(err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestTracesAreBounded records steps and calls until the limit.
func TestTracesAreBounded(t *testing.T) {
	tracer, steps, diff := "callTracer", reader.VMTrace, reader.StateDiff
	for name, bad := range map[string]struct {
		code   string
		config *reader.TraceConfig
	}{
		"steps": {loopCode, nil}, "input": {inputCode, &reader.TraceConfig{Tracer: &tracer}}, "steps of a replay": {loopCode, &reader.TraceConfig{Tracer: &steps, Newer: true}},
	} {
		c, b, call, o := bomb(t, bad.code)
		c.Limits.Trace, c.Limits.Time = 1<<20, time.Minute // slow machines need it; this test is about bytes
		if _, err := c.TraceCall(t.Context(), b, call, o, bad.config); err == nil || !strings.HasPrefix(err.Error(), "the trace is larger than 1048576 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, b, call, o := bomb(t, loopCode)
	c.Limits.Trace, c.Limits.Time = 1<<20, time.Minute
	if _, err := c.TraceCall(t.Context(), b, call, o, &reader.TraceConfig{Tracer: &diff, Newer: true}); err != nil {
		t.Errorf("many steps that change nothing: %v", err)
	}
}

// TestMemoryIsBounded executes code that uses as much memory as its gas allows.
func TestMemoryIsBounded(t *testing.T) {
	c, b, call, o := bomb(t, deepCode)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := c.Call(t.Context(), b, call, o); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken < 8<<20 || taken > 256<<20 {
		t.Errorf("took %d MiB", taken>>20)
	}
}

// TestTraceOfBlockAgreesWithReceipts executes blocks again and finds the gas in the receipts.
func TestTraceOfBlockAgreesWithReceipts(t *testing.T) {
	for _, kind := range []evm.Kind{evm.KindC, evm.KindL1} {
		c := newRandomChain(t, kind, 3, 8)
		tracer := "callTracer"
		for number := uint64(1); number <= 8; number++ {
			b, err := c.Block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			transactions, err := c.Transactions(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			traces, err := c.TraceBlock(t.Context(), b, &reader.TraceConfig{Tracer: &tracer})
			if err != nil || len(traces) != len(transactions) {
				t.Fatal(len(traces), err)
			}
			for i, trace := range traces {
				var frame struct{ GasUsed hexutil.Uint64 }
				if err := json.Unmarshal(trace.Trace.JSON(), &frame); err != nil || uint64(frame.GasUsed) != transactions[i].Row.GasUsed {
					t.Errorf("block %d, transaction %d: %d gas, receipt says %d", number, i, frame.GasUsed, transactions[i].Row.GasUsed)
				}
			}
		}
	}
}
