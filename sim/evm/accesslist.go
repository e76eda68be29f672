package evm

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"

	"snowglobe/sim/evm/precompile"
)

// AccessList finds the addresses and slots that a call touches, by executing it with what it touched before until
// nothing new turns up. The result is that of the last execution.
func (c *Chain) AccessList(ctx context.Context, b *Block, call *Call, o Overrides) (types.AccessList, *core.ExecutionResult, error) {
	if err := call.check(c.Genesis.ChainID); err != nil {
		return nil, nil, err
	}
	ctx, leave, err := c.enter(ctx, c.Limits.Time)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	x, err := c.on(ctx, b, o)
	if err != nil {
		return nil, nil, err
	}
	if call.Nonce == nil {
		nonce := hexutil.Uint64(x.states.GetNonce(call.sender()))
		call.Nonce = &nonce
	}
	m, err := call.message(x.context.BaseFee, c.Limits.Gas)
	if err != nil {
		return nil, nil, err
	}
	return x.touched(ctx, m)
}

// touched keeps what the message carries for the warp contract as it is and in its order, and adds no entry for that
// contract: none of these is a hint, each is a message of another chain.
func (x *execution) touched(ctx context.Context, m *core.Message) (types.AccessList, *core.ExecutionResult, error) {
	left, carried := x.always(m), types.AccessList{}
	if x.contracts().carries() {
		left[precompile.WarpAddress] = struct{}{}
		carried = append(carried, m.AccessList...)
		carried = slices.DeleteFunc(carried, func(entry types.AccessTuple) bool { return entry.Address != precompile.WarpAddress })
	}
	last := logger.NewAccessListTracer(m.AccessList, left)
	for {
		m.AccessList = append(slices.Clip(carried), last.AccessList()...)
		tracer := logger.NewAccessListTracer(m.AccessList, left)
		result, err := x.copy().run(ctx, m, tracer.Hooks())
		if err != nil {
			return nil, nil, fmt.Errorf("failed to apply transaction: %w", err)
		}
		if tracer.Equal(last) {
			return m.AccessList, result, nil
		}
		last = tracer
	}
}

// always are the addresses that every transaction touches for free.
func (x *execution) always(m *core.Message) map[common.Address]struct{} {
	to := crypto.CreateAddress(m.From, m.Nonce)
	if m.To != nil {
		to = *m.To
	}
	free := map[common.Address]struct{}{m.From: {}, to: {}}
	for _, address := range vm.ActivePrecompiles(x.rules()) {
		free[address] = struct{}{}
	}
	for _, address := range x.contracts().early {
		free[address] = struct{}{}
	}
	return free
}
