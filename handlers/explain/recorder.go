package explain

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/handlers/artifacts"
	"snowglobe/sim/evm"
)

// Bounds of a record.
const (
	mostFrames  = 10_000
	mostKept    = 16 << 20 // bytes of input and output
	mostConsole = 1_000    // messages
	mostJumps   = 1_024    // the stack of the EVM allows no more
)

// frame is a call of a contract, a creation or a self-destruction.
type frame struct {
	kind     vm.OpCode
	from, to common.Address
	input    []byte
	value    *big.Int
	gas      uint64
	output   []byte
	used     uint64
	err      error
	calls    []*frame
	events   []event
	logs     int // of the execution before it

	entered  bool // whether code ran
	contract *artifacts.Contract
	program  *artifacts.Program // nil if nothing is known of the code

	levels []level // of functions that have begun and not ended; the first is that of the function called
	real   int     // the latest one that is a function of a source, not one that the compiler made
	last   uint64  // the latest instruction
	inside uint64  // the latest instruction whose place is a part of a function
	placed bool    // whether there was one
	steps  int

	cause    string         // what the source has where the frame failed, as of recorder.cause
	sized    int            // the step at which EXTCODESIZE told the size of empty
	empty    common.Address // an account without code
	asked    common.Address // of the EXTCODESIZE under way
	asking   bool
	returned int // the step after the latest call
}

// level is a function that has begun, with the functions that the compiler put into it.
type level struct {
	site     uint64 // the jump
	entry    uint64 // its target
	function int32  // as of Program.Whole; 0 if the compiler made it
	real     int    // as of frame, below this level
	trails   []trail
	tested   int32  // the function of the latest JUMPI; 0 for none
	called   string // name of the function, of the first level
}

// trail is what has run of the source of one function.
type trail struct {
	function int32
	last     uint64 // the latest instruction
	test     uint64 // the latest JUMPI
	tested   bool   // whether there was one
	after    uint64 // the latest instruction since then that is not before it in the source
	advanced bool   // whether there was one
}

// mostTrails bounds the functions whose code runs in one level.
const mostTrails = 16

// event is a log.
type event struct {
	address common.Address
	topics  []common.Hash
	data    []byte
}

// message is what a contract logged to the console.
type message struct {
	by   *frame
	at   *artifacts.Place // nil if unknown
	text string
}

// recorder records an execution. Its hooks bound what they keep.
type recorder struct {
	registry *artifacts.Registry
	root     *frame
	open     []*frame
	frames   int
	kept     int
	console  []message
	logs     []emitted       // in order, without those of calls that failed
	programs map[*byte]known // by code: it does not move while the execution runs
}

// emitted is a log with the call that emitted it.
type emitted struct {
	by  *frame
	log event
}

// known is what is known of code.
type known struct {
	contract *artifacts.Contract
	program  *artifacts.Program
}

func newRecorder(r *artifacts.Registry) *recorder {
	return &recorder{registry: r, programs: map[*byte]known{}}
}

func (r *recorder) hooks() *tracing.Hooks {
	return &tracing.Hooks{OnEnter: r.enter, OnExit: r.exit, OnOpcode: r.step, OnFault: r.fault, OnLog: r.log}
}

func (r *recorder) keep(b []byte) []byte {
	if r.kept += len(b); r.kept > mostKept {
		return nil
	}
	return bytes.Clone(b)
}

func (r *recorder) top() *frame {
	if len(r.open) == 0 {
		return nil
	}
	return r.open[len(r.open)-1]
}

func (r *recorder) enter(_ int, kind byte, from, to common.Address, input []byte, gas uint64, value *big.Int) {
	f := &frame{kind: vm.OpCode(kind), from: from, to: to, gas: gas, value: value, logs: len(r.logs)}
	r.frames++
	by := r.top()
	switch {
	case by == nil:
		r.root = f
	case r.frames <= mostFrames:
		by.calls = append(by.calls, f)
	}
	if r.frames <= mostFrames {
		f.input = r.keep(input)
	}
	if by != nil && to == evm.ConsoleAddress && len(r.console) < mostConsole {
		if text, ok := consoleText(input); ok {
			r.console = append(r.console, message{by, by.caller(), text})
		}
	}
	r.open = append(r.open, f)
}

func (r *recorder) exit(_ int, output []byte, used uint64, err error, _ bool) {
	f := r.top()
	if f == nil {
		return
	}
	r.open = r.open[:len(r.open)-1]
	f.used, f.err = used, err
	if err != nil {
		r.logs = r.logs[:min(f.logs, len(r.logs))]
	}
	if r.frames <= mostFrames || err != nil {
		f.output = r.keep(output)
	}
	if by := r.top(); by != nil {
		by.returned = by.steps
	}
}

func (r *recorder) log(l *types.Log) {
	if f := r.top(); f != nil && r.frames <= mostFrames && len(f.events) < mostConsole {
		e := event{l.Address, l.Topics, r.keep(l.Data)}
		f.events, r.logs = append(f.events, e), append(r.logs, emitted{f, e})
	}
}

