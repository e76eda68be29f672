package debug

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"snowglobe/handlers/explain"
	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// Namespaces returns the debug methods of a chain. The explainer adds names to calls.
func Namespaces(m *miner.Miner, explainer *explain.Explainer) []rpc.Namespace {
	a := &api{m.Chain, m, explainer}
	return []rpc.Namespace{{Name: "debug", Methods: a}, {Name: "debug", Methods: &stateAPI{a}}, {Name: "debug", Methods: &otherAPI{a}}}
}

// api implements the methods that read: traces (coreth's eth/tracers.API) and raw bytes (internal/ethapi.DebugAPI).
type api struct {
	chain *reader.Chain
	miner *miner.Miner

	explainer *explain.Explainer // may be nil
}

func (a *api) block(ctx context.Context, ref *eth.BlockRef) (*reader.Block, error) {
	return eth.BlockOf(ctx, a.miner, ref)
}

var (
	errTransaction  = errors.New("transaction not found")
	errTracePending = errors.New("tracing on top of pending is not supported")
)

// TraceTransaction re-executes a transaction at its position in its block and returns the trace.
func (a *api) TraceTransaction(ctx context.Context, hash common.Hash, config *reader.TraceConfig) (rpc.Result, error) {
	t, err := a.chain.Transaction(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return rpc.Result{}, errTransaction
	}
	if err == nil {
		err = eth.CheckExecuted(ctx, a.miner, t.Block)
	}
	if err != nil {
		return rpc.Result{}, err
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return rpc.Result{}, err
	}
	trace, err := a.chain.TraceTransaction(ctx, t, config)
	if err != nil {
		return rpc.Result{}, err
	}
	return resultOf(a.explainer.Name(ctx, a.chain, t.Block, config, trace)), nil
}

// TraceBlockByNumber traces every transaction of a block.
func (a *api) TraceBlockByNumber(ctx context.Context, number eth.BlockNumber, config *reader.TraceConfig) (rpc.Result, error) {
	return a.traceBlock(ctx, eth.Numbered(number), config)
}

// TraceBlockByHash traces every transaction of a block.
func (a *api) TraceBlockByHash(ctx context.Context, hash common.Hash, config *reader.TraceConfig) (rpc.Result, error) {
	return a.traceBlock(ctx, eth.Hashed(hash), config)
}

// TraceBlock traces every transaction of a block given as RLP. The block must belong to the chain.
func (a *api) TraceBlock(ctx context.Context, block hexutil.Bytes, config *reader.TraceConfig) (rpc.Result, error) {
	var parts []rlp.RawValue
	if err := rlp.DecodeBytes(block, &parts); err != nil {
		return rpc.Result{}, fmt.Errorf("could not decode block: %w", err)
	}
	if len(parts) == 0 {
		return rpc.Result{}, errors.New("could not decode block: it has no header")
	}
	hash := crypto.Keccak256Hash(parts[0])
	b, err := a.chain.BlockByHash(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return rpc.Result{}, fmt.Errorf("block %#x does not belong to this chain: only its blocks can be traced", hash)
	}
	if err != nil {
		return rpc.Result{}, err
	}
	return a.trace(ctx, b, config)
}

// TraceBadBlock finds nothing: the chain never rejected a block.
func (a *api) TraceBadBlock(hash common.Hash) (json.RawMessage, error) {
	return nil, fmt.Errorf("bad block %#x not found", hash)
}

func (a *api) traceBlock(ctx context.Context, ref *eth.BlockRef, config *reader.TraceConfig) (rpc.Result, error) {
	if ref.Pending() {
		ref = eth.Numbered(eth.Latest) // a node has no other pending block
	}
	b, err := a.traced(ctx, ref)
	if err != nil {
		return rpc.Result{}, err
	}
	return a.trace(ctx, b, config)
}

// traced finds a block to trace, or the one on top of which to trace a call.
func (a *api) traced(ctx context.Context, ref *eth.BlockRef) (*reader.Block, error) {
	b, err := eth.ExecutedBlockOf(ctx, a.miner, ref)
	if errors.Is(err, eth.ErrHash) {
		return nil, fmt.Errorf("block %s not found", ref.Hash.Hex())
	}
	return b, err
}

