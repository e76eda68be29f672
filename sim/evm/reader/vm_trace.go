package reader

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/holiman/uint256"
)

// vmTracer writes OpenEthereum's vmTrace: every step with what it pushed and wrote, and with the steps of the call that it made. A step is
// complete when the next one of its frame begins, so the JSON grows in one piece.
type vmTracer struct {
	w       *boundedTracer
	states  tracing.StateDB
	builtIn func(common.Address) bool // whether an address has a precompile, which has no steps
	json    []byte
	frames  []vmFrame // open ones, the outermost first
}

type vmFrame struct {
	silent bool // of a precompile or a SELFDESTRUCT: not in the trace
	steps  int
	step   vmStep // the newest one
}

// vmStep is a step whose effects are not written yet.
type vmStep struct {
	left       uint64 // gas after it, unless the next step says otherwise
	pushes     int
	memory     int // offset and size of what it writes
	size       int
	key, value uint256.Int // what it stores
	stores     bool
	called     bool // its call is written
	failed     bool
}

const vmStepBytes = 96 // of a step without what it pushed and wrote

func (w *boundedTracer) vmTracer(x *execution) *tracers.Tracer {
	t := &vmTracer{w: w, builtIn: x.precompilesAt().Has}
	return &tracers.Tracer{
		Hooks: &tracing.Hooks{
			OnTxStart: func(env *tracing.VMContext, _ *types.Transaction, _ common.Address) { t.states = env.StateDB },
			OnEnter:   t.enter, OnExit: t.exit, OnOpcode: t.begin,
			OnFault: func(_ uint64, _ byte, _, _ uint64, _ tracing.OpContext, _ int, err error) {
				t.top().step.failed = !errors.Is(err, vm.ErrExecutionReverted)
			},
		},
		GetResult: func() (json.RawMessage, error) {
			if reason := w.stopped.Load(); reason != nil {
				return nil, *reason
			}
			return t.json, nil
		},
		Stop: func(error) {},
	}
}

func (t *vmTracer) top() *vmFrame { return &t.frames[len(t.frames)-1] }

func (t *vmTracer) enter(depth int, kind byte, _, to common.Address, input []byte, _ uint64, _ *big.Int) {
	op := vm.OpCode(kind)
	frame, code := vmFrame{silent: op == vm.SELFDESTRUCT || depth > 0 && t.builtIn(to)}, input
	if !frame.silent {
		if op != vm.CREATE && op != vm.CREATE2 {
			code = t.states.GetCode(to)
		}
		if t.w.add(vmStepBytes + 2*len(code)) {
			if depth > 0 {
				t.top().step.called = true
			}
			t.json = append(hex.AppendEncode(append(t.json, `{"code":"0x`...), code), `","ops":[`...)
		}
	}
	t.frames = append(t.frames, frame)
}

func (t *vmTracer) exit(int, []byte, uint64, error, bool) {
	frame := t.top()
	if !frame.silent && t.w.stopped.Load() == nil {
		t.end(frame, frame.step.left, nil)
		t.json = append(t.json, "]}"...)
	}
	t.frames = t.frames[:len(t.frames)-1]
}

// begin writes what is known of a step before it is executed.
func (t *vmTracer) begin(pc uint64, code byte, gas, cost uint64, scope tracing.OpContext, _ []byte, _ int, err error) {
	frame, op := t.top(), vm.OpCode(code)
	t.end(frame, gas, scope)
	if frame.steps++; frame.steps > 1 {
		t.json = append(t.json, ',')
	}
	s := vmStep{left: gas - min(gas, cost), pushes: pushedBy(op), failed: err != nil}
	stack := scope.StackData()
	if op == vm.SSTORE && len(stack) >= 2 {
		s.stores, s.key, s.value = true, stack[len(stack)-1], stack[len(stack)-2]
	}
	s.memory, s.size = writtenBy(op, stack)
	frame.step = s
	if !t.w.add(vmStepBytes) {
		return
	}
	t.json = strconv.AppendUint(append(t.json, `{"cost":`...), cost, 10)
	t.json = append(append(append(t.json, `,"op":"`...), op.String()...), `","pc":`...)
	t.json = append(strconv.AppendUint(t.json, pc, 10), `,"sub":`...)
}

