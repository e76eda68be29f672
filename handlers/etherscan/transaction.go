package etherscan

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

var transactionActions = map[string]action{
	"transaction.getstatus":          {handle: executionStatus},
	"transaction.gettxreceiptstatus": {handle: receiptStatus},
}

// transaction is a row of txlist. Amounts are in wei, times in Unix seconds.
type transaction struct {
	BlockNumber       string `json:"blockNumber"`
	BlockHash         string `json:"blockHash"`
	TimeStamp         string `json:"timeStamp"`
	Hash              string `json:"hash"`
	Nonce             string `json:"nonce"`
	TransactionIndex  string `json:"transactionIndex"`
	From              string `json:"from"`
	To                string `json:"to"` // empty for a creation
	Value             string `json:"value"`
	Gas               string `json:"gas"`
	GasPrice          string `json:"gasPrice"`
	Input             string `json:"input"`
	MethodID          string `json:"methodId"`
	FunctionName      string `json:"functionName"`
	ContractAddress   string `json:"contractAddress"` // that a creation made
	CumulativeGasUsed string `json:"cumulativeGasUsed"`
	TxReceiptStatus   string `json:"txreceipt_status"`
	GasUsed           string `json:"gasUsed"`
	Confirmations     string `json:"confirmations"`
	IsError           string `json:"isError"`
}

// priced decodes a transaction, and returns the gas price that it paid.
func (r *request) priced(v *store.TransactionView) (*types.Transaction, *big.Int, error) {
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(v.Raw); err != nil {
		return nil, nil, fmt.Errorf("transaction %x: %w", v.Transaction.Hash, err)
	}
	baseFee, err := evm.PaidBaseFee(r.chain.Kind, v.Header, v.Execution)
	if err != nil {
		return nil, nil, err
	}
	return tx, evm.EffectiveGasPrice(tx, baseFee), nil
}

// transaction shows a transaction.
func (r *request) transaction(v *store.TransactionView, head uint64) (*transaction, error) {
	tx, paid, err := r.priced(v)
	if err != nil {
		return nil, err
	}
	t := &transaction{
		BlockNumber: decimal(v.ID.Number()), BlockHash: hexHash(v.BlockHash), TimeStamp: strconv.FormatInt(v.BlockTime, 10),
		Hash: hexHash(v.Transaction.Hash), Nonce: decimal(tx.Nonce()), TransactionIndex: strconv.Itoa(v.ID.Index()),
		From: hexAddress(v.Sender), To: hexAddress(v.Recipient), Value: tx.Value().String(), Gas: decimal(tx.Gas()),
		GasPrice: paid.String(), Input: hexutil.Encode(tx.Data()),
		ContractAddress: hexAddress(v.Created), CumulativeGasUsed: decimal(v.GasTotal), TxReceiptStatus: decimal(v.Status),
		GasUsed: decimal(v.GasUsed), Confirmations: confirmations(head, v.ID.Number()), IsError: decimal(1 - v.Status),
	}
	t.MethodID, t.FunctionName = method(tx)
	return t, nil
}

// method returns a transaction's selector and, if it calls a known function, that.
func method(tx *types.Transaction) (selector, function string) {
	input := tx.Data()
	if len(input) < 4 {
		return "0x", ""
	}
	selector = "0x" + hex.EncodeToString(input[:4])
	if tx.To() != nil {
		function, _ = contracts.MethodName([4]byte(input[:4]))
	}
	return selector, function
}

// found returns the transaction that txhash names, nil if there is none.
func (r *request) found() (*reader.Transaction, error) {
	hash, err := r.values.hash("txhash")
	if err != nil {
		return nil, err
	}
	tx, err := r.chain.Transaction(r.Context(), hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return tx, err
}

type statusOfExecution struct {
	IsError        string `json:"isError"`
	ErrDescription string `json:"errDescription"`
}

// executionStatus tells why a transaction failed, in the EVM's words.
func executionStatus(r *request) (any, error) {
	tx, err := r.found()
	if err != nil {
		return nil, err
	}
	if tx == nil || tx.Row.Status == types.ReceiptStatusSuccessful {
		return statusOfExecution{"0", ""}, nil
	}
	trace, err := r.chain.TraceTransaction(r.Context(), tx, &reader.TraceConfig{Tracer: new("callTracer"), TracerConfig: json.RawMessage(`{"onlyTopCall":true}`)})
	if err != nil {
		return nil, err
	}
	var top struct{ Error, RevertReason string }
	if err := json.Unmarshal(trace.JSON(), &top); err != nil {
		return nil, err
	}
	if top.RevertReason != "" {
		top.Error += ": " + top.RevertReason
	}
	return statusOfExecution{"1", top.Error}, nil
}

type statusOfReceipt struct {
	Status string `json:"status"`
}

func receiptStatus(r *request) (any, error) {
	tx, err := r.found()
	if err != nil || tx == nil {
		return statusOfReceipt{}, err
	}
	return statusOfReceipt{decimal(tx.Row.Status)}, nil
}
