package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
)

// bundle is a list of calls in a block, with overrides of the block under all names that clients use for them.
type bundle struct {
	Transactions  []reader.Call   `json:"transactions"`
	BlockOverride *bundleOverride `json:"blockOverride"`
}

type bundleOverride struct {
	reader.BlockOverrides
	BlockNumber *hexutil.Big           `json:"blockNumber"`
	Timestamp   *hexutil.Uint64        `json:"timestamp"`
	BlockHash   map[string]common.Hash `json:"blockHash"` // by number
}

// UnmarshalJSON reads the bundle's overrides.
func (o *bundleOverride) UnmarshalJSON(data []byte) error {
	type plain bundleOverride
	if err := json.Unmarshal(data, (*plain)(o)); err != nil {
		return err
	}
	o.Number = cmp.Or(o.BlockNumber, o.Number)
	o.Time = cmp.Or(o.Timestamp, o.Time)
	return nil
}

func (b *bundle) read() (reader.Bundle, error) {
	read := reader.Bundle{Calls: b.Transactions}
	if b.BlockOverride == nil {
		return read, nil
	}
	read.Block, read.Hashes = &b.BlockOverride.BlockOverrides, map[uint64]common.Hash{}
	for text, hash := range b.BlockOverride.BlockHash {
		var number eth.Quantity
		if err := number.UnmarshalJSON([]byte(text)); err != nil {
			return read, eth.ParamsError(fmt.Sprintf("blockHash %q: %v", text, err))
		}
		read.Hashes[uint64(number)] = hash
	}
	return read, nil
}

// stateContext names the state on which to begin: the one after a block, or before one of its transactions.
type stateContext struct {
	BlockNumber      *eth.BlockRef     `json:"blockNumber"`
	TransactionIndex *transactionIndex `json:"transactionIndex"`
}

// transactionIndex is a position in a block; -1 is the end.
type transactionIndex int

// UnmarshalJSON reads a number in any form.
func (i *transactionIndex) UnmarshalJSON(data []byte) error {
	if string(data) == "-1" {
		*i = -1
		return nil
	}
	var number eth.Quantity
	err := number.UnmarshalJSON(data)
	*i = transactionIndex(min(number, 1<<31-1))
	return err
}

// callAnswer is a call's output, or the reason why it failed.
type callAnswer struct {
	Value *hexutil.Bytes `json:"value,omitempty"`
	Error string         `json:"error,omitempty"`
}

func answerOf(r *core.ExecutionResult) callAnswer {
	if !r.Failed() {
		output := hexutil.Bytes(r.Return())
		return callAnswer{Value: &output}
	}
	reason := r.Err.Error()
	if text, err := abi.UnpackRevert(r.Revert()); err == nil {
		reason = fmt.Sprintf("%s: %s", vm.ErrExecutionReverted, text)
	}
	return callAnswer{Error: reason}
}

// longest is the time that a request without a limit of its own may take; the chain's limit is shorter.
const longest = time.Hour

// within returns a client's limit in milliseconds.
func within(timeout *eth.Quantity) time.Duration {
	if timeout == nil || *timeout == 0 {
		return longest
	}
	return time.Duration(min(*timeout, eth.Quantity(longest/time.Millisecond))) * time.Millisecond
}

// CallMany executes bundles of calls, each call on the state that the last one left, and returns the output of each or the reason why it failed. Each
// bundle adds one to the block's number and time. The context names a block and, optionally, the transaction to start before. timeout is in
// milliseconds.
func (a *api) CallMany(ctx context.Context, bundles []bundle, state *stateContext, states *reader.StateOverrides, timeout *eth.Quantity) ([][]callAnswer, error) {
	if len(bundles) == 0 {
		return nil, eth.ParamsError("bundles are empty")
	}
	state = cmp.Or(state, &stateContext{})
	read, calls := make([]reader.Bundle, len(bundles)), 0
	for i := range bundles {
		var err error
		if read[i], err = bundles[i].read(); err != nil {
			return nil, err
		}
		calls += len(bundles[i].Transactions)
	}
	if calls > maxCalls {
		return nil, &reader.SimulationError{Message: fmt.Sprintf("too many calls: %d > %d", calls, maxCalls), Code: codeLimitExceeded}
	}
	b, err := eth.ExecutedBlockOf(ctx, a.miner, state.BlockNumber)
	if err != nil {
		return nil, err
	}
	o := eth.Overrides(states, nil)
	if o.Before, err = state.before(b); err != nil {
		return nil, err
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return nil, err
	}
	results, err := a.miner.Chain.CallMany(ctx, b, o, read, within(timeout))
	if err != nil {
		return nil, err
	}
	answers := make([][]callAnswer, len(results))
	for i := range results {
		answers[i] = make([]callAnswer, len(results[i]))
		for j, r := range results[i] {
			answers[i][j] = answerOf(r)
		}
	}
	return answers, nil
}

// before returns the position in a block before which to begin, nil for its end.
func (s *stateContext) before(b *reader.Block) (*uint, error) {
	switch i := s.TransactionIndex; {
	case i == nil || *i < 0:
		return nil, nil
	case b.Pending():
		return nil, eth.ParamsError("transactionIndex: the pending block has no positions")
	case int(*i) > b.Row.Txs:
		return nil, eth.ParamsError(fmt.Sprintf("transactionIndex is %d, and the block has %d transactions", *i, b.Row.Txs))
	case int(*i) == b.Row.Txs:
		return nil, nil
	default:
		return new(uint(*i)), nil
	}
}
