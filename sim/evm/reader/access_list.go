package reader

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"

	"snowglobe/sim/evm/precompile"
)

// AccessList finds the addresses and slots that a call touches (coreth internal/ethapi.AccessList). It executes the call with the previous
// result as its access list until nothing new turns up, and returns the last execution's result.
func (c *Chain) AccessList(ctx context.Context, b *Block, call *Call, o Overrides) (types.AccessList, *core.ExecutionResult, error) {
	ctx, leave, err := c.acquire(ctx, c.Limits.Time)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	x, m, err := c.executionOf(ctx, b, call, o)
	if err != nil {
		return nil, nil, err
	}
	result, err := x.accessList(ctx, m)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("failed to apply transaction: %s err: %w", call.listed(c.chainConfig.ChainID, m).Hash(), err)
	}
	return m.AccessList, result, err
}

// listed converts the call to an unsigned transaction with the message's access list.
func (c *Call) listed(chainID *big.Int, m *core.Message) *types.Transaction {
	if c.GasPrice != nil {
		return types.NewTx(&types.AccessListTx{ChainID: chainID, Nonce: m.Nonce, GasPrice: m.GasPrice.ToBig(), Gas: m.GasLimit, To: m.To,
			Value: m.Value.ToBig(), Data: m.Data, AccessList: m.AccessList})
	}
	return c.transaction(chainID, m)
}

// accessList completes the message's access list. It keeps the entries for the warp precompile unchanged and in order, and adds none: they
// are predicates (ACP-30), each a message from another chain.
func (x *execution) accessList(ctx context.Context, m *core.Message) (*core.ExecutionResult, error) {
	left, predicates := x.freeAddresses(m), types.AccessList{}
	if x.precompilesAt().HasWarp() {
		left[precompile.WarpAddress] = struct{}{}
		predicates = append(predicates, m.AccessList...)
		predicates = slices.DeleteFunc(predicates, func(entry types.AccessTuple) bool { return entry.Address != precompile.WarpAddress })
	}
	last := logger.NewAccessListTracer(m.AccessList, left)
	for {
		m.AccessList = append(slices.Clip(predicates), last.AccessList()...)
		tracer := logger.NewAccessListTracer(m.AccessList, left)
		result, err := x.copy().run(ctx, m, tracer.Hooks())
		if err != nil || tracer.Equal(last) {
			return result, err
		}
		last = tracer
	}
}

func (x *execution) freeAddresses(m *core.Message) map[common.Address]struct{} {
	to := crypto.CreateAddress(m.From, m.Nonce)
	if m.To != nil {
		to = *m.To
	}
	free := map[common.Address]struct{}{m.From: {}, to: {}}
	for address := range x.precompilesAt().WarmAddresses() {
		free[address] = struct{}{}
	}
	return free
}
