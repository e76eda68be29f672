package reader_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"

	"snowglobe/sim/evm/reader"
)

// TestStepsAreLoggedAsGoEthereumDoes executes code with every kind of step, and some at random, under both loggers, and formats go-ethereum's log
// like a node's version (libevm eth/tracers/logger.formatLogs).
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
		for _, options := range []logger.Config{{}, {EnableMemory: true, EnableReturnData: true}, {DisableStack: true, DisableStorage: true}, {Limit: 3}} {
			unlimited := options
			unlimited.Limit = 0
			theirs, ours := logger.NewStructLogger(&unlimited), reader.NewStepLogger(&options, 1<<30)
			hooks := ours.Hooks()
			execute(code, theirs.Hooks())
			execute(code, &hooks)
			raw, err := theirs.GetResult()
			if err != nil {
				t.Fatal(err)
			}
			trace, err := ours.Result()
			if err != nil {
				t.Fatal(err)
			}
			got, want := stepsOf(t, trace.JSON()), stepsOf(t, raw)
			want.asOnANode(&options)
			for i := range got.StructLogs { // go-ethereum does not log a slot that a step failed to read or write
				if got.StructLogs[i].Error != "" {
					got.StructLogs[i].Storage = nil
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s with %+v: %.1000s\nwant\n%.1000s", name, options, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
			}
			if size, held := trace.Size(), trace.Held(); size != len(trace.JSON()) || size > 1<<20 && held > size/4 {
				t.Errorf("%s with %+v: %d bytes, want %d, of which %d are in memory", name, options, size, len(trace.JSON()), held)
			}
		}
	}
}

// steps is a log of steps.
type steps struct {
	Gas         uint64
	Failed      bool
	ReturnValue string
	StructLogs  []struct {
		Pc, Gas, GasCost, Refund uint64
		Depth                    int
		Op, Error, ReturnData    string
		Stack, Memory            *[]string
		Storage                  map[string]string
	}
}

func stepsOf(t *testing.T, raw []byte) *steps {
	t.Helper()
	s := new(steps)
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if err := strict.Decode(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// asOnANode drops prefixes that a node does not write, and the steps beyond the limit.
func (s *steps) asOnANode(options *logger.Config) {
	s.ReturnValue = strings.TrimPrefix(s.ReturnValue, "0x")
	if options.Limit > 0 {
		s.StructLogs = s.StructLogs[:min(len(s.StructLogs), options.Limit)]
	}
	for i := range s.StructLogs {
		step := &s.StructLogs[i]
		if options.EnableMemory && step.Memory == nil {
			step.Memory = &[]string{}
		}
		if step.Memory != nil {
			for j, word := range *step.Memory {
				(*step.Memory)[j] = strings.TrimPrefix(word, "0x")
			}
		}
		if step.Storage != nil {
			plain := map[string]string{}
			for slot, value := range step.Storage {
				plain[strings.TrimPrefix(slot, "0x")] = strings.TrimPrefix(value, "0x")
			}
			step.Storage = plain
		}
	}
}

func execute(code []byte, hooks *tracing.Hooks) {
	// The log contains the code's result.
	_, states, _ := runtime.Execute(code, nil, &runtime.Config{GasLimit: 60_000, EVMConfig: vm.Config{Tracer: hooks}})
	if states != nil {
		hooks.OnTxEnd(&types.Receipt{GasUsed: 21_000}, nil)
	}
}
