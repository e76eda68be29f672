package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"
	"github.com/ethereum/go-ethereum/eth/tracers/native"
)

// The tracers that a node registers by name (libevm eth/tracers/native and js): those in Go, and the scripts. Any other name is a client's script. muxTracer runs several
// others.
var (
	nativeTracers = []string{"4byteTracer", "callTracer", "flatCallTracer", "noopTracer", "prestateTracer"}
	scriptTracers = []string{"4byteTracerLegacy", "bigramTracer", "callTracerLegacy", "evmdisTracer", "noopTracerLegacy", "opcountTracer",
		"prestateTracerLegacy", "trigramTracer", "unigramTracer"}
)

const muxTracer = "muxTracer"

// The tracers that other nodes have: not for clients of the namespace debug, but with TraceConfig.Newer.
const (
	VMTrace   = "vmTrace"
	StateDiff = "stateDiff"
	OpcodeGas = "opcodeGas"
)

// Memory of the parts of a trace: a call without its input and output, a step without its stack, a word of the stack.
const (
	frameBytes = 256
	stepBytes  = 48
	wordBytes  = 6
)

func errTraceSize(limit int) error {
	return fmt.Errorf("the trace is larger than %d bytes; choose a tracer or options that record less", limit)
}

// boundedTracer stops a tracer when its record outgrows the limit.
type boundedTracer struct {
	*tracers.Tracer
	hooks   *tracing.Hooks
	cancel  func()      // stops the EVM
	steps   *StepLogger // replaces go-ethereum's tracer
	scripts bool        // at least one tracer is a script
	newer   bool        // as in TraceConfig
	stopped atomic.Pointer[error]
	size    int
	limit   int
}

func (x *execution) boundedTracer(ctx context.Context, config *TraceConfig, at *tracers.Context) (*boundedTracer, error) {
	w := &boundedTracer{limit: x.chain.Limits.Trace}
	if config == nil {
		config = &TraceConfig{}
	}
	if config.Observer != nil {
		w.hooks = config.Observer
		w.Tracer = &tracers.Tracer{Hooks: w.hooks, GetResult: func() (json.RawMessage, error) { return nil, nil }, Stop: func(error) {}}
		return w, nil
	}
	if config.Tracer == nil {
		return w.logSteps(x, config.Config), nil
	}
	w.newer = config.Newer
	var err error
	if w.Tracer, err = w.named(ctx, x, *config.Tracer, at, config.TracerConfig); err != nil {
		return nil, err
	}
	w.hooks = w.Tracer.Hooks
	return w, nil
}

// named makes the tracer for a name or a script.
func (w *boundedTracer) named(ctx context.Context, x *execution, name string, at *tracers.Context, config json.RawMessage) (*tracers.Tracer, error) {
	switch {
	case name == muxTracer:
		return w.mux(ctx, x, at, config)
	case w.newer && name == VMTrace:
		return w.vmTracer(x), nil
	case w.newer && name == StateDiff:
		return w.stateDiff(), nil
	case w.newer && name == OpcodeGas:
		return newOpcodeGas(), nil
	case name == "prestateTracer":
		tracer, err := newPrestate(config)
		if err != nil {
			return nil, err
		}
		w.countCalls(tracer)
		return tracer, nil
	case slices.Contains(nativeTracers, name):
		tracer, err := tracers.DefaultDirectory.New(name, at, config, x.chain.chainConfig)
		if err != nil {
			return nil, err
		}
		if !w.newer {
			tracer = x.asOnANode(tracer, name)
		}
		w.countCalls(tracer)
		return tracer, nil
	}
	w.scripts = true
	if slices.Contains(scriptTracers, name) {
		return tracers.DefaultDirectory.New(name, at, config, x.chain.chainConfig)
	}
	return x.newScript(ctx, name, at, config)
}

// newFields lists the fields that go-ethereum's tracers have and a node's don't: the positions of logs in their block, and how contracts were
// created. The strings in a trace cannot contain them, because their quotes are escaped.
var newFields = regexp.MustCompile(`"index":"0x[0-9a-f]+",|"creationMethod":"[a-z0-9]+",`)

// asOnANode makes a tracer in Go answer as the node's version of it does (libevm eth/tracers/native).
func (x *execution) asOnANode(tracer *tracers.Tracer, name string) *tracers.Tracer {
	hooks, result := *tracer.Hooks, tracer.GetResult
	switch name {
	case "callTracer", "flatCallTracer":
		if log := hooks.OnLog; log != nil {
			hooks.OnLog = func(l *types.Log) {
				if !x.precompilesAt().Stateful(l.Address) { // the step LOG makes none of these
					log(l)
				}
			}
		}
		result = func() (json.RawMessage, error) {
			all, err := tracer.GetResult()
			return newFields.ReplaceAllLiteral(all, nil), err
		}
	case "4byteTracer":
		hooks.OnEnter = func(depth int, kind byte, from, to common.Address, input []byte, gas uint64, value *big.Int) {
			if depth == 0 { // counts the outermost call even if it is a creation
				kind, to = byte(vm.CALL), from
			}
			tracer.OnEnter(depth, kind, from, to, input, gas, value)
		}
	}
	return &tracers.Tracer{Hooks: &hooks, GetResult: result, Stop: tracer.Stop}
}

