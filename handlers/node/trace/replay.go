package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
)

// kinds lists the parts of a result that a client wants: trace, stateDiff and vmTrace.
type kinds []string

const calls = "trace"

// tracers returns the configuration of a tracer for all of them. The calls are always traced, as they have the output.
func (k kinds) tracers() (*reader.TraceConfig, error) {
	config := json.RawMessage(`{"flatCallTracer":{"convertParityErrors":true}`)
	for _, kind := range slices.Compact(slices.Sorted(slices.Values(k))) {
		switch kind {
		case calls:
		case reader.StateDiff, reader.VMTrace:
			config = fmt.Appendf(config, `,"%s":{}`, kind)
		default:
			return nil, eth.ParamsError(fmt.Sprintf("there is no trace of the kind %q, only trace, stateDiff and vmTrace", kind))
		}
	}
	return &reader.TraceConfig{Tracer: new("muxTracer"), TracerConfig: append(config, '}'), Newer: true}, nil
}

// results are what a transaction or a call did. What a client does not want is null, and no trace an empty list.
type results struct {
	Output    json.RawMessage              `json:"output"`
	StateDiff json.RawMessage              `json:"stateDiff"`
	Trace     []map[string]json.RawMessage `json:"trace"`
	VMTrace   json.RawMessage              `json:"vmTrace"`

	TransactionHash *common.Hash `json:"transactionHash,omitempty"` // in a block's results
}

// results reads what the tracer found.
func (k kinds) results(trace reader.Trace, err error) (*results, error) {
	if err != nil {
		return nil, err
	}
	var found struct {
		FlatCallTracer     []map[string]json.RawMessage
		StateDiff, VMTrace json.RawMessage
	}
	if err := json.Unmarshal(trace.JSON(), &found); err != nil {
		return nil, err
	}
	r := &results{Output: json.RawMessage(`"0x"`), StateDiff: found.StateDiff, VMTrace: found.VMTrace, Trace: []map[string]json.RawMessage{}}
	var outcome struct{ Output, Code json.RawMessage }
	if len(found.FlatCallTracer) > 0 && found.FlatCallTracer[0]["result"] != nil {
		if err := json.Unmarshal(found.FlatCallTracer[0]["result"], &outcome); err != nil {
			return nil, err
		}
	}
	switch {
	case outcome.Output != nil:
		r.Output = outcome.Output
	case outcome.Code != nil:
		r.Output = outcome.Code
	}
	if !slices.Contains(k, calls) {
		return r, nil
	}
	r.Trace = found.FlatCallTracer
	for _, frame := range r.Trace {
		for _, name := range []string{"blockHash", "blockNumber", "transactionHash", "transactionPosition"} {
			delete(frame, name)
		}
	}
	return r, nil
}

// base finds the block on top of which to trace.
func (a *api) base(ctx context.Context, ref *eth.BlockRef) (*reader.Block, error) {
	b, err := eth.ExecutedBlockOf(ctx, a.miner, ref)
	if err == nil && b.Pending() {
		err = errPending
	}
	if err == nil {
		err = rest.AwaitLargeAnswer(ctx)
	}
	return b, err
}

// Call returns what a call on top of a block does: its calls, the accounts that it changes, and its steps.
func (a *api) Call(ctx context.Context, call reader.Call, kinds kinds, ref *eth.BlockRef, states *reader.StateOverrides, block *reader.BlockOverrides) (*results, error) {
	config, err := kinds.tracers()
	if err != nil {
		return nil, err
	}
	b, err := a.base(ctx, ref)
	if err != nil {
		return nil, err
	}
	return kinds.results(a.miner.Chain.TraceCall(ctx, b, &call, eth.Overrides(states, block), config))
}

// tracedCall is a call with the kinds of its traces, as a list of both.
type tracedCall struct {
	call  reader.Call
	kinds kinds
}

