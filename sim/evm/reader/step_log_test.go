package reader_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"

	"snowglobe/sim/evm/reader"
)

// TestStepsAreLoggedAsGoEthereumDoes executes code of every kind of step, and some at random, under both loggers.
func TestStepsAreLoggedAsGoEthereumDoes(t *testing.T) {
	codes := map[string][]byte{
		"nothing": nil, "storage": common.FromHex("0x60015f5560025f555f5460ff6001555f54600154015f5260205ff3"), "revert": common.FromHex("0x602a5f5260205ffd"),
		"too small a stack": {byte(vm.ADD)}, "an unknown opcode": {0x0c}, "memory and what was returned": common.FromHex("0x61ffff60215260ff5f5260215f60215f5f60045af13d5f5f3e60215ff3"),
		"a refund": common.FromHex("0x60015f555f5f5500"), "a loop without end": common.FromHex("0x5b600056"), "itself": common.FromHex("0x5f5f5f5f5f305af1"),
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		code := make([]byte, 40)
		for i := range code {
			code[i] = byte(random.UintN(256))
			if random.UintN(2) == 0 {
				code[i] = byte(vm.PUSH1)
			}
		}
		codes[fmt.Sprint("random ", n)] = code
	}
	for name, code := range codes {
		for _, options := range []logger.Config{{}, {EnableMemory: true, EnableReturnData: true}, {DisableStack: true, DisableStorage: true}, {Limit: 700}} {
			theirs, ours := logger.NewStructLogger(&options), reader.NewStepLogger(&options)
			hooks := ours.Hooks()
			execute(code, theirs.Hooks())
			execute(code, &hooks)
			want, err := theirs.GetResult()
			if err != nil {
				t.Fatal(err)
			}
			got, err := ours.Result()
			if want = bytes.Replace(want, []byte(`"returnValue":"0x`), []byte(`"returnValue":"`), 1); err != nil || !bytes.Equal(got.JSON(), want) {
				t.Errorf("%s with %+v: %v\n%.1000s\nwant\n%.1000s", name, options, err, got.JSON(), want)
			}
			if size, held := got.Size(), got.Held(); size != len(want) || size > 1<<20 && held > size/4 {
				t.Errorf("%s with %+v: %d bytes, want %d, of which %d are in memory", name, options, size, len(want), held)
			}
		}
	}
}

func execute(code []byte, hooks *tracing.Hooks) {
	// What the code comes to is in the log.
	_, states, _ := runtime.Execute(code, nil, &runtime.Config{GasLimit: 60_000, EVMConfig: vm.Config{Tracer: hooks}})
	if states != nil {
		hooks.OnTxEnd(&types.Receipt{GasUsed: 21_000}, nil)
	}
}