// outOfGas drops what go-ethereum says about why gas ran out; a node's version does not (libevm core/vm.EVMInterpreter.Run).
func outOfGas(err error) error {
	if errors.Is(err, vm.ErrOutOfGas) {
		return vm.ErrOutOfGas
	}
	return err
}

// withPlainErrors passes a node's errors to hooks.
func withPlainErrors(inner *tracing.Hooks) *tracing.Hooks {
	hooks := *inner
	if exit := inner.OnExit; exit != nil {
		hooks.OnExit = func(depth int, output []byte, used uint64, err error, reverted bool) {
			exit(depth, output, used, outOfGas(err), reverted)
		}
	}
	if step := inner.OnOpcode; step != nil {
		hooks.OnOpcode = func(pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, data []byte, depth int, err error) {
			step(pc, op, gas, cost, scope, data, depth, outOfGas(err))
		}
	}
	if fault := inner.OnFault; fault != nil {
		hooks.OnFault = func(pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, depth int, err error) {
			fault(pc, op, gas, cost, scope, depth, outOfGas(err))
		}
	}
	return &hooks
}

// mux makes a tracer that runs all tracers its configuration names.
func (w *boundedTracer) mux(ctx context.Context, x *execution, at *tracers.Context, config json.RawMessage) (*tracers.Tracer, error) {
	var configs map[string]json.RawMessage
	if len(config) > 0 {
		if err := json.Unmarshal(config, &configs); err != nil {
			return nil, err
		}
	}
	names := slices.Sorted(maps.Keys(configs))
	all := make([]*tracers.Tracer, len(names))
	for i, name := range names {
		var err error
		if all[i], err = w.named(ctx, x, name, at, configs[name]); err != nil {
			return nil, err
		}
		all[i].Hooks = withPlainErrors(all[i].Hooks) // go-ethereum's tracer of tracers has hooks of another version
	}
	return native.NewMuxTracer(names, all)
}

// logSteps makes the step logger. A client's own limit only cuts the log short; the node's limit ends the execution.
func (w *boundedTracer) logSteps(x *execution, config *logger.Config) *boundedTracer {
	options := logger.Config{}
	if config != nil {
		options = *config
	}
	steps := NewStepLogger(&options, w.limit)
	steps.refund = x.states.GetRefund // the network refunds nothing, but a node's log counts it
	hooks := steps.Hooks()
	w.Tracer = &tracers.Tracer{Hooks: &hooks, Stop: steps.stop}
	w.hooks, w.steps = &hooks, steps
	w.countSteps(&options)
	return w
}

// countSteps adds up the minimum size of the logged steps, so that the execution ends soon after the log is full.
func (w *boundedTracer) countSteps(options *logger.Config) {
	step := w.hooks.OnOpcode
	w.hooks.OnOpcode = func(pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, data []byte, depth int, err error) {
		if w.steps.whole() {
			return
		}
		size := stepBytes
		if !options.DisableStack {
			size += wordBytes * len(scope.StackData())
		}
		if options.EnableMemory {
			size += 2 * len(scope.MemoryData())
		}
		if w.add(size) {
			step(pc, op, gas, cost, scope, data, depth, err)
		}
	}
}

// countCalls adds up the memory of a trace's calls and logs.
func (w *boundedTracer) countCalls(t *tracers.Tracer) {
	hooks := *t.Hooks
	if enter := hooks.OnEnter; enter != nil {
		hooks.OnEnter = func(depth int, kind byte, from, to common.Address, input []byte, gas uint64, value *big.Int) {
			if w.add(frameBytes + len(input)) {
				enter(depth, kind, from, to, input, gas, value)
			}
		}
	}
	if exit := hooks.OnExit; exit != nil {
		hooks.OnExit = func(depth int, output []byte, used uint64, err error, reverted bool) {
			if w.add(len(output)) {
				exit(depth, output, used, err, reverted)
			}
		}
	}
	t.Hooks = &hooks
}

// add reports whether the trace may grow by n bytes; if not, it ends the execution.
func (w *boundedTracer) add(n int) bool {
	if w.size += n; w.size <= w.limit {
		return true
	}
	w.stop(errTraceSize(w.limit))
	return false
}

func (w *boundedTracer) stop(reason error) {
	w.stopped.Store(&reason)
	w.Tracer.Stop(reason)
	w.cancel()
}

func (w *boundedTracer) result() (Trace, error) {
	if w.size > w.limit {
		return nil, errTraceSize(w.limit)
	}
	if w.steps == nil {
		result, err := w.GetResult()
		if len(result) > w.limit {
			return nil, errTraceSize(w.limit)
		}
		if reason := w.stopped.Load(); err != nil && reason != nil && !strings.HasPrefix(err.Error(), (*reason).Error()) {
			err = *reason // a tracer stopped before the first call reports an incomplete call stack
		}
		return Trace{PlainPart(result)}, err
	}
	trace, err := w.steps.Result()
	if trace.Size() > w.limit {
		return nil, errTraceSize(w.limit)
	}
	return trace, err
}