// UnmarshalJSON reads the list.
func (c *tracedCall) UnmarshalJSON(data []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil || len(parts) != 2 {
		return errors.New("expected a list of a call and the kinds of its traces")
	}
	return errors.Join(json.Unmarshal(parts[0], &c.call), json.Unmarshal(parts[1], &c.kinds))
}

// CallMany returns what calls on top of a block do, one after the other: each on the state that the last one left.
func (a *api) CallMany(ctx context.Context, calls []tracedCall, ref *eth.BlockRef) ([]*results, error) {
	all, configs := make([]reader.Call, len(calls)), make([]*reader.TraceConfig, len(calls))
	for i := range calls {
		var err error
		if configs[i], err = calls[i].kinds.tracers(); err != nil {
			return nil, err
		}
		all[i] = calls[i].call
	}
	b, err := a.base(ctx, ref)
	if err != nil {
		return nil, err
	}
	traces, err := a.miner.Chain.TraceCalls(ctx, b, all, configs)
	if err != nil {
		return nil, err
	}
	answer := make([]*results, len(calls))
	for i := range calls {
		if answer[i], err = calls[i].kinds.results(traces[i], nil); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// RawTransaction returns what a signed transaction would do on top of a block, without sending it.
func (a *api) RawTransaction(ctx context.Context, raw hexutil.Bytes, kinds kinds, ref *eth.BlockRef) (*results, error) {
	config, err := kinds.tracers()
	if err != nil {
		return nil, err
	}
	tx, err := eth.SignedTransaction(raw)
	if err != nil {
		return nil, err
	}
	sender, err := a.miner.Pool.Sender(tx)
	if err != nil {
		return nil, err
	}
	b, err := a.base(ctx, ref)
	if err != nil {
		return nil, err
	}
	return kinds.results(a.miner.Chain.TraceSigned(ctx, b, tx, sender, config))
}

var errTransaction = errors.New("transaction not found")

// transaction finds a transaction of an executed block.
func (a *api) transaction(ctx context.Context, hash common.Hash) (*reader.Transaction, error) {
	t, err := a.miner.Chain.Transaction(ctx, hash)
	if err == nil {
		err = eth.CheckExecuted(ctx, a.miner, t.Block)
	}
	if eth.Missing(err) {
		return nil, errTransaction
	}
	if err == nil {
		err = rest.AwaitLargeAnswer(ctx)
	}
	return t, err
}

// ReplayTransaction executes a transaction again and returns what it did: its calls, the accounts that it changed, and its steps.
func (a *api) ReplayTransaction(ctx context.Context, hash common.Hash, kinds kinds) (*results, error) {
	config, err := kinds.tracers()
	if err != nil {
		return nil, err
	}
	t, err := a.transaction(ctx, hash)
	if err != nil {
		return nil, err
	}
	return kinds.results(a.miner.Chain.TraceTransaction(ctx, t, config))
}

// ReplayBlockTransactions does the same for every transaction of a block.
func (a *api) ReplayBlockTransactions(ctx context.Context, ref eth.BlockRef, kinds kinds) ([]*results, error) {
	config, err := kinds.tracers()
	if err != nil {
		return nil, err
	}
	b, err := a.base(ctx, &ref)
	if err != nil {
		return nil, err
	}
	answer := []*results{}
	err = a.eachOf(ctx, b, config, func(t *reader.TraceResult) error {
		r, err := kinds.results(t.Trace, nil)
		if err == nil {
			r.TransactionHash = &t.TxHash
			answer = append(answer, r)
		}
		return err
	})
	return answer, err
}

// eachOf traces a block and visits its transactions. The first block has none.
func (a *api) eachOf(ctx context.Context, b *reader.Block, config *reader.TraceConfig, visit func(*reader.TraceResult) error) error {
	if b.Row.Txs == 0 {
		return nil
	}
	traces, err := a.miner.Chain.TraceBlock(ctx, b, config)
	if err != nil {
		return err
	}
	for i := range traces {
		if err := visit(&traces[i]); err != nil {
			return err
		}
	}
	return nil
}
