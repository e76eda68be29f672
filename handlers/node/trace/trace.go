package trace

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/node/rpc"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
)

// Namespaces returns the trace methods of a chain.
func Namespaces(m *miner.Miner) []rpc.Namespace {
	return []rpc.Namespace{{Name: "trace", Methods: &api{m}}}
}

type api struct{ miner *miner.Miner }

const errPending = eth.ParamsError("tracing on top of pending is not supported")

// flat returns the tracer's configuration.
func flat() *reader.TraceConfig {
	return &reader.TraceConfig{Tracer: new("flatCallTracer"), TracerConfig: json.RawMessage(`{"convertParityErrors":true}`), Newer: true}
}

// Block serves trace_block: the traces of every transaction of a block.
func (a *api) Block(ctx context.Context, ref eth.BlockRef) (rpc.Result, error) {
	b, err := a.base(ctx, &ref)
	if err != nil {
		return rpc.Result{}, err
	}
	traces, err := a.ofBlock(ctx, b)
	if err != nil {
		return rpc.Result{}, err
	}
	return rpc.List(traces), nil
}

// ofBlock returns the traces of a block; the first block has no transactions and no traces.
func (a *api) ofBlock(ctx context.Context, b *reader.Block) ([]json.RawMessage, error) {
	traces := []json.RawMessage{}
	if b.Row.Txs == 0 {
		return traces, nil
	}
	results, err := a.miner.Chain.TraceBlock(ctx, b, flat())
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		var frames []json.RawMessage
		if err := json.Unmarshal(r.Trace.JSON(), &frames); err != nil {
			return nil, err
		}
		traces = append(traces, frames...)
	}
	return traces, nil
}

// Transaction returns the traces of a transaction, null if there is no such transaction.
func (a *api) Transaction(ctx context.Context, hash common.Hash) (rpc.Result, error) {
	traces, err := a.ofTransaction(ctx, hash)
	if err != nil || traces == nil {
		return rpc.Result{}, err
	}
	return rpc.List(traces), nil
}

func (a *api) ofTransaction(ctx context.Context, hash common.Hash) ([]json.RawMessage, error) {
	t, err := a.transaction(ctx, hash)
	if errors.Is(err, errTransaction) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	trace, err := a.miner.Chain.TraceTransaction(ctx, t, flat())
	if err != nil {
		return nil, err
	}
	var frames []json.RawMessage
	return frames, json.Unmarshal(trace.JSON(), &frames)
}

// Get returns the trace at an address within a transaction, such as [0, 2] for the third call of the transaction's first call; null if
// there is none.
func (a *api) Get(ctx context.Context, hash common.Hash, address []eth.Quantity) (json.RawMessage, error) {
	traces, err := a.ofTransaction(ctx, hash)
	if err != nil {
		return nil, err
	}
	for _, trace := range traces {
		var place struct{ TraceAddress []eth.Quantity }
		if err := json.Unmarshal(trace, &place); err != nil {
			return nil, err
		}
		if slices.Equal(place.TraceAddress, address) {
			return trace, nil
		}
	}
	return nil, nil
}
