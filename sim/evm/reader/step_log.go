package reader

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"
	"github.com/holiman/uint256"
	"github.com/klauspost/compress/s2"
)

// stepPart is the size in bytes of one part of a log.
const stepPart = 64 << 10

// StepLogger logs every step of a transaction with the options and output of a node's StructLogger (libevm eth/tracers/logger), which keeps
// each step separately and encodes them all repeatedly at the end: a log of megabytes would take five times as much memory while it is made.
type StepLogger struct {
	options logger.Config // Limit counts steps, as on a node
	most    int           // bytes; more are not kept
	count   int           // steps
	states  tracing.StateDB
	refund  func() uint64                                  // the gas to be refunded; by default what the EVM sees
	storage map[common.Address]map[common.Hash]common.Hash // slots that steps read or wrote, by contract
	parts   Trace                                          // all but the newest steps, packed
	last    []byte                                         // the newest steps as JSON
	packing []byte                                         // buffer for packing
	size    int                                            // of all steps, without the commas between them
	output  []byte
	err     error
	used    uint64 // gas
	reason  atomic.Pointer[error]
}

// NewStepLogger makes a logger with a node's options that keeps about so many bytes at most.
func NewStepLogger(options *logger.Config, most int) *StepLogger {
	return &StepLogger{options: *options, most: most, storage: map[common.Address]map[common.Hash]common.Hash{}}
}

// Hooks returns the hooks of the transaction to log.
func (l *StepLogger) Hooks() tracing.Hooks {
	return tracing.Hooks{
		OnTxStart: func(env *tracing.VMContext, _ *types.Transaction, _ common.Address) {
			if l.states = env.StateDB; l.refund == nil {
				l.refund = env.StateDB.GetRefund
			}
		},
		OnTxEnd: func(receipt *types.Receipt, err error) {
			if l.err == nil {
				l.err = err
			}
			if receipt != nil && err == nil {
				l.used = receipt.GasUsed
			}
		},
		OnExit: func(depth int, output []byte, _ uint64, err error, _ bool) {
			if depth == 0 {
				l.output, l.err = output, err
			}
		},
		OnOpcode: l.step,
	}
}

// whole reports whether the log has as many steps as the client wants.
func (l *StepLogger) whole() bool { return l.options.Limit > 0 && l.count >= l.options.Limit }

// stop ends the log; the result is then the reason.
func (l *StepLogger) stop(reason error) { l.reason.Store(&reason) }

func (l *StepLogger) step(pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, returned []byte, depth int, err error) {
	if l.reason.Load() != nil || l.size > l.most || l.whole() {
		return
	}
	l.count++
	if l.last == nil {
		l.last = make([]byte, 0, stepPart)
	}
	if len(l.last) > stepPart-stepPart/8 {
		l.pack()
	}
	if l.size > 0 {
		l.last = append(l.last, ',')
	}
	begin := len(l.last)
	w := append(l.last, `{"pc":`...)
	w = strconv.AppendUint(w, pc, 10)
	w = append(append(w, `,"op":"`...), vm.OpCode(op).String()...)
	w = strconv.AppendUint(append(w, `","gas":`...), gas, 10)
	w = strconv.AppendUint(append(w, `,"gasCost":`...), cost, 10)
	w = strconv.AppendInt(append(w, `,"depth":`...), int64(depth), 10)
	if err != nil && err.Error() != "" {
		text, _ := json.Marshal(err.Error()) // a string always marshals
		w = append(append(w, `,"error":`...), text...)
	}
	if stack := scope.StackData(); stack != nil && !l.options.DisableStack {
		w = append(w, `,"stack":[`...)
		for i := range stack {
			w = append(appendWord(append(comma(w, i), '"'), &stack[i]), '"')
		}
		w = append(w, ']')
	}
	if l.options.EnableReturnData && len(returned) > 0 {
		w = append(hex.AppendEncode(append(w, `,"returnData":"0x`...), returned), '"')
	}
	if memory := scope.MemoryData(); l.options.EnableMemory {
		w = append(w, `,"memory":[`...)
		for i := 0; i+common.HashLength <= len(memory); i += common.HashLength {
			w = append(hex.AppendEncode(append(comma(w, i), '"'), memory[i:i+common.HashLength]), '"')
		}
		w = append(w, ']')
	}
	if !l.options.DisableStorage {
		w = l.appendStorage(w, vm.OpCode(op), scope)
	}
	if refund := l.refund(); refund != 0 {
		w = strconv.AppendUint(append(w, `,"refund":`...), refund, 10)
	}
	l.last = append(w, '}')
	l.size += len(l.last) - begin
}

// pack makes room for more steps.
func (l *StepLogger) pack() {
	if l.packing == nil {
		l.packing = make([]byte, s2.MaxEncodedLen(stepPart))
	}
	l.parts = append(l.parts, TracePart{slices.Clone(s2.Encode(l.packing, l.last)), len(l.last)})
	l.last = l.last[:0]
}

// appendWord writes a number as hex without leading zeros.
func appendWord(w []byte, n *uint256.Int) []byte {
	word := n.Bytes32()
	digits := max(1, (n.BitLen()+3)/4)
	w = append(w, "0x"...)
	if digits%2 == 1 {
		w = strconv.AppendUint(w, uint64(word[len(word)-1-digits/2]), 16)
	}
	return hex.AppendEncode(w, word[len(word)-digits/2:])
}

func comma(w []byte, i int) []byte {
	if i > 0 {
		return append(w, ',')
	}
	return w
}

// appendStorage writes, with a step that reads or writes a contract's storage, all slots that steps so far read or wrote there.
func (l *StepLogger) appendStorage(w []byte, op vm.OpCode, scope tracing.OpContext) []byte {
	stack, address := scope.StackData(), scope.Address()
	last := func(n int) common.Hash { return stack[len(stack)-n].Bytes32() }
	if op != vm.SLOAD && op != vm.SSTORE {
		return w
	}
	known := l.storage[address]
	if known == nil {
		known = map[common.Hash]common.Hash{}
		l.storage[address] = known
	}
	switch {
	case op == vm.SLOAD && len(stack) >= 1:
		known[last(1)] = l.states.GetState(address, last(1))
	case op == vm.SSTORE && len(stack) >= 2:
		known[last(1)] = last(2)
	default:
		return w
	}
	w = append(w, `,"storage":{`...)
	for i, slot := range slices.SortedFunc(maps.Keys(known), common.Hash.Cmp) {
		value := known[slot]
		w = hex.AppendEncode(append(comma(w, i), '"'), slot[:])
		w = append(hex.AppendEncode(append(w, `":"`...), value[:]), '"')
	}
	return append(w, '}')
}

// Result returns the log. Return data has no 0x prefix, as in a node's answer.
func (l *StepLogger) Result() (Trace, error) {
	if reason := l.reason.Load(); reason != nil {
		return nil, *reason
	}
	output := l.output
	if l.err != nil && !errors.Is(l.err, vm.ErrExecutionReverted) {
		output = nil
	}
	head := strconv.AppendUint([]byte(`{"gas":`), l.used, 10)
	head = strconv.AppendBool(append(head, `,"failed":`...), l.err != nil)
	head = append(hex.AppendEncode(append(head, `,"returnValue":"`...), output), `","structLogs":[`...)
	return slices.Concat(Trace{PlainPart(head)}, l.parts, Trace{PlainPart(append(l.last, "]}"...))}), nil
}
