package reader

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/ethereum/go-ethereum/params"
)

// opcodeGas is how often an opcode was executed, and the gas that all its executions cost.
type opcodeGas struct {
	Opcode  string `json:"opcode"`
	Count   uint64 `json:"count"`
	GasUsed uint64 `json:"gasUsed"`
}

// newOpcodeGas makes a tracer that counts opcodes and their gas, as reth's trace_transactionOpcodeGas does: a call costs what it does without
// the gas that it passes on.
func newOpcodeGas() *tracers.Tracer {
	var all [256]opcodeGas
	var last byte
	return &tracers.Tracer{
		Hooks: &tracing.Hooks{
			OnOpcode: func(_ uint64, op byte, _, cost uint64, _ tracing.OpContext, _ []byte, _ int, _ error) {
				all[op].Count++
				all[op].GasUsed += cost
				last = op
			},
			OnEnter: func(depth int, kind byte, _, _ common.Address, _ []byte, gas uint64, value *big.Int) {
				switch op := vm.OpCode(kind); {
				case depth == 0:
				case op == vm.CALL || op == vm.CALLCODE:
					if value.Sign() > 0 {
						gas -= params.CallStipend // which nobody paid for
					}
					fallthrough
				case op == vm.DELEGATECALL || op == vm.STATICCALL:
					all[last].GasUsed -= gas
				}
			},
		},
		GetResult: func() (json.RawMessage, error) {
			found := []opcodeGas{}
			for op := range all {
				if all[op].Count > 0 {
					all[op].Opcode = vm.OpCode(op).String()
					found = append(found, all[op])
				}
			}
			slices.SortFunc(found, func(a, b opcodeGas) int { return cmp.Compare(a.Opcode, b.Opcode) })
			return json.Marshal(found)
		},
		Stop: func(error) {},
	}
}
