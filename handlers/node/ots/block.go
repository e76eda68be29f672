package ots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// fields holds the members of an eth response, some of which Otterscan gets in another form.
type fields map[string]json.RawMessage

var null = json.RawMessage("null")

func fieldsOf(answer json.RawMessage) (f fields, err error) { return f, json.Unmarshal(answer, &f) }

// issuance is the amount that a block creates: nothing, on these chains.
type issuance struct {
	BlockReward hexutil.Uint64 `json:"blockReward"`
	UncleReward hexutil.Uint64 `json:"uncleReward"`
	Issuance    hexutil.Uint64 `json:"issuance"`
}

// blockDetails is a block without its transactions.
type blockDetails struct {
	Block     fields       `json:"block"`
	Issuance  issuance     `json:"issuance"`
	TotalFees *hexutil.Big `json:"totalFees"`
}

// GetBlockDetails returns a block without its transactions, or null.
func (a *api) GetBlockDetails(ctx context.Context, ref blockRef) (*blockDetails, error) {
	b, err := a.blockOf(ctx, &ref)
	return a.details(ctx, b, err)
}

// GetBlockDetailsByHash returns a block without its transactions, or null.
func (a *api) GetBlockDetailsByHash(ctx context.Context, hash common.Hash) (*blockDetails, error) {
	b, err := a.chain.BlockByHash(ctx, hash)
	return a.details(ctx, b, err)
}

func (a *api) details(ctx context.Context, b *reader.Block, err error) (*blockDetails, error) {
	if err != nil {
		return nil, eth.OrNull(err)
	}
	block, transactions, err := a.block(ctx, b, false)
	if err != nil {
		return nil, err
	}
	delete(block, "transactions")
	fees := new(big.Int)
	for _, t := range transactions {
		fees.Add(fees, new(big.Int).Mul(t.Price(), new(big.Int).SetUint64(t.Row.GasUsed)))
	}
	return &blockDetails{Block: block, TotalFees: (*hexutil.Big)(fees)}, nil
}

// block converts a block for Otterscan: with the number of transactions and without the bloom.
func (a *api) block(ctx context.Context, b *reader.Block, full bool) (fields, []*reader.Transaction, error) {
	transactions, err := a.chain.Receipts(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	block, err := fieldsOf(marshal.Block(a.chain.Kind, b, transactions, a.chain.Size(b, transactions), full))
	if err != nil {
		return nil, nil, err
	}
	block["logsBloom"] = null
	block["transactionCount"] = json.RawMessage(fmt.Sprint(len(transactions)))
	return block, transactions, nil
}

// blockTransactions is a page of a block's transactions.
type blockTransactions struct {
	Fullblock fields   `json:"fullblock"`
	Receipts  []fields `json:"receipts"`
}

// selector is the number of input bytes that a list shows: a function selector.
const selector = 4

// GetBlockTransactions returns a page of a block's transactions, or null. Page 0 has the last ones. Inputs are truncated, and receipts lack
// logs.
func (a *api) GetBlockTransactions(ctx context.Context, ref blockRef, page, size eth.Quantity) (*blockTransactions, error) {
	if size == 0 || size > store.MaxIndex || page > store.MaxIndex {
		return nil, eth.ParamsError(fmt.Sprintf("page %d of %d transactions: a page has from 1 to %d", page, size, store.MaxIndex))
	}
	b, err := a.blockOf(ctx, &ref)
	if err != nil {
		return nil, eth.OrNull(err)
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return nil, err
	}
	block, transactions, err := a.block(ctx, b, false)
	if err != nil {
		return nil, err
	}
	end := eth.Quantity(len(transactions))
	end -= min(end, page*size)
	shown := transactions[end-min(end, size) : end]
	answer := &blockTransactions{Fullblock: block, Receipts: make([]fields, len(shown))}
	list := make([]fields, len(shown))
	for i, t := range shown {
		tx, problem := fieldsOf(marshal.Transaction(t))
		receipt, problemToo := fieldsOf(marshal.Receipt(t))
		if err := errors.Join(problem, problemToo); err != nil {
			return nil, err
		}
		tx["input"] = json.RawMessage(`"` + hexutil.Encode(t.Data()[:min(selector, len(t.Data()))]) + `"`)
		receipt["logs"], receipt["logsBloom"] = null, null
		list[i], answer.Receipts[i] = tx, receipt
	}
	block["transactions"], err = json.Marshal(list)
	return answer, err
}
