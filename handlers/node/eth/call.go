package eth

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/handlers/explain"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/node/rpc"
	"snowglobe/sim/evm/reader"
)

// callAPI implements the eth methods that execute code without changing anything: coreth's internal/ethapi.BlockChainAPI.
type callAPI struct{ *api }

// revertCode is the code of an error that carries a contract's revert data (coreth internal/ethapi.revertError).
const revertCode = 3

// defaultCode is the code of an error without one of its own (go-ethereum's rpc package).
const defaultCode = -32000

// revertError is a revert with data.
type revertError struct {
	reason string
	data   []byte
}

func (e *revertError) Error() string  { return e.reason }
func (e *revertError) ErrorCode() int { return revertCode }
func (e *revertError) ErrorData() any { return hexutil.Encode(e.data) }

// explained reports on an execution that failed or logged to the console, and returns the client's error.
func (a *callAPI) explained(ctx context.Context, touched *atomic.Bool, result *core.ExecutionResult, b *reader.Block, call *reader.Call, o reader.Overrides) error {
	failed := executionError(result)
	if !touched.Load() && (failed == nil || !a.explainer.On()) || a.explainer == nil {
		return failed
	}
	report, err := a.explainer.Call(ctx, a.chain, b, call, o)
	if err != nil {
		return failed // what a client asked for is known
	}
	if len(report.Console) > 0 {
		a.explainer.Printed(a.chain, nil, report.Console)
		rpc.Note(ctx, func(r *journal.CallRecord) {
			for i := range report.Console {
				r.Console = append(r.Console, report.Console[i].String())
			}
		})
	}
	if failed == nil || report.Failure == nil {
		return failed
	}
	code, data := defaultCode, []byte(nil)
	if reverted, ok := failed.(*revertError); ok {
		code, data = reverted.ErrorCode(), reverted.data
	}
	explained := explain.Explain(failed, code, data, report)
	if explained != failed {
		rpc.Note(ctx, func(r *journal.CallRecord) { r.Stack = report.Failure.Lines() })
	}
	return explained
}

// executionError converts a failed execution to the client's error: a revert with its data, or the EVM's reason.
func executionError(result *core.ExecutionResult) error {
	data := result.Revert()
	if len(data) == 0 {
		return result.Err
	}
	reason := vm.ErrExecutionReverted.Error()
	if text, err := abi.UnpackRevert(data); err == nil {
		reason = fmt.Sprintf("%s: %s", reason, text)
	}
	return &revertError{reason, data}
}

// Overrides holds the changes of state and block that a call sees.
func Overrides(states *reader.StateOverrides, block *reader.BlockOverrides) reader.Overrides {
	o := reader.Overrides{Block: block}
	if states != nil {
		o.State = *states
	}
	return o
}

// Call executes a call and returns its output.
func (a *callAPI) Call(ctx context.Context, call reader.Call, ref *BlockRef, states *reader.StateOverrides, block *reader.BlockOverrides) (hexutil.Bytes, error) {
	b, err := a.executedBlock(ctx, ref)
	if err != nil {
		return nil, err
	}
	o := Overrides(states, block)
	watched, touched := reader.WithConsole(ctx)
	result, err := a.chain.Call(watched, b, &call, o)
	if err != nil {
		return nil, err
	}
	return result.Return(), a.explained(ctx, touched, result, b, &call, o)
}

// detailedResult describes how a call ended, whether or not it failed.
type detailedResult struct {
	Gas        uint64        `json:"gas"`
	ErrCode    int           `json:"errCode"`
	Err        string        `json:"err"`
	ReturnData hexutil.Bytes `json:"returnData"`
}

// CallDetailed executes a call and returns its gas, its error and its output (coreth internal/ethapi.BlockChainAPI.CallDetailed).
func (a *callAPI) CallDetailed(ctx context.Context, call reader.Call, ref BlockRef, states *reader.StateOverrides) (*detailedResult, error) {
	b, err := a.executedBlock(ctx, &ref)
	if err != nil {
		return nil, err
	}
	result, err := a.chain.Call(ctx, b, &call, Overrides(states, nil))
	if err != nil {
		return nil, err
	}
	detailed := &detailedResult{Gas: result.UsedGas, ReturnData: result.ReturnData}
	if err := executionError(result); err != nil {
		detailed.Err = err.Error()
		if reverted, ok := err.(*revertError); ok {
			detailed.ErrCode = reverted.ErrorCode()
		}
	}
	return detailed, nil
}

// EstimateGas returns a gas limit with which a transaction succeeds.
func (a *callAPI) EstimateGas(ctx context.Context, call reader.Call, ref *BlockRef, states *reader.StateOverrides, block *reader.BlockOverrides) (hexutil.Uint64, error) {
	b, err := a.executedBlock(ctx, ref)
	if err != nil {
		return 0, err
	}
	o := Overrides(states, block)
	watched, touched := reader.WithConsole(ctx)
	gas, result, err := a.chain.Estimate(watched, b, &call, o)
	switch {
	case err == nil && result != nil:
		err = a.explained(ctx, touched, result, b, &call, o)
	case errors.Is(err, reader.ErrAllowance) && a.explainer.On(): // it ran out of gas, whatever its limit
		if report, failed := a.explainer.Call(ctx, a.chain, b, &call, o); failed == nil {
			err = explain.Explain(err, defaultCode, nil, report)
		}
	}
	return hexutil.Uint64(gas), err
}

// accessListResult lists what a transaction touches, and its gas with that list.
type accessListResult struct {
	AccessList types.AccessList `json:"accessList"`
	Error      string           `json:"error,omitempty"`
	GasUsed    hexutil.Uint64   `json:"gasUsed"`
}

// CreateAccessList returns the access list of a transaction, which pays the usual fees unless it names its own.
func (a *callAPI) CreateAccessList(ctx context.Context, call reader.Call, ref *BlockRef, states *reader.StateOverrides) (*accessListResult, error) {
	b, err := a.executedBlock(ctx, ref)
	if err != nil {
		return nil, err
	}
	if err := a.fillUnlimited(ctx, &call); err != nil {
		return nil, err
	}
	if err := call.CheckChain(a.chain.Genesis.ChainID); err != nil {
		return nil, err
	}
	list, result, err := a.chain.AccessList(ctx, b, &call, Overrides(states, nil))
	if err != nil {
		return nil, err
	}
	answer := &accessListResult{AccessList: list, GasUsed: hexutil.Uint64(result.UsedGas)}
	if result.Err != nil {
		answer.Error = result.Err.Error()
	}
	return answer, nil
}