// end writes the effects of a frame's newest step, with the gas, stack and memory after it.
func (t *vmTracer) end(frame *vmFrame, left uint64, after tracing.OpContext) {
	if frame.steps == 0 || t.w.stopped.Load() != nil {
		return
	}
	s := &frame.step
	if !s.called {
		t.json = append(t.json, "null"...)
	}
	if s.failed {
		t.json = append(t.json, `,"ex":null}`...)
		return
	}
	t.json = append(t.json, `,"ex":{"mem":`...)
	var written []byte
	var pushed []uint256.Int
	if after != nil {
		memory, stack := after.MemoryData(), after.StackData()
		if s.size > 0 && s.memory+s.size <= len(memory) {
			written = memory[s.memory : s.memory+s.size]
		}
		pushed = stack[len(stack)-min(len(stack), s.pushes):]
	}
	if !t.w.add(2*len(written) + wordBytes*len(pushed)) {
		return
	}
	if written == nil {
		t.json = append(t.json, "null"...)
	} else {
		t.json = append(hex.AppendEncode(append(t.json, `{"data":"0x`...), written), `","off":`...)
		t.json = append(strconv.AppendInt(t.json, int64(s.memory), 10), '}')
	}
	t.json = append(t.json, `,"push":[`...)
	for i := range pushed {
		t.json = append(appendWord(append(comma(t.json, i), '"'), &pushed[i]), '"')
	}
	t.json = append(t.json, `],"store":`...)
	if s.stores {
		t.json = append(appendWord(append(t.json, `{"key":"`...), &s.key), `","val":"`...)
		t.json = append(appendWord(t.json, &s.value), `"}`...)
	} else {
		t.json = append(t.json, "null"...)
	}
	t.json = append(strconv.AppendUint(append(t.json, `,"used":`...), left, 10), "}}"...)
}

// silentOps lists the steps that push nothing.
var silentOps = []vm.OpCode{
	vm.STOP, vm.POP, vm.MSTORE, vm.MSTORE8, vm.SSTORE, vm.TSTORE, vm.JUMP, vm.JUMPI, vm.JUMPDEST, vm.CALLDATACOPY, vm.CODECOPY, vm.EXTCODECOPY,
	vm.RETURNDATACOPY, vm.MCOPY, vm.LOG0, vm.LOG1, vm.LOG2, vm.LOG3, vm.LOG4, vm.RETURN, vm.REVERT, vm.INVALID, vm.SELFDESTRUCT,
}

// pushedBy returns how many words of the stack a step leaves new or in another place, as OpenEthereum counts them: DUP and SWAP count all
// that they reach.
func pushedBy(op vm.OpCode) int {
	switch {
	case op >= vm.DUP1 && op <= vm.DUP16:
		return int(op-vm.DUP1) + 2
	case op >= vm.SWAP1 && op <= vm.SWAP16:
		return int(op-vm.SWAP1) + 2
	case slices.Contains(silentOps, op):
		return 0
	}
	return 1
}

// memoryOf lists the steps that write to memory, with the places on the stack of the offset and the size; a size of -1 is a word's.
var memoryOf = map[vm.OpCode][2]int{
	vm.MSTORE: {0, -1}, vm.MLOAD: {0, -1}, vm.CALLDATACOPY: {0, 2}, vm.CODECOPY: {0, 2}, vm.RETURNDATACOPY: {0, 2}, vm.MCOPY: {0, 2}, vm.EXTCODECOPY: {1, 3},
	vm.CALL: {5, 6}, vm.CALLCODE: {5, 6}, vm.DELEGATECALL: {4, 5}, vm.STATICCALL: {4, 5},
}

// writtenBy returns the part of memory that a step writes, as OpenEthereum has it: MLOAD counts, as it may make the memory grow.
func writtenBy(op vm.OpCode, stack []uint256.Int) (offset, size int) {
	places, writes := memoryOf[op]
	word := func(place int) int {
		if place >= len(stack) || !stack[len(stack)-1-place].IsUint64() {
			return -1
		}
		return int(min(stack[len(stack)-1-place].Uint64(), 1<<32))
	}
	switch {
	case op == vm.MSTORE8:
		offset, size = word(0), 1
	case !writes:
		return 0, 0
	case places[1] < 0:
		offset, size = word(0), common.HashLength
	default:
		offset, size = word(places[0]), word(places[1])
	}
	if offset < 0 || size < 0 {
		return 0, 0
	}
	return offset, size
}
