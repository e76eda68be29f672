package debug

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/eth"
	"snowglobe/sim/store"
)

// otherAPI implements debug methods that no node of the network has: those of go-ethereum's newer eth.DebugAPI, reth and anvil.
type otherAPI struct{ *api }

// ClearTxpool removes all waiting transactions from the pool.
func (a *otherAPI) ClearTxpool(ctx context.Context) error {
	if err := a.miner.Writable(); err != nil {
		return err
	}
	a.miner.DropAll(ctx)
	return nil
}

// CodeByHash returns the contract code with a hash, or null. It finds code whether or not a contract has it at the block.
func (a *otherAPI) CodeByHash(ctx context.Context, hash common.Hash, ref *eth.BlockRef) (*hexutil.Bytes, error) {
	if ref != nil {
		if _, err := eth.ExecutedBlockOf(ctx, a.miner, ref); err != nil {
			return nil, err
		}
	}
	code, err := a.chain.Code(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return (*hexutil.Bytes)(&code), err
}

// AccountInfoAt returns an account's balance, nonce and code after one of a block's transactions.
func (a *otherAPI) AccountInfoAt(ctx context.Context, ref eth.BlockRef, index eth.Quantity, address common.Address) (*eth.AccountInfo, error) {
	b, err := eth.ExecutedBlockOf(ctx, a.miner, &ref)
	switch {
	case err != nil:
		return nil, err
	case b.Pending():
		return nil, errTracePending
	case uint64(index) >= uint64(b.Row.Txs):
		return nil, eth.ParamsError(fmt.Sprintf("transaction index %d is out of range for a block with %d transactions", index, b.Row.Txs))
	}
	states, err := a.chain.StateAfter(ctx, b, int(index))
	if err != nil {
		return nil, err
	}
	return eth.AccountInfoOf(states, address)
}

// GetRawTransactions returns the bytes of a block's transactions.
func (a *otherAPI) GetRawTransactions(ctx context.Context, ref eth.BlockRef) ([]hexutil.Bytes, error) {
	b, err := a.block(ctx, &ref)
	if err != nil {
		return nil, err
	}
	transactions, err := a.chain.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	all := make([]hexutil.Bytes, len(transactions))
	for i, t := range transactions {
		all[i] = hexutil.Bytes(t.Row.Raw)
	}
	return all, nil
}
