package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
)

// Limits of one request, as in go-ethereum.
const (
	maxBlocks        = 256
	maxCallsPerBlock = 5_000
	maxCalls         = 10_000
)

// The handler's own error codes (internal/ethapi/errors.go).
const (
	codeInvalidParams = -32602
	codeLimitExceeded = -38026
	codeVM            = -32015
	codeRevert        = 3
)

// Namespaces returns the methods of a chain that try calls and transactions.
func Namespaces(m *miner.Miner) []rpc.Namespace {
	return []rpc.Namespace{{Name: "eth", Methods: &api{m}}}
}

type api struct{ miner *miner.Miner }

// options holds the parameters of eth_simulateV1.
type options struct {
	BlockStateCalls        []blockCalls
	TraceTransfers         bool
	Validation             bool
	ReturnFullTransactions bool
}

type blockCalls struct {
	BlockOverrides *reader.BlockOverrides
	StateOverrides reader.StateOverrides
	Calls          []reader.Call
}

// UnmarshalJSON rejects unknown overrides, as go-ethereum does for this method only.
func (b *blockCalls) UnmarshalJSON(data []byte) error {
	var parts struct {
		BlockOverrides map[string]json.RawMessage
		StateOverrides map[common.Address]map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if err := checkKeys(parts.BlockOverrides, reflect.TypeFor[reader.BlockOverrides](), "block override"); err != nil {
		return err
	}
	for _, address := range slices.SortedFunc(maps.Keys(parts.StateOverrides), common.Address.Cmp) {
		if err := checkKeys(parts.StateOverrides[address], reflect.TypeFor[reader.AccountOverride](), "state override for "+address.Hex()); err != nil {
			return err
		}
	}
	type plain blockCalls
	return json.Unmarshal(data, (*plain)(b))
}

func checkKeys(keys map[string]json.RawMessage, of reflect.Type, what string) error {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		_, known := of.FieldByNameFunc(func(name string) bool {
			field, _ := of.FieldByName(name)
			return strings.EqualFold(field.Tag.Get("json"), key)
		})
		if !known {
			return fmt.Errorf("unknown field %q in %s", key, what)
		}
	}
	return nil
}

// check rejects requests over the limits.
func (o *options) check() error {
	switch {
	case len(o.BlockStateCalls) == 0:
		return &reader.SimulationError{Message: "empty input", Code: codeInvalidParams}
	case len(o.BlockStateCalls) > maxBlocks:
		return &reader.SimulationError{Message: "too many blocks", Code: codeLimitExceeded}
	}
	total := 0
	for _, b := range o.BlockStateCalls {
		if n := len(b.Calls); n > maxCallsPerBlock {
			return &reader.SimulationError{Message: fmt.Sprintf("too many calls in block: %d > %d", n, maxCallsPerBlock), Code: codeLimitExceeded}
		}
		if total += len(b.Calls); total > maxCalls {
			return &reader.SimulationError{Message: fmt.Sprintf("too many calls: %d > %d", total, maxCalls), Code: codeLimitExceeded}
		}
	}
	return nil
}

// callResult describes a call's outcome.
type callResult struct {
	ReturnData hexutil.Bytes  `json:"returnData"`
	Logs       []*types.Log   `json:"logs"`
	GasUsed    hexutil.Uint64 `json:"gasUsed"`
	MaxUsedGas hexutil.Uint64 `json:"maxUsedGas"`
	Status     hexutil.Uint64 `json:"status"`
	Error      *callError     `json:"error,omitempty"`
}

type callError struct {
	Message string `json:"message"`
	Code    int    `json:"code"`
	Data    string `json:"data,omitempty"`
}

func resultOf(c *reader.SimulatedCall) callResult {
	r := callResult{ReturnData: c.Return(), Logs: c.Logs, GasUsed: hexutil.Uint64(c.UsedGas), MaxUsedGas: hexutil.Uint64(c.MaxUsedGas), Status: 1}
	if r.Logs == nil {
		r.Logs = []*types.Log{}
	}
	if !c.Failed() {
		return r
	}
	r.Status = 0
	if !errors.Is(c.Err, vm.ErrExecutionReverted) {
		r.Error = &callError{Message: c.Err.Error(), Code: codeVM}
		if c.Capped {
			r.Error.Message += " (gas limit was capped by the RPC server's global gas cap)"
		}
		return r
	}
	r.Error = &callError{Message: vm.ErrExecutionReverted.Error(), Code: codeRevert, Data: hexutil.Encode(c.Revert())}
	if reason, err := abi.UnpackRevert(c.Revert()); err == nil {
		r.Error.Message += ": " + reason
	}
	return r
}

// blockResult returns a block as eth_getBlockByNumber returns it, with the outcomes of its calls.
func blockResult(kind evm.Kind, b *reader.SimulatedBlock, full bool) (json.RawMessage, error) {
	results := make([]callResult, len(b.Calls))
	for i := range b.Calls {
		results[i] = resultOf(&b.Calls[i])
	}
	calls, err := json.Marshal(results)
	if err != nil {
		return nil, err
	}
	block := marshal.Block(kind, b.Block, b.Transactions, uint64(b.Size), full)
	return slices.Concat(block[:len(block)-1], []byte(`,"calls":`), calls, []byte("}")), nil
}

// SimulateV1 executes calls in blocks on top of a block, and returns these blocks.
func (a *api) SimulateV1(ctx context.Context, o options, ref *eth.BlockRef) ([]json.RawMessage, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	b, err := eth.ExecutedBlockOf(ctx, a.miner, ref)
	if err != nil {
		return nil, err
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return nil, err
	}
	s := reader.Simulation{TraceTransfers: o.TraceTransfers, Validate: o.Validation}
	for _, calls := range o.BlockStateCalls {
		s.Blocks = append(s.Blocks, reader.BlockCalls{Block: calls.BlockOverrides, State: calls.StateOverrides, Calls: calls.Calls})
	}
	made, err := a.miner.Chain.Simulate(ctx, b, s)
	if err != nil {
		return nil, err
	}
	answer := make([]json.RawMessage, len(made))
	for i := range made {
		if answer[i], err = blockResult(a.miner.Chain.Kind, made[i], o.ReturnFullTransactions); err != nil {
			return nil, err
		}
	}
	return answer, nil
}
