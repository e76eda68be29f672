package reader

import (
	"context"
	"sync/atomic"
)

// gasBudget is what the code of several calls may use together.
type gasBudget struct{ left atomic.Int64 }

type budgetKey struct{}

// WithGas is a context for calls that may use an amount of gas together, such as those of one batch. A call that begins
// when it is used up is refused.
func WithGas(ctx context.Context, gas uint64) context.Context {
	b := &gasBudget{}
	b.left.Store(int64(gas))
	return context.WithValue(ctx, budgetKey{}, b)
}

// spendGas takes gas from the budget of a context, if it has one.
func spendGas(ctx context.Context, gas uint64) {
	if b, ok := ctx.Value(budgetKey{}).(*gasBudget); ok {
		b.left.Add(-int64(gas))
	}
}

// checkGas refuses to begin when the budget of a context is used up.
func checkGas(ctx context.Context) error {
	if b, ok := ctx.Value(budgetKey{}).(*gasBudget); ok && b.left.Load() <= 0 {
		return budgetError{}
	}
	return nil
}

// budgetError is what a node answers to those calls of a batch that it did not come to (go-ethereum's rpc.errMsgTimeout).
type budgetError struct{}

func (budgetError) Error() string  { return "request timed out" }
func (budgetError) ErrorCode() int { return -32002 }
