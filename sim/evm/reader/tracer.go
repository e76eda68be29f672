package reader

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"
)

// tracerNames are the tracers that a client may ask for. There is no JavaScript.
var tracerNames = []string{"4byteTracer", "callTracer", "flatCallTracer", "noopTracer", "prestateTracer"}

// What the parts of a trace take: a call beside its input and output, a step beside its stack, a word of the stack.
const (
	frameBytes = 256
	stepBytes  = 48
	wordBytes  = 6
)

func errTraceSize(limit int) error {
	return fmt.Errorf("the trace is larger than %d bytes; choose a tracer or options that record less", limit)
}

// boundedTracer is a tracer that is stopped when what it records outgrows the limit.
type boundedTracer struct {
	*tracers.Tracer
	hooks  *tracing.Hooks
	cancel func()      // stops the EVM
	steps  *StepLogger // instead of a tracer of go-ethereum
	size   int
	limit  int
}

func (x *execution) boundedTracer(config *TraceConfig, at *tracers.Context) (*boundedTracer, error) {
	w := &boundedTracer{limit: x.chain.Limits.Trace}
	if config == nil {
		config = &TraceConfig{}
	}
	if config.Tracer == nil {
		return w.logSteps(config.Config), nil
	}
	if !slices.Contains(tracerNames, *config.Tracer) {
		return nil, fmt.Errorf("unknown tracer %q: this node has %s", *config.Tracer, strings.Join(tracerNames, ", "))
	}
	tracer, err := tracers.DefaultDirectory.New(*config.Tracer, at, config.TracerConfig, x.chain.chainConfig)
	if err != nil {
		return nil, err
	}
	w.Tracer = tracer
	w.countCalls()
	return w, nil
}

// logSteps makes the step logger. A client's own lower limit only cuts the log short; the node's ends the execution.
func (w *boundedTracer) logSteps(config *logger.Config) *boundedTracer {
	options := logger.Config{}
	if config != nil {
		options = *config
	}
	own := options.Limit > 0 && options.Limit < w.limit
	if !own {
		options.Limit = w.limit
	}
	steps := NewStepLogger(&options)
	hooks := steps.Hooks()
	w.Tracer = &tracers.Tracer{Hooks: &hooks, Stop: steps.stop}
	w.hooks, w.steps = &hooks, steps
	if !own {
		w.countSteps(&options)
	}
	return w
}

// countSteps adds up the least that the steps of a log can take, so that the execution ends soon after the log is full.
func (w *boundedTracer) countSteps(options *logger.Config) {
	step := w.hooks.OnOpcode
	w.hooks.OnOpcode = func(pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, data []byte, depth int, err error) {
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

// countCalls adds up what the calls and logs of a trace hold on to.
func (w *boundedTracer) countCalls() {
	hooks := *w.Tracer.Hooks
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
	w.hooks = &hooks
}

// add says whether the trace may grow by n bytes; when it may not, the execution ends.
func (w *boundedTracer) add(n int) bool {
	if w.size += n; w.size <= w.limit {
		return true
	}
	w.stop(errTraceSize(w.limit))
	return false
}

func (w *boundedTracer) stop(reason error) {
	w.Tracer.Stop(reason)
	w.cancel()
}

func (w *boundedTracer) result() (Trace, error) {
	if w.size > w.limit {
		return nil, errTraceSize(w.limit)
	}
	if w.steps == nil {
		result, err := w.GetResult()
		return Trace{PlainPart(result)}, err
	}
	trace, err := w.steps.Result()
	if trace.Size() > w.limit {
		return nil, errTraceSize(w.limit)
	}
	return trace, err
}
