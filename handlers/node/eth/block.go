package eth

import (
	"context"
	"encoding/json"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/node/rpc"
	"snowglobe/sim/cache"
	"snowglobe/sim/evm/reader"
)

// blockAPI implements the eth methods about blocks and headers: coreth's internal/ethapi.BlockChainAPI.
type blockAPI struct{ *api }

// BlockNumber returns the number of the last executed block.
func (a *blockAPI) BlockNumber(ctx context.Context) (hexutil.Uint64, error) {
	b, err := a.miner.LastExecuted(ctx)
	if err != nil {
		return 0, err
	}
	return hexutil.Uint64(b.Number), nil
}

// GetBlockByNumber returns a block, with its transactions in full or by hash. A number above the head is an error.
func (a *blockAPI) GetBlockByNumber(ctx context.Context, number BlockNumber, full bool) (rpc.Result, error) {
	b, err := a.byNumber(ctx, number)
	if err != nil {
		return rpc.Result{}, err
	}
	return a.blockJSON(ctx, b, full)
}

// GetBlockByHash returns a block, or null.
func (a *blockAPI) GetBlockByHash(ctx context.Context, hash common.Hash, full bool) (rpc.Result, error) {
	b, err := a.chain.BlockByHash(ctx, hash)
	if err != nil {
		return rpc.Result{}, OrNull(err)
	}
	return a.blockJSON(ctx, b, full)
}

// GetHeaderByNumber returns a header. A number above the head is an error.
func (a *blockAPI) GetHeaderByNumber(ctx context.Context, number BlockNumber) (json.RawMessage, error) {
	b, err := a.byNumber(ctx, number)
	if err != nil {
		return nil, err
	}
	return marshal.Header(a.chain.Kind, b), nil
}

// GetHeaderByHash returns a header, or null.
func (a *blockAPI) GetHeaderByHash(ctx context.Context, hash common.Hash) (json.RawMessage, error) {
	b, err := a.chain.BlockByHash(ctx, hash)
	if err != nil {
		return nil, OrNull(err)
	}
	return marshal.Header(a.chain.Kind, b), nil
}

// GetBlockTransactionCountByNumber counts a block's transactions, or returns null.
func (a *blockAPI) GetBlockTransactionCountByNumber(ctx context.Context, number BlockNumber) (*hexutil.Uint, error) {
	return count(a.byNumber(ctx, number))
}

// GetBlockTransactionCountByHash counts a block's transactions, or returns null.
func (a *blockAPI) GetBlockTransactionCountByHash(ctx context.Context, hash common.Hash) (*hexutil.Uint, error) {
	return count(a.chain.BlockByHash(ctx, hash))
}

func count(b *reader.Block, err error) (*hexutil.Uint, error) {
	if Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return new(hexutil.Uint(b.Row.Txs)), nil
}

// GetUncleCountByBlockNumber returns zero for every block: these chains have no uncles.
func (a *blockAPI) GetUncleCountByBlockNumber(ctx context.Context, number BlockNumber) (*hexutil.Uint, error) {
	return noUncles(count(a.byNumber(ctx, number)))
}

// GetUncleCountByBlockHash returns zero for every block.
func (a *blockAPI) GetUncleCountByBlockHash(ctx context.Context, hash common.Hash) (*hexutil.Uint, error) {
	return noUncles(count(a.chain.BlockByHash(ctx, hash)))
}

func noUncles(transactions *hexutil.Uint, err error) (*hexutil.Uint, error) {
	if transactions == nil {
		return nil, err
	}
	return new(hexutil.Uint), nil
}

// GetUncleByBlockNumberAndIndex always returns null. A number above the head is an error.
func (a *blockAPI) GetUncleByBlockNumberAndIndex(ctx context.Context, number BlockNumber, _ hexutil.Uint) (json.RawMessage, error) {
	_, err := a.byNumber(ctx, number)
	return null, err
}

// GetUncleByBlockHashAndIndex always returns null.
func (a *blockAPI) GetUncleByBlockHashAndIndex(context.Context, common.Hash, hexutil.Uint) json.RawMessage {
	return null
}

// blockCache caches recent answers about blocks, which never change.
type blockCache = cache.Cache[blockKey, []byte]

type blockKey struct {
	number uint64
	full   bool
}

// blockJSON returns a block as JSON, from the cache if possible.
func (a *api) blockJSON(ctx context.Context, b *reader.Block, full bool) (rpc.Result, error) {
	key := blockKey{b.Number, full}
	if answer, known := a.blocks.Get(key); known && !b.Pending() {
		return rpc.Bytes(answer), nil
	}
	transactions, err := a.chain.Transactions(ctx, b)
	if err != nil {
		return rpc.Result{}, err
	}
	answer := marshal.Block(a.chain.Kind, b, transactions, a.chain.Size(b, transactions), full)
	if !b.Pending() {
		a.blocks.Add(key, answer)
	}
	return rpc.Bytes(answer), nil
}

// GetBadBlocks returns an empty list: the chain never rejected a block.
func (a *blockAPI) GetBadBlocks() []any { return []any{} }