// trace returns the traces of a block's transactions.
func (a *api) trace(ctx context.Context, b *reader.Block, config *reader.TraceConfig) (rpc.Result, error) {
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return rpc.Result{}, err
	}
	results, err := a.chain.TraceBlock(ctx, b, config)
	if err != nil {
		return rpc.Result{}, err
	}
	all, separator := make(reader.Trace, 0, 4*len(results)+1), "["
	for _, r := range results {
		r.Trace = a.explainer.Name(ctx, a.chain, b, config, r.Trace)
		all = append(append(all, reader.PlainPart(fmt.Appendf(nil, `%s{"txHash":"%#x","result":`, separator, r.TxHash))), r.Trace...)
		separator = "},"
	}
	if len(results) == 0 {
		return rpc.Bytes([]byte("[]")), nil
	}
	return resultOf(append(all, reader.PlainPart([]byte("}]")))), nil
}

// small is the size up to which a trace is built in memory.
const small = 64 << 10

func resultOf(t reader.Trace) rpc.Result {
	size := t.Size()
	if size <= small {
		return rpc.Bytes(t.JSON())
	}
	return rpc.Written(size, t.Held(), func(_ context.Context, w io.Writer) error { return t.Write(w) })
}

// TraceCallConfig is a trace's configuration with the call's overrides.
type TraceCallConfig struct {
	reader.TraceConfig
	StateOverrides *reader.StateOverrides
	BlockOverrides *reader.BlockOverrides
	TxIndex        *hexutil.Uint // position in the block before which the call runs
}

// TraceCall traces a call on top of a block (coreth eth/tracers.API.TraceCall).
func (a *api) TraceCall(ctx context.Context, call reader.Call, ref eth.BlockRef, config *TraceCallConfig) (rpc.Result, error) {
	if ref.Pending() {
		return rpc.Result{}, errTracePending
	}
	b, err := a.traced(ctx, &ref)
	if err != nil {
		return rpc.Result{}, err
	}
	if config == nil {
		config = &TraceCallConfig{}
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return rpc.Result{}, err
	}
	overrides := eth.Overrides(config.StateOverrides, config.BlockOverrides)
	overrides.Before = (*uint)(config.TxIndex)
	trace, err := a.chain.TraceCall(ctx, b, &call, overrides, &config.TraceConfig)
	if err != nil {
		return rpc.Result{}, err
	}
	return resultOf(a.explainer.Name(ctx, a.chain, b, &config.TraceConfig, trace)), nil
}

// GetRawHeader returns the RLP of a header.
func (a *api) GetRawHeader(ctx context.Context, ref eth.BlockRef) (hexutil.Bytes, error) {
	b, err := a.block(ctx, &ref)
	if errors.Is(err, eth.ErrHash) {
		return nil, fmt.Errorf("header #%d not found", *ref.Hash)
	}
	if err != nil {
		return nil, err
	}
	return hexutil.Bytes(b.Row.Header), nil
}

// GetRawBlock returns the RLP of a block.
func (a *api) GetRawBlock(ctx context.Context, ref eth.BlockRef) (hexutil.Bytes, error) {
	b, err := a.block(ctx, &ref)
	if errors.Is(err, eth.ErrHash) {
		return nil, fmt.Errorf("block #%d not found", *ref.Hash)
	}
	if err != nil {
		return nil, err
	}
	return a.chain.RawBlock(ctx, b)
}

// GetRawReceipts returns a block's receipts in consensus encoding; like a node, it returns none for an unknown hash.
func (a *api) GetRawReceipts(ctx context.Context, ref eth.BlockRef) ([]hexutil.Bytes, error) {
	b, err := eth.ExecutedBlockOf(ctx, a.miner, &ref)
	if errors.Is(err, eth.ErrHash) {
		return []hexutil.Bytes{}, nil
	}
	if err != nil {
		return nil, err
	}
	transactions, err := a.chain.Receipts(ctx, b)
	if err != nil {
		return nil, err
	}
	all := make([]hexutil.Bytes, len(transactions))
	for i, t := range transactions {
		if all[i], err = t.Receipt().MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// GetRawTransaction returns a transaction's bytes, empty if there is no such transaction.
func (a *api) GetRawTransaction(ctx context.Context, hash common.Hash) (hexutil.Bytes, error) {
	return eth.RawTransaction(ctx, a.miner, hash)
}
