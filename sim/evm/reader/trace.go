package reader

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"
	"github.com/klauspost/compress/s2"

	"snowglobe/sim/evm"
)

// TraceConfig selects a tracer and its options; without a tracer every step is logged.
type TraceConfig struct {
	*logger.Config
	Tracer       *string
	Timeout      *string
	TracerConfig json.RawMessage
	Newer        bool           `json:"-"` // with what go-ethereum's tracers add to a node's
	Observer     *tracing.Hooks `json:"-"` // sees the execution in place of a tracer; it bounds its own memory
}

// TraceResult is the trace of one transaction of a block.
type TraceResult struct {
	TxHash common.Hash
	Trace  Trace
}

// Trace is JSON in consecutive parts, as it may be large.
type Trace []TracePart

// TracePart is one part of a trace, packed if there are many: steps of the same code look alike.
type TracePart struct {
	bytes []byte
	size  int // of the JSON if the bytes are packed; 0 if they are the JSON itself
}

// PlainPart wraps unpacked JSON.
func PlainPart(json []byte) TracePart { return TracePart{bytes: json} }

// JSON returns the whole trace.
func (t Trace) JSON() json.RawMessage {
	if len(t) == 1 && t[0].size == 0 {
		return t[0].bytes
	}
	b := bytes.NewBuffer(make([]byte, 0, t.Size()))
	_ = t.Write(b) // writing to a buffer cannot fail
	return b.Bytes()
}

// Size returns the length of the JSON in bytes.
func (t Trace) Size() (n int) {
	for _, part := range t {
		n += cmp.Or(part.size, len(part.bytes))
	}
	return n
}

// Held returns how many bytes stay in memory while the JSON is written.
func (t Trace) Held() (n int) {
	unpacked := 0
	for _, part := range t {
		n, unpacked = n+len(part.bytes), max(unpacked, part.size)
	}
	return n + unpacked
}