func (r *recorder) fault(pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, depth int, err error) {
	if f := r.top(); f != nil && f.entered && f.last != pc {
		f.at(pc)
	}
}

func (r *recorder) step(pc uint64, op byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, _ error) {
	f := r.top()
	if f == nil {
		return
	}
	if !f.entered {
		f.entered = true
		k := r.know(scope, f)
		f.contract, f.program, f.levels = k.contract, k.program, []level{{}}
	}
	if f.program == nil {
		return
	}
	f.at(pc)
	stack := scope.StackData()
	if f.asking {
		f.asking = false
		if n := len(stack); n > 0 && stack[n-1].IsZero() {
			f.sized, f.empty = f.steps, f.asked
		}
	}
	switch vm.OpCode(op) {
	case vm.JUMP:
		if len(stack) > 0 {
			f.jump(pc, stack[len(stack)-1].Uint64())
		}
	case vm.JUMPI:
		if t := f.trail(f.program.Inside(pc)); t != nil {
			t.test, t.tested, t.advanced = pc, true, false
			f.levels[f.real].tested = t.function
		}
	case vm.EXTCODESIZE:
		if len(stack) > 0 {
			f.asked, f.asking = common.Address(stack[len(stack)-1].Bytes20()), true
		}
	}
}

// know finds the contract of code that begins to run.
func (r *recorder) know(scope tracing.OpContext, f *frame) known {
	coded, ok := scope.(interface{ ContractCode() []byte })
	if !ok || r.registry == nil {
		return known{}
	}
	code := coded.ContractCode()
	if len(code) == 0 {
		return known{}
	}
	if k, found := r.programs[&code[0]]; found {
		return k
	}
	var k known
	creation := f.kind == vm.CREATE || f.kind == vm.CREATE2
	if creation {
		k.contract = r.registry.Creation(code)
	} else {
		k.contract = r.registry.Runtime(code)
	}
	if k.contract != nil {
		k.program, _ = k.contract.Program(creation) // without one the explanation has no lines, and says so
	}
	r.programs[&code[0]] = k
	return k
}

// at notes the instruction that runs next.
func (f *frame) at(pc uint64) {
	f.steps++
	f.last = pc
	if f.program == nil {
		return
	}
	function := f.program.Inside(pc)
	if function == 0 {
		return
	}
	f.inside, f.placed = pc, true
	t := f.trail(function)
	if t == nil {
		return
	}
	t.last = pc
	if t.tested && f.program.Start(pc) >= f.program.Start(t.test) {
		t.after, t.advanced = pc, true
	}
}

// trail returns what has run of a function in the present level; nil if there are too many.
func (f *frame) trail(function int32) *trail {
	if function == 0 {
		return nil
	}
	of := &f.levels[f.real]
	if t := of.trailOf(function); t != nil {
		return t
	}
	if len(of.trails) == mostTrails {
		return nil
	}
	of.trails = append(of.trails, trail{function: function})
	return &of.trails[len(of.trails)-1]
}

// trailOf returns what has run of a function in a level, nil if nothing has.
func (l *level) trailOf(function int32) *trail {
	if i := slices.IndexFunc(l.trails, func(t trail) bool { return t.function == function }); i >= 0 {
		return &l.trails[i]
	}
	return nil
}

// jump follows the compiler's marks of jumps into and out of functions.
func (f *frame) jump(pc, target uint64) {
	switch f.program.Jump(pc) {
	case 'i':
		if len(f.levels) < mostJumps {
			l := level{site: pc, entry: target, function: f.program.Whole(target), real: f.real}
			f.levels = append(f.levels, l)
			if l.function != 0 {
				f.real = len(f.levels) - 1
			}
		}
	case 'o':
		if n := len(f.levels); n > 1 {
			f.real = f.levels[n-1].real
			f.levels = f.levels[:n-1]
		}
	}
}

// caller returns the place of the latest instruction in the contract's own code: the innermost function of the contract itself, rather than of
// the library that it logs with.
func (f *frame) caller() *artifacts.Place {
	if f.program == nil || !f.placed {
		return nil
	}
	at := f.program.Place(f.inside)
	for i := len(f.levels) - 1; i > 0 && isConsole(at); i-- {
		if f.program.Inside(f.levels[i].site) != 0 {
			at = f.program.Place(f.levels[i].site)
		}
	}
	for trails := f.levels[f.real].trails; isConsole(at) && len(trails) > 0; trails = trails[1:] {
		at = f.program.Place(trails[0].last) // the compiler put the library's code into the function
	}
	if isConsole(at) {
		return nil
	}
	return at
}

// isConsole reports whether a place is in the library that sends messages to the console.
func isConsole(at *artifacts.Place) bool {
	return strings.HasPrefix(strings.ToLower(at.Contract), "console")
}
