package eth

import (
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm/reader"
)

// TransactionJSON is a transaction as eth_getTransactionByHash answers it.
func TransactionJSON(t *reader.Transaction) json.RawMessage { return transactionJSON(t) }

// ReceiptJSON is a receipt as eth_getTransactionReceipt answers it.
func ReceiptJSON(t *reader.Transaction) json.RawMessage { return receiptJSON(t) }

func receiptJSON(t *reader.Transaction) []byte {
	w := &jsonWriter{make([]byte, 0, 2*headerBytes)}
	w.receipt(t)
	return w.json
}

func transactionJSON(t *reader.Transaction) []byte {
	w := &jsonWriter{make([]byte, 0, 1024+2*len(t.Row.Raw))}
	w.transaction(t)
	return w.json
}

func (w *jsonWriter) transaction(t *reader.Transaction) {
	if t.Block.Pending() {
		w.pooled(t.Transaction, t.Sender)
		return
	}
	w.open('{')
	w.key("blockHash").bytes(t.Block.Hash[:])
	w.key("blockNumber").uint(t.Block.Number)
	w.payload(t.Transaction, t.Sender, t.Price())
	w.key("transactionIndex").uint(uint64(t.Index()))
	w.typed(t.Transaction)
	w.close('}')
}

// payload writes what a transaction does, and what it pays for gas.
func (w *jsonWriter) payload(t *types.Transaction, sender common.Address, price *big.Int) {
	w.key("from").bytes(sender[:])
	w.key("gas").uint(t.Gas())
	w.key("gasPrice").big(price)
	if t.Type() == types.DynamicFeeTxType {
		w.key("maxFeePerGas").big(t.GasFeeCap())
		w.key("maxPriorityFeePerGas").big(t.GasTipCap())
	}
	hash := t.Hash()
	w.key("hash").bytes(hash[:])
	w.key("input").bytes(t.Data())
	w.key("nonce").uint(t.Nonce())
	if to := t.To(); to != nil {
		w.key("to").bytes(to[:])
	} else {
		w.key("to").raw("null")
	}
}

// typed writes the value, the type and what belongs to that.
func (w *jsonWriter) typed(t *types.Transaction) {
	w.key("value").big(t.Value())
	w.key("type").uint(uint64(t.Type()))
	w.signature(t)
}

func (w *jsonWriter) signature(t *types.Transaction) {
	typed := t.Type() != types.LegacyTxType
	if typed {
		w.key("accessList").accessList(t.AccessList())
	}
	if typed || t.Protected() {
		w.key("chainId").big(t.ChainId())
	}
	v, r, s := t.RawSignatureValues()
	w.key("v").big(v)
	w.key("r").big(r)
	w.key("s").big(s)
	if typed {
		w.key("yParity").big(v)
	}
}

func (w *jsonWriter) accessList(list types.AccessList) {
	w.open('[')
	for _, entry := range list {
		w.open('{')
		w.key("address").bytes(entry.Address[:])
		w.key("storageKeys").hashes(entry.StorageKeys)
		w.close('}')
	}
	w.close(']')
}

func (w *jsonWriter) hashes(hashes []common.Hash) {
	w.open('[')
	for _, hash := range hashes {
		w.bytes(hash[:])
	}
	w.close(']')
}

func (w *jsonWriter) receipt(t *reader.Transaction) {
	r := t.Receipt()
	w.open('{')
	w.key("blockHash").bytes(r.BlockHash[:])
	w.key("blockNumber").big(r.BlockNumber)
	w.key("contractAddress").bytesOrNull(t.Row.Created)
	w.key("cumulativeGasUsed").uint(r.CumulativeGasUsed)
	w.key("effectiveGasPrice").big(r.EffectiveGasPrice)
	w.key("from").bytes(t.Sender[:])
	w.key("gasUsed").uint(r.GasUsed)
	w.key("logs").logs(r.Logs)
	w.key("logsBloom").bytes(r.Bloom[:])
	w.key("status").uint(r.Status)
	w.key("to").bytesOrNull(t.Row.Recipient)
	w.key("transactionHash").bytes(r.TxHash[:])
	w.key("transactionIndex").uint(uint64(r.TransactionIndex))
	w.key("type").uint(uint64(r.Type))
	w.close('}')
}

func (w *jsonWriter) logs(logs []*types.Log) {
	w.open('[')
	for _, log := range logs {
		w.log(log)
	}
	w.close(']')
}

func (w *jsonWriter) log(log *types.Log) {
	w.open('{')
	w.key("address").bytes(log.Address[:])
	w.key("topics").hashes(log.Topics)
	w.key("data").bytes(log.Data)
	w.key("blockNumber").uint(log.BlockNumber)
	w.key("transactionHash").bytes(log.TxHash[:])
	w.key("transactionIndex").uint(uint64(log.TxIndex))
	w.key("blockHash").bytes(log.BlockHash[:])
	w.key("logIndex").uint(uint64(log.Index))
	w.key("removed").raw(strconv.FormatBool(log.Removed))
	w.close('}')
}