// Write writes the JSON.
func (t Trace) Write(w io.Writer) error {
	var unpacked []byte
	for _, part := range t {
		text := part.bytes
		if part.size > 0 {
			var err error
			if unpacked, err = s2.Decode(unpacked[:cap(unpacked)], text); err != nil {
				return err
			}
			text = unpacked
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

var (
	errGenesis = errors.New("genesis is not traceable")
	errTimeout = errors.New("execution timeout")
)

// TraceBlock executes a block again and traces each of its transactions.
func (c *Chain) TraceBlock(ctx context.Context, b *Block, config *TraceConfig) ([]TraceResult, error) {
	transactions, err := c.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	results, size := make([]TraceResult, 0, len(transactions)), 0
	err = c.replay(ctx, b, transactions, config, func(ctx context.Context, x *execution, t *Transaction, m *core.Message) error {
		trace, err := x.traceTransaction(ctx, t, m, config)
		if size += trace.Size(); size > c.Limits.Trace {
			return errTraceSize(c.Limits.Trace)
		}
		results = append(results, TraceResult{t.Hash(), trace})
		return err
	})
	return results, err
}

// TraceTransaction executes a block again up to one of its transactions and traces that one.
func (c *Chain) TraceTransaction(ctx context.Context, t *Transaction, config *TraceConfig) (Trace, error) {
	transactions, err := c.Transactions(ctx, t.Block)
	if err != nil {
		return nil, err
	}
	var trace Trace
	err = c.replay(ctx, t.Block, transactions[:t.Index()+1], config, func(ctx context.Context, x *execution, tx *Transaction, m *core.Message) (err error) {
		if tx.Index() < t.Index() {
			return x.apply(ctx, tx, m)
		}
		trace, err = x.traceTransaction(ctx, tx, m, config)
		return err
	})
	return trace, err
}

// UsedGas executes a block again up to one of its transactions and returns the gas that this one used, of which its sender may have been charged
// more (ACP-194).
func (c *Chain) UsedGas(ctx context.Context, t *Transaction) (uint64, error) {
	if !t.Block.Header.Asynchronous() {
		return t.Row.GasUsed, nil
	}
	transactions, err := c.Transactions(ctx, t.Block)
	if err != nil {
		return 0, err
	}
	var used uint64
	err = c.replay(ctx, t.Block, transactions[:t.Index()+1], nil, func(ctx context.Context, x *execution, tx *Transaction, m *core.Message) error {
		if tx.Index() < t.Index() {
			return x.apply(ctx, tx, m)
		}
		x.limited = false
		x.states.SetTxContext(tx.Hash(), tx.Index(), 0)
		result, err := x.run(ctx, m, nil)
		if err == nil {
			used = result.UsedGas
		}
		return err
	})
	return used, err
}

// TraceCall traces a call on top of a block.
func (c *Chain) TraceCall(ctx context.Context, b *Block, call *Call, o Overrides, config *TraceConfig) (Trace, error) {
	var trace Trace
	err := c.limited(ctx, config, func(ctx context.Context) error {
		x, err := c.executionOn(ctx, b, o)
		if err == nil {
			trace, err = x.traceCall(ctx, call, 0, config)
		}
		return err
	})
	return trace, err
}

// TraceCalls traces calls on top of a block, each on the state that the last one left.
func (c *Chain) TraceCalls(ctx context.Context, b *Block, calls []Call, configs []*TraceConfig) ([]Trace, error) {
	traces, size := make([]Trace, len(calls)), 0
	err := c.limited(ctx, nil, func(ctx context.Context) error {
		x, err := c.executionOn(ctx, b, Overrides{})
		for i := 0; i < len(calls) && err == nil; i++ {
			traces[i], err = x.traceCall(ctx, &calls[i], i, configs[i])
			if size += traces[i].Size(); err == nil && size > c.Limits.Trace {
				err = errTraceSize(c.Limits.Trace)
			}
		}
		return err
	})
	return traces, err
}

func (x *execution) traceCall(ctx context.Context, call *Call, index int, config *TraceConfig) (Trace, error) {
	x.limited = call.Gas != nil
	m, err := call.message(x.context.BaseFee, x.chain.Limits.Gas)
	if err != nil {
		return nil, err
	}
	tx := types.NewTx(&types.DynamicFeeTx{
		ChainID: x.chain.chainConfig.ChainID, Nonce: m.Nonce, Gas: m.GasLimit, To: m.To, Value: m.Value.ToBig(), Data: m.Data,
		GasTipCap: m.GasTipCap.ToBig(), GasFeeCap: m.GasFeeCap.ToBig(), AccessList: m.AccessList,
	})
	return x.trace(ctx, tx, m, nil, &tracers.Context{TxIndex: index}, config)
}

// TraceSigned traces a signed transaction on top of a block as if the block contained it.
func (c *Chain) TraceSigned(ctx context.Context, b *Block, tx *types.Transaction, sender common.Address, config *TraceConfig) (Trace, error) {
	var trace Trace
	err := c.limited(ctx, config, func(ctx context.Context) error {
		x, err := c.executionOn(ctx, b, Overrides{})
		if err != nil {
			return err
		}
		x.limited = true
		m, err := evm.TransactionToMessage(tx, sender, x.context.BaseFee)
		if err == nil {
			trace, err = x.trace(ctx, tx, m, b.Executed, &tracers.Context{TxHash: tx.Hash()}, config)
		}
		return err
	})
	return trace, err
}

// limited traces within the requested time limit. A limit that ends while the world is read gives the same error as one that ends during execution.
func (c *Chain) limited(ctx context.Context, config *TraceConfig, do func(context.Context) error) error {
	limit, err := c.traceTime(config)
	if err != nil {
		return err
	}
	within, leave, err := c.acquireTrace(ctx, limit)
	if err != nil {
		return err
	}
	defer leave()
	if err = do(within); errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return errTimeout
	}
	return err
}

// replay walks through transactions of a block on the state before it.
func (c *Chain) replay(ctx context.Context, b *Block, transactions []*Transaction, config *TraceConfig,
	each func(context.Context, *execution, *Transaction, *core.Message) error) error {
	if b.Number == 0 {
		return errGenesis
	}
	return c.limited(ctx, config, func(ctx context.Context) error {
		_, err := c.walk(ctx, b, transactions, each)
		return err
	})
}

// walk executes transactions of a block and returns the execution after them.
func (c *Chain) walk(ctx context.Context, b *Block, transactions []*Transaction,
	each func(context.Context, *execution, *Transaction, *core.Message) error) (*execution, error) {
	parent, err := c.Block(ctx, b.Number-1)
	if err != nil {
		return nil, err
	}
	states, err := c.State(ctx, parent)
	if err != nil {
		return nil, err
	}
	return c.walkOn(ctx, states, c.blockHash(ctx, parent.Number), parent, b, transactions, each)
}

// walkOn is walk on a state of the caller's.
func (c *Chain) walkOn(ctx context.Context, states *state.StateDB, hash vm.GetHashFunc, parent, b *Block, transactions []*Transaction,
	each func(context.Context, *execution, *Transaction, *core.Message) error) (*execution, error) {
	x := &execution{chain: c, states: states, context: evm.NewBlockContext(b.Executed, hash), limited: true}
	if err := c.schedule.Apply(x.states, &parent.Header.Time, b.Header.Time, b.Number); err != nil {
		return nil, err
	}
	refused, err := evm.PredicateResults(c.Kind, b.Header)
	if err != nil {
		return nil, err
	}
	for _, t := range transactions {
		x.failedPredicates = refused[t.Hash()]
		m, err := evm.TransactionToMessage(t.Transaction, t.Sender, b.Results.BaseFee)
		if err != nil {
			return nil, err
		}
		if err := each(ctx, x, t, m); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// stateBefore returns the state before one of a block's transactions; index 0 is the start of the block.
func (c *Chain) stateBefore(ctx context.Context, b *Block, index uint) (*state.StateDB, error) {
	if b.Number == 0 {
		return nil, errors.New("no transaction in genesis")
	}
	transactions, err := c.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	if index > 0 && index >= uint(len(transactions)) {
		return nil, fmt.Errorf("transaction index %d out of range for block %#x", index, b.Hash)
	}
	return c.stateAfter(ctx, b, transactions[:index])
}

// stateAfter returns the state after the first transactions of a block.
func (c *Chain) stateAfter(ctx context.Context, b *Block, transactions []*Transaction) (*state.StateDB, error) {
	x, err := c.walk(ctx, b, transactions, func(ctx context.Context, x *execution, t *Transaction, m *core.Message) error {
		return x.apply(ctx, t, m)
	})
	if err != nil {
		return nil, err
	}
	return x.states, nil
}

// StateAfter returns the state after one of a block's transactions, which must exist.
func (c *Chain) StateAfter(ctx context.Context, b *Block, index int) (*state.StateDB, error) {
	transactions, err := c.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	ctx, leave, err := c.acquire(ctx, c.Limits.Time)
	if err != nil {
		return nil, err
	}
	defer leave()
	return c.stateAfter(ctx, b, transactions[:index+1])
}

// traceTime returns the time limit of a trace: the requested one, within the chain's limit.
func (c *Chain) traceTime(config *TraceConfig) (time.Duration, error) {
	if config == nil || config.Timeout == nil {
		return c.Limits.Time, nil
	}
	asked, err := time.ParseDuration(*config.Timeout)
	return min(asked, c.Limits.Time), err
}

// apply executes a transaction as its block did.
func (x *execution) apply(ctx context.Context, t *Transaction, m *core.Message) error {
	x.states.SetTxContext(t.Hash(), t.Index(), 0)
	result, err := x.run(ctx, m, nil)
	if err != nil {
		return fmt.Errorf("tracing failed: %w", err)
	}
	evm.BurnBaseFee(x.states, t.Block.Executed, result.UsedGas)
	x.states.Finalise(x.rules())
	return nil
}

func (x *execution) traceTransaction(ctx context.Context, t *Transaction, m *core.Message, config *TraceConfig) (Trace, error) {
	return x.trace(ctx, t.Transaction, m, t.Block.Executed, &tracers.Context{
		BlockHash: t.Block.Hash, BlockNumber: t.Block.Header.Number, TxIndex: t.Index(), TxHash: t.Hash(),
	}, config)
}

// trace executes a message under a tracer. A transaction of a block also burns its base fee, by that block's header.
func (x *execution) trace(ctx context.Context, tx *types.Transaction, m *core.Message, header *evm.Header, at *tracers.Context, config *TraceConfig) (Trace, error) {
	w, err := x.boundedTracer(ctx, config, at)
	if err != nil {
		return nil, err
	}
	w.hooks = withPlainErrors(w.hooks)
	states := state.NewHookedState(x.states, w.hooks)
	run := x.evm(m, states, w.hooks)
	defer run.Release()
	w.cancel = run.Cancel
	stop := context.AfterFunc(ctx, func() { w.stop(errTimeout) })
	defer stop()
	if w.scripts {
		defer watchMemory(w.stop, x.chain.Limits.Script)()
	}
	x.states.SetTxContext(at.TxHash, at.TxIndex, 0)
	if w.hooks.OnTxStart != nil {
		w.hooks.OnTxStart(run.GetVMContext(), tx, m.From)
	}
	result, err := run.Apply(m, nil, x.failedPredicates)
	if err = errors.Join(err, evm.Fault(x.states)); err != nil {
		return nil, fmt.Errorf("tracing failed: %w", err)
	}
	spendGas(ctx, result.UsedGas)
	if header != nil {
		evm.BurnBaseFee(states, header, result.UsedGas)
	}
	states.Finalise(run.GetRules())
	if w.hooks.OnTxEnd != nil && w.stopped.Load() == nil { // go-ethereum's call tracers panic here if stopped before the first call
		w.hooks.OnTxEnd(&types.Receipt{Type: tx.Type(), TxHash: tx.Hash(), GasUsed: result.UsedGas, EffectiveGasPrice: new(big.Int)}, nil)
	}
	return w.result()
}
