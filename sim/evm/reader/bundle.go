package reader

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/sim/evm"
)

// Bundle is a list of calls in one block. Its overrides also hold for the bundles after it.
type Bundle struct {
	Calls  []Call
	Block  *BlockOverrides
	Hashes map[uint64]common.Hash // of earlier blocks, for BLOCKHASH
}

// CallMany executes bundles of calls on top of a block, each call on the state that the last one left. The number and the time of the block grow by
// one with each bundle, as in Erigon. It returns an error if a call could not run.
func (c *Chain) CallMany(ctx context.Context, b *Block, o Overrides, bundles []Bundle, limit time.Duration) ([][]*core.ExecutionResult, error) {
	ctx, leave, err := c.acquire(ctx, min(limit, c.Limits.Time))
	if err != nil {
		return nil, err
	}
	defer leave()
	x, err := c.executionOn(ctx, b, o)
	if err != nil {
		return nil, err
	}
	all := make([][]*core.ExecutionResult, len(bundles))
	for i := range bundles {
		if i > 0 {
			x.context.BlockNumber = new(big.Int).Add(x.context.BlockNumber, common.Big1)
			x.context.Time++
		}
		bundles[i].Block.apply(&x.context)
		x.context.GetHash = bundles[i].hashes(x.context.GetHash)
		if len(o.State) == 0 {
			x.precompiles = nil // they depend on the time
		}
		all[i] = make([]*core.ExecutionResult, len(bundles[i].Calls))
		for j := range bundles[i].Calls {
			if all[i][j], err = x.callNext(ctx, &bundles[i].Calls[j]); err != nil {
				return nil, fmt.Errorf("bundle %d, transaction %d: %w", i, j, err)
			}
		}
	}
	return all, nil
}

// hashes answers BLOCKHASH with the bundle's hashes, where it has any.
func (b *Bundle) hashes(other vm.GetHashFunc) vm.GetHashFunc {
	if len(b.Hashes) == 0 {
		return other
	}
	return func(number uint64) common.Hash {
		if hash, given := b.Hashes[number]; given {
			return hash
		}
		return other(number)
	}
}

// callNext executes a call and keeps what it changed.
func (x *execution) callNext(ctx context.Context, call *Call) (*core.ExecutionResult, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	x.limited = call.Gas != nil
	m, err := call.message(x.context.BaseFee, x.chain.Limits.Gas)
	if err != nil {
		return nil, err
	}
	return x.next(ctx, m)
}

// next executes a message, credits the base fee that it pays, and keeps what it changed.
func (x *execution) next(ctx context.Context, m *core.Message) (*core.ExecutionResult, error) {
	result, err := x.run(ctx, m, nil)
	if err != nil {
		return nil, err
	}
	if !m.GasPrice.IsZero() {
		evm.BurnBaseFee(x.states, &evm.Header{Coinbase: x.context.Coinbase, BaseFee: x.context.BaseFee}, result.UsedGas)
	}
	x.states.Finalise(x.rules())
	return result, nil
}

// Signed is a signed transaction with its sender.
type Signed struct {
	*types.Transaction
	Sender common.Address
}

// SignedResult is the outcome of a signed transaction.
type SignedResult struct {
	*core.ExecutionResult
	Price *big.Int // in wei, of a unit of gas
	Paid  *big.Int // to the coinbase, in wei: all fees, and what contracts sent it
}

// CallSigned executes signed transactions in a block on top of another, each on the state that the last one left. It returns an error if one of
// them is not valid there.
func (c *Chain) CallSigned(ctx context.Context, b *Block, o *BlockOverrides, transactions []Signed, limit time.Duration) ([]SignedResult, error) {
	ctx, leave, err := c.acquire(ctx, min(limit, c.Limits.Time))
	if err != nil {
		return nil, err
	}
	defer leave()
	x, err := c.executionOn(ctx, b, Overrides{Block: o})
	if err != nil {
		return nil, err
	}
	x.limited, x.pool = true, core.NewGasPool(x.context.GasLimit)
	results := make([]SignedResult, len(transactions))
	for i := range transactions {
		if results[i], err = x.nextSigned(ctx, i, &transactions[i]); err != nil {
			return nil, fmt.Errorf("transaction %d, %s: %w", i, transactions[i].Hash(), err)
		}
	}
	return results, nil
}

func (x *execution) nextSigned(ctx context.Context, index int, t *Signed) (r SignedResult, err error) {
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	m, err := evm.TransactionToMessage(t.Transaction, t.Sender, x.context.BaseFee)
	if err != nil {
		return r, err
	}
	before := x.states.GetBalance(x.context.Coinbase).ToBig()
	x.states.SetTxContext(t.Hash(), index, 0)
	if r.ExecutionResult, err = x.next(ctx, m); err != nil {
		return r, err
	}
	r.Price, r.Paid = m.GasPrice.ToBig(), new(big.Int).Sub(x.states.GetBalance(x.context.Coinbase).ToBig(), before)
	return r, evm.Fault(x.states)
}
