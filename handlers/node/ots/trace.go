package ots

import (
	"context"
	"encoding/json"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
)

// frame is a call in the callTracer's result.
type frame struct {
	Type   string          `json:"type"`
	From   common.Address  `json:"from"`
	To     *common.Address `json:"to"`    // nil for a failed creation
	Value  *hexutil.Big    `json:"value"` // nil for a call that cannot move value
	Input  hexutil.Bytes   `json:"input"`
	Output hexutil.Bytes   `json:"output"`
	Error  string          `json:"error"`
	Calls  []frame         `json:"calls"`
}

// trace returns the outermost call of a transaction, nil if there is no such transaction.
func (a *api) trace(ctx context.Context, hash common.Hash, options string) (*frame, error) {
	t, err := a.chain.Transaction(ctx, hash)
	if err == nil {
		err = eth.CheckExecuted(ctx, a.miner, t.Block)
	}
	if err != nil {
		return nil, eth.OrNull(err)
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return nil, err
	}
	trace, err := a.chain.TraceTransaction(ctx, t, &reader.TraceConfig{Tracer: new("callTracer"), TracerConfig: json.RawMessage(options)})
	if err != nil {
		return nil, err
	}
	top := new(frame)
	return top, json.Unmarshal(trace.JSON(), top)
}

// traceEntry is a call of a transaction.
type traceEntry struct {
	Type   string          `json:"type"`
	Depth  int             `json:"depth"`
	From   common.Address  `json:"from"`
	To     *common.Address `json:"to"`    // null for a failed creation
	Value  *hexutil.Big    `json:"value"` // null for a call that cannot move value
	Input  hexutil.Bytes   `json:"input"`
	Output hexutil.Bytes   `json:"output"`
}

// TraceTransaction returns a transaction's calls in the order in which they began, null if there is no such transaction.
func (a *api) TraceTransaction(ctx context.Context, hash common.Hash) ([]traceEntry, error) {
	top, err := a.trace(ctx, hash, "{}")
	if err != nil || top == nil {
		return nil, err
	}
	return top.entries(nil, 0), nil
}

func (f *frame) entries(all []traceEntry, depth int) []traceEntry {
	e := traceEntry{Type: f.Type, Depth: depth, From: f.From, To: f.To, Value: f.Value, Input: f.Input, Output: f.Output}
	if f.Type == vm.DELEGATECALL.String() || f.Type == vm.STATICCALL.String() {
		e.Value = nil // the tracer shows a delegate call with its caller's value
	}
	all = append(all, e)
	for i := range f.Calls {
		all = f.Calls[i].entries(all, depth+1)
	}
	return all
}

// operation is a step inside a transaction that moves value, or creates or destroys a contract.
type operation struct {
	Type  operationType   `json:"type"`
	From  common.Address  `json:"from"`
	To    *common.Address `json:"to"` // null for a failed creation
	Value *hexutil.Big    `json:"value"`
}

type operationType int

// The types of operations, with Otterscan's numbers.
const (
	transfer operationType = iota
	selfDestruct
	create
	create2
)

// GetInternalOperations returns the operations inside a transaction in order: transfers, creations and destructions, including those of
// reverted calls.
func (a *api) GetInternalOperations(ctx context.Context, hash common.Hash) ([]operation, error) {
	top, err := a.trace(ctx, hash, "{}")
	if err != nil || top == nil {
		return nil, err
	}
	all := []operation{}
	for i := range top.Calls {
		all = top.Calls[i].operations(all)
	}
	return all, nil
}

func (f *frame) operations(all []operation) []operation {
	o := operation{From: f.From, To: f.To, Value: f.Value}
	switch f.Type {
	case vm.CALL.String():
		if o.Value.ToInt().Sign() > 0 {
			all = append(all, o)
		}
	case vm.SELFDESTRUCT.String():
		o.Type = selfDestruct
		all = append(all, o)
	case vm.CREATE.String():
		o.Type = create
		all = append(all, o)
	case vm.CREATE2.String():
		o.Type = create2
		all = append(all, o)
	}
	for i := range f.Calls {
		all = f.Calls[i].operations(all)
	}
	return all
}

// GetTransactionError returns the bytes with which a transaction reverted: empty if it did not revert, null if there is no such
// transaction.
func (a *api) GetTransactionError(ctx context.Context, hash common.Hash) (*hexutil.Bytes, error) {
	top, err := a.trace(ctx, hash, `{"onlyTopCall":true}`)
	if err != nil || top == nil {
		return nil, err
	}
	data := hexutil.Bytes{}
	if top.Error == vm.ErrExecutionReverted.Error() {
		data = append(data, top.Output...)
	}
	return &data, nil
}
