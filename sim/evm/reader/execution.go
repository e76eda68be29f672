package reader

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm"
)

// Limits bound the cost of a request that executes code.
type Limits struct {
	Gas   uint64        // per call; higher requests are cut to this
	Time  time.Duration // per call or trace
	Batch time.Duration // for all calls of a batch together
	Trace int           // bytes of one trace

	Script uint64 // bytes of memory growth while a tracer's script runs
}

// DefaultLimits has a node's gas limit (coreth plugin/evm/config.NewDefaultConfig, RPCGasCap), and enough time for it on a slow computer: a node
// limits the time of a trace only (coreth eth/tracers, defaultTraceTimeout).
func DefaultLimits() Limits {
	return Limits{Gas: 50_000_000, Time: 5 * time.Second, Batch: 10 * time.Second, Trace: 16 << 20, Script: 128 << 20}
}

// maxExecutions bounds how many requests that execute code the process serves at once: each may use a good deal of memory, a deep recursion
// tens of megabytes.
const maxExecutions = 3

// executionSlots has a slot for each running execution, on any chain.
var executionSlots = make(chan struct{}, maxExecutions)

// traceSlots bounds how many traces the whole process makes at once: each may hold several times Limits.Trace.
var traceSlots = make(chan struct{}, 2)

// acquireTrace waits for a free slot among all traces, and then enters.
func (c *Chain) acquireTrace(ctx context.Context, limit time.Duration) (limited context.Context, leave func(), err error) {
	select {
	case traceSlots <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	limited, done, err := c.acquire(ctx, limit)
	if err != nil {
		<-traceSlots
		return nil, nil, err
	}
	return limited, func() { done(); <-traceSlots }, nil
}

// execution is code about to run on top of a block, on its own copy of the state.
type execution struct {
	chain            *Chain
	states           *state.StateDB
	context          vm.BlockContext
	precompiles      *evm.Precompiles // nil until needed or overridden
	failedPredicates *big.Int         // of the running transaction; nil for a call, whose warp messages all count as verified
	limited          bool             // whoever sent the message chose its gas limit
	pool             *core.GasPool    // the gas that is left of a block; nil for any amount
}

// Overrides replaces parts of the state and of the block for a call.
type Overrides struct {
	State  StateOverrides
	Block  *BlockOverrides
	Before *uint // run before this transaction of the block instead of after the block
}

// acquire waits for a free slot and starts the time limit. The caller calls leave when it is done.
func (c *Chain) acquire(ctx context.Context, limit time.Duration) (limited context.Context, leave func(), err error) {
	if err := checkGas(ctx); err != nil {
		return nil, nil, err
	}
	select {
	case executionSlots <- struct{}{}:
	default:
		select { // Done allocates
		case executionSlots <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("execution aborted (timeout = %s)", limit))
	return limited, func() { cancel(); <-executionSlots }, nil
}

// executionOn prepares an execution with the block context of a block, on the state after it.
func (c *Chain) executionOn(ctx context.Context, b *Block, o Overrides) (*execution, error) {
	states, err := c.stateFor(ctx, b, o.Before)
	if err != nil {
		return nil, err
	}
	x := &execution{chain: c, states: states, context: evm.NewBlockContext(b.Executed, c.blockHash(ctx, b.Number))}
	o.Block.apply(&x.context)
	return x, x.override(o.State, false)
}

// executionOf prepares the execution of a call on top of a block.
func (c *Chain) executionOf(ctx context.Context, b *Block, call *Call, o Overrides) (*execution, *core.Message, error) {
	x, err := c.executionOn(ctx, b, o)
	if err != nil {
		return nil, nil, err
	}
	x.limited = call.Gas != nil
	m, err := call.message(x.context.BaseFee, c.Limits.Gas)
	return x, m, err
}

func (c *Chain) stateFor(ctx context.Context, b *Block, before *uint) (*state.StateDB, error) {
	if before != nil {
		return c.stateBefore(ctx, b, *before)
	}
	return c.State(ctx, b)
}

// copy returns the same execution on a copy of the state, for several tries.
func (x *execution) copy() *execution {
	y := *x
	y.states = x.states.Copy()
	return &y
}

func (x *execution) evm(m *core.Message, states vm.StateDB, hooks *tracing.Hooks) *evm.VM {
	return x.vmContext(m, states, hooks).NewVM()
}

func (x *execution) vmContext(m *core.Message, states vm.StateDB, hooks *tracing.Hooks) evm.VMContext {
	block := x.context
	if m.GasPrice.IsZero() {
		block.BaseFee = new(big.Int) // a call that offers no fee is free
	}
	return evm.VMContext{
		Kind:        x.chain.Kind,
		ChainConfig: x.chain.chainConfig, Block: block, State: states, JumpDests: x.chain.history.jumpDests, Precompiles: x.precompilesAt(),
		Tracer: hooks, NoBaseFee: true, Warp: x.chain.NetworkContext.PrecompileInput(),
		MinimumGas: x.limited && x.chain.Asynchronous(block.Time),
	}
}

// precompilesAt returns the precompiles that are active for the execution.
func (x *execution) precompilesAt() *evm.Precompiles {
	if x.precompiles == nil {
		x.precompiles = x.chain.precompiles.At(x.chain.Kind, x.rules(), x.chain.schedule, x.context.Time)
	}
	return x.precompiles
}

func (x *execution) rules() params.Rules {
	return x.chain.chainConfig.Rules(x.context.BlockNumber, true, x.context.Time)
}

// run executes a message. It returns an error only if the message could not run; the result reports a failure of the code.
func (x *execution) run(ctx context.Context, m *core.Message, hooks *tracing.Hooks) (*core.ExecutionResult, error) {
	result, done, err := x.runFrameless(ctx, m, hooks)
	if !done {
		full := x.evm(m, x.states, hooks)
		defer full.Release()
		result, err = x.runOn(ctx, full, m)
	}
	if result != nil {
		spendGas(ctx, result.UsedGas)
	}
	return result, err
}

// runFrameless executes a message without call frames, which is faster. done reports whether that was enough.
func (x *execution) runFrameless(ctx context.Context, m *core.Message, hooks *tracing.Hooks) (result *core.ExecutionResult, done bool, err error) {
	if hooks != nil || x.pool != nil || len(m.AccessList) > 0 || x.precompilesAt().Restricted() { // an access list may carry predicates
		return nil, false, nil
	}
	before, fast := x.states.Snapshot(), x.vmContext(m, x.states, nil).NewFrameless()
	defer fast.Release()
	if result, err = x.runOn(ctx, fast, m); fast.Entered() {
		x.states.RevertToSnapshot(before)
		return nil, false, nil
	}
	return result, true, err
}

// runOn executes a message with an EVM, until the context ends.
func (x *execution) runOn(ctx context.Context, vm *evm.VM, m *core.Message) (*core.ExecutionResult, error) {
	stop := context.AfterFunc(ctx, vm.Cancel)
	defer stop()
	result, err := vm.Apply(m, x.pool, x.failedPredicates)
	if result != nil {
		result.Err = outOfGas(result.Err)
	}
	if vm.Console {
		noteConsole(ctx)
	}
	if vm.Cancelled() && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return result, errors.Join(evm.Fault(x.states), err)
}

// gasBudget is the gas that several calls may use together.
type gasBudget struct{ left atomic.Int64 }

type budgetKey struct{}

// WithGas returns a context whose calls share an amount of gas, such as the calls of one batch. Once it is used up, further calls are
// refused.
func WithGas(ctx context.Context, gas uint64) context.Context {
	b := &gasBudget{}
	b.left.Store(int64(gas))
	return context.WithValue(ctx, budgetKey{}, b)
}

// spendGas takes gas from the context's budget, if it has one.
func spendGas(ctx context.Context, gas uint64) {
	if b, ok := ctx.Value(budgetKey{}).(*gasBudget); ok {
		b.left.Add(-int64(gas))
	}
}

// checkGas returns an error if the context's budget is used up.
func checkGas(ctx context.Context) error {
	if b, ok := ctx.Value(budgetKey{}).(*gasBudget); ok && b.left.Load() <= 0 {
		return budgetError{}
	}
	return nil
}

type consoleKey struct{}

// WithConsole returns a context that notices whether code that runs with it has touched evm.ConsoleAddress.
func WithConsole(ctx context.Context) (context.Context, *atomic.Bool) {
	touched := new(atomic.Bool)
	return context.WithValue(ctx, consoleKey{}, touched), touched
}

func noteConsole(ctx context.Context) {
	if touched, ok := ctx.Value(consoleKey{}).(*atomic.Bool); ok {
		touched.Store(true)
	}
}

// budgetError is a node's answer to the calls of a batch that ran out of time (go-ethereum's rpc.errMsgTimeout).
type budgetError struct{}

func (budgetError) Error() string  { return "request timed out" }
func (budgetError) ErrorCode() int { return -32002 }
