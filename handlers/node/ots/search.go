package ots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
)

// maxPage is the largest page (Erigon's default of --ots.search.max.pagesize).
const maxPage = 25

// transactionPage is a page of an address's transactions with their receipts, newest first.
type transactionPage struct {
	Txs       []json.RawMessage `json:"txs"`
	Receipts  []fields          `json:"receipts"`
	FirstPage bool              `json:"firstPage"` // there is nothing newer
	LastPage  bool              `json:"lastPage"`  // there is nothing older
}

// SearchTransactionsBefore returns the newest transactions of an address below a block; 0 starts at the newest. A page has at least the requested
// number if there are enough, and ends with a whole block.
func (a *api) SearchTransactionsBefore(ctx context.Context, address common.Address, block, size eth.Quantity) (*transactionPage, error) {
	return a.search(ctx, address, reader.Search{Block: uint64(block)}, uint64(size))
}

// SearchTransactionsAfter returns the oldest transactions of an address above a block, in the same order; 0 starts at the first block.
func (a *api) SearchTransactionsAfter(ctx context.Context, address common.Address, block, size eth.Quantity) (*transactionPage, error) {
	return a.search(ctx, address, reader.Search{Block: uint64(block), After: true}, uint64(size))
}

func (a *api) search(ctx context.Context, address common.Address, s reader.Search, size uint64) (*transactionPage, error) {
	if size == 0 || size > maxPage {
		return nil, eth.ParamsError(fmt.Sprintf("page size %d: a page has from 1 to %d transactions", size, maxPage))
	}
	s.Size = int(size)
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return nil, err
	}
	found, more, err := a.chain.SearchTransactions(ctx, address, s)
	if err != nil {
		return nil, err
	}
	page := &transactionPage{Txs: []json.RawMessage{}, Receipts: []fields{}, FirstPage: s.Block == 0, LastPage: !more}
	if s.After {
		page.FirstPage, page.LastPage = !more, s.Block == 0
	}
	for _, t := range found {
		receipt, err := fieldsOf(marshal.Receipt(t))
		time, problem := json.Marshal(t.Block.Header.Time)
		if err := errors.Join(err, problem); err != nil {
			return nil, err
		}
		receipt["timestamp"] = time
		page.Txs, page.Receipts = append(page.Txs, marshal.Transaction(t)), append(page.Receipts, receipt)
	}
	return page, nil
}
