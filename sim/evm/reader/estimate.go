package reader

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// estimateTolerance is the accuracy of an estimate in thousandths (coreth internal/ethapi, estimateGasErrorRatio).
const estimateTolerance = 15

// ErrAllowance means that a call runs out of gas with the most that it may use.
var ErrAllowance = errors.New("gas required exceeds allowance")

// Estimate returns a gas limit with which a call succeeds on top of a block (coreth eth/gasestimator.Estimate). If no limit is enough, the
// result describes how the code failed.
func (c *Chain) Estimate(ctx context.Context, b *Block, call *Call, o Overrides) (uint64, *core.ExecutionResult, error) {
	ctx, leave, err := c.acquire(ctx, c.Limits.Time)
	if err != nil {
		return 0, nil, err
	}
	defer leave()
	x, m, err := c.executionOf(ctx, b, call, o)
	if err != nil {
		return 0, nil, err
	}
	e := estimate{execution: x, ctx: ctx, message: m}
	highest, err := e.highest(call)
	if err != nil {
		return 0, nil, err
	}
	return e.search(highest)
}

// estimate is a search for a gas limit.
type estimate struct {
	*execution
	ctx     context.Context
	message *core.Message
}

// highest returns the most gas that the call may use: its own limit or the block's, capped by the node's limit and by the sender's balance.
func (e *estimate) highest(call *Call) (uint64, error) {
	limit := e.context.GasLimit
	if call.Gas != nil && uint64(*call.Gas) >= params.TxGas {
		limit = uint64(*call.Gas)
	}
	if fee := e.message.GasFeeCap; !fee.IsZero() {
		available := e.states.GetBalance(e.message.From).Clone()
		if err := evm.Fault(e.states); err != nil {
			return 0, err
		}
		if !e.message.Value.Lt(available) { // so a sender without coins cannot offer a fee, not even to move nothing
			return 0, core.ErrInsufficientFundsForTransfer
		}
		available.Sub(available, e.message.Value)
		if allowance := new(uint256.Int).Div(available, fee); allowance.IsUint64() {
			limit = min(limit, allowance.Uint64())
		}
	}
	return min(limit, e.chain.Limits.Gas), nil
}

// try executes with a gas limit; enough reports whether it sufficed.
func (e *estimate) try(gas uint64) (enough bool, result *core.ExecutionResult, err error) {
	e.message.GasLimit = gas
	result, err = e.execution.copy().run(e.ctx, e.message, nil)
	switch {
	case errors.Is(err, core.ErrIntrinsicGas):
		return false, nil, nil
	case err != nil && e.ctx.Err() != nil:
		return false, nil, err
	case err != nil:
		return false, nil, fmt.Errorf("failed with %d gas: %w", gas, err)
	}
	return !result.Failed(), result, nil
}

// isTransfer reports whether the call only moves value, which needs no search.
func (e *estimate) isTransfer() bool {
	return len(e.message.Data) == 0 && e.message.To != nil && e.states.GetCodeSize(*e.message.To) == 0
}

func (e *estimate) search(highest uint64) (uint64, *core.ExecutionResult, error) {
	if e.isTransfer() {
		enough, result, err := e.try(params.TxGas)
		if err == nil && enough {
			return result.UsedGas, nil, nil
		}
		if store.Internal(err) {
			return 0, nil, err
		}
	}
	if err := evm.Fault(e.states); err != nil {
		return 0, nil, err
	}
	enough, result, err := e.try(highest)
	if err != nil {
		return 0, nil, err
	}
	if !enough {
		if result != nil && !errors.Is(result.Err, vm.ErrOutOfGas) {
			return 0, result, nil
		}
		return 0, nil, fmt.Errorf("%w (%d)", ErrAllowance, highest)
	}
	low, high := result.MaxUsedGas-1, highest
	guess := (result.MaxUsedGas + params.CallStipend) * 64 / 63
	if guess < high {
		if low, high, err = e.narrow(low, high, guess); err != nil {
			return 0, nil, err
		}
	}
	for low+1 < high && (high-low)*1000 >= high*estimateTolerance {
		if low, high, err = e.narrow(low, high, min(low+(high-low)/2, 2*low)); err != nil {
			return 0, nil, err
		}
	}
	return high, nil, nil
}

// narrow tries a limit between two bounds and moves one of them there.
func (e *estimate) narrow(low, high, gas uint64) (uint64, uint64, error) {
	enough, _, err := e.try(gas)
	if enough {
		return low, gas, err
	}
	return gas, high, err
}
