package eth

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/node/rpc"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/evm/txpool"
	"snowglobe/sim/miner"
)

// transactionAPI implements the eth methods about transactions and receipts: coreth's internal/ethapi.TransactionAPI.
type transactionAPI struct{ *api }

// GetTransactionByHash returns a transaction of a block or of the pool, or null.
func (a *transactionAPI) GetTransactionByHash(ctx context.Context, hash common.Hash) (json.RawMessage, error) {
	if t := a.miner.Pool.Get(hash); t != nil {
		return marshal.Pooled(t), nil
	}
	return encoded(a.chain.Transaction(ctx, hash))
}

// GetTransactionBySenderAndNonce returns an account's transaction with a nonce, of the pool or of a block, or null. No node of the network has
// this method; reth and anvil do.
func (a *transactionAPI) GetTransactionBySenderAndNonce(ctx context.Context, sender common.Address, nonce Quantity) (json.RawMessage, error) {
	if t := a.pooled(sender, uint64(nonce)); t != nil {
		return marshal.Pooled(t), nil
	}
	return encoded(a.chain.TransactionBySenderAndNonce(ctx, sender, uint64(nonce)))
}

// pooled returns an account's waiting transaction with a nonce, or nil.
func (a *api) pooled(sender common.Address, nonce uint64) *txpool.Transaction {
	pending, queued := a.miner.Pool.Of(sender)
	for _, t := range slices.Concat(pending, queued) {
		if t.Nonce() == nonce {
			return t
		}
	}
	return nil
}

// GetTransactionByBlockNumberAndIndex returns a transaction, or null.
func (a *transactionAPI) GetTransactionByBlockNumberAndIndex(ctx context.Context, number BlockNumber, index hexutil.Uint) (json.RawMessage, error) {
	b, err := a.byNumber(ctx, number)
	return encoded(a.at(ctx, b, err, index))
}

// GetTransactionByBlockHashAndIndex returns a transaction, or null.
func (a *transactionAPI) GetTransactionByBlockHashAndIndex(ctx context.Context, hash common.Hash, index hexutil.Uint) (json.RawMessage, error) {
	b, err := a.chain.BlockByHash(ctx, hash)
	return encoded(a.at(ctx, b, err, index))
}

func (a *transactionAPI) at(ctx context.Context, b *reader.Block, err error, index hexutil.Uint) (*reader.Transaction, error) {
	if err != nil {
		return nil, err
	}
	return a.chain.TransactionAt(ctx, b, uint64(index))
}

func encoded(t *reader.Transaction, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, OrNull(err)
	}
	return marshal.Transaction(t), nil
}

// GetRawTransactionByHash returns a transaction's bytes, empty if there is no such transaction.
func (a *transactionAPI) GetRawTransactionByHash(ctx context.Context, hash common.Hash) (hexutil.Bytes, error) {
	return RawTransaction(ctx, a.miner, hash)
}

// RawTransaction returns the bytes of a transaction of a block or of the pool.
func RawTransaction(ctx context.Context, m *miner.Miner, hash common.Hash) (hexutil.Bytes, error) {
	if pooled := m.Pool.Get(hash); pooled != nil {
		return pooled.MarshalBinary()
	}
	t, err := m.Chain.Transaction(ctx, hash)
	return raw(t, err)
}

// GetRawTransactionByBlockNumberAndIndex returns the bytes of a transaction.
func (a *transactionAPI) GetRawTransactionByBlockNumberAndIndex(ctx context.Context, number BlockNumber, index hexutil.Uint) (hexutil.Bytes, error) {
	b, err := a.byNumber(ctx, number)
	return raw(a.at(ctx, b, err, index))
}

// GetRawTransactionByBlockHashAndIndex returns the bytes of a transaction.
func (a *transactionAPI) GetRawTransactionByBlockHashAndIndex(ctx context.Context, hash common.Hash, index hexutil.Uint) (hexutil.Bytes, error) {
	b, err := a.chain.BlockByHash(ctx, hash)
	return raw(a.at(ctx, b, err, index))
}

func raw(t *reader.Transaction, err error) (hexutil.Bytes, error) {
	if Missing(err) {
		return hexutil.Bytes{}, nil
	}
	if err != nil {
		return nil, err
	}
	return hexutil.Bytes(t.Row.Raw), nil
}

// GetTransactionReceipt returns a transaction's receipt, or null.
func (a *transactionAPI) GetTransactionReceipt(ctx context.Context, hash common.Hash) (json.RawMessage, error) {
	return a.receipt(ctx, hash)
}

func (a *api) receipt(ctx context.Context, hash common.Hash) (json.RawMessage, error) {
	t, err := a.chain.Receipt(ctx, hash)
	if err == nil {
		err = CheckExecuted(ctx, a.miner, t.Block)
	}
	if err != nil {
		return nil, OrNull(err)
	}
	return marshal.Receipt(t), nil
}

// GetBlockReceipts returns a block's receipts in order, or null.
func (a *transactionAPI) GetBlockReceipts(ctx context.Context, ref BlockRef) (rpc.Result, error) {
	b, err := a.executedBlock(ctx, &ref)
	if errors.Is(err, ErrHash) || ref.Unnamed() || Missing(err) {
		return rpc.Result{}, nil
	}
	if err != nil {
		return rpc.Result{}, err
	}
	transactions, err := a.chain.Receipts(ctx, b)
	if err != nil {
		return rpc.Result{}, err
	}
	w := &marshal.Writer{JSON: make([]byte, 0, marshal.HeaderBytes*(len(transactions)+1))}
	w.Open('[')
	for _, t := range transactions {
		w.Receipt(t)
	}
	w.Close(']')
	return rpc.Bytes(w.JSON), nil
}
