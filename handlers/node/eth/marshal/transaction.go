package marshal

import (
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/evm/txpool"
)

// Receipt holds a receipt as eth_getTransactionReceipt returns it.
func Receipt(t *reader.Transaction) json.RawMessage {
	w := &Writer{make([]byte, 0, 2*HeaderBytes)}
	w.Receipt(t)
	return w.JSON
}

// Transaction writes a transaction as eth_getTransactionByHash returns it.
func Transaction(t *reader.Transaction) json.RawMessage {
	w := &Writer{make([]byte, 0, 1024+2*len(t.Row.Raw))}
	w.transaction(t)
	return w.JSON
}

func (w *Writer) transaction(t *reader.Transaction) {
	if t.Block.Pending() {
		w.pooled(t.Transaction, t.Sender)
		return
	}
	w.Open('{')
	w.Key("blockHash").Bytes(t.Block.Hash[:])
	w.Key("blockNumber").Uint(t.Block.Number)
	w.payload(t.Transaction, t.Hash(), t.Sender, t.Bound())
	w.Key("transactionIndex").Uint(uint64(t.Index()))
	w.typed(t.Transaction)
	w.Close('}')
}

// payload writes a transaction's call and its gas price.
func (w *Writer) payload(t *types.Transaction, hash common.Hash, sender common.Address, price *big.Int) {
	w.Key("from").Bytes(sender[:])
	w.Key("gas").Uint(t.Gas())
	w.Key("gasPrice").Big(price)
	if t.Type() == types.DynamicFeeTxType {
		w.Key("maxFeePerGas").Big(t.GasFeeCap())
		w.Key("maxPriorityFeePerGas").Big(t.GasTipCap())
	}
	w.Key("hash").Bytes(hash[:])
	w.Key("input").Bytes(t.Data())
	w.Key("nonce").Uint(t.Nonce())
	if to := t.To(); to != nil {
		w.Key("to").Bytes(to[:])
	} else {
		w.Key("to").Raw("null")
	}
}

// typed writes the value, the type and the type's own fields.
func (w *Writer) typed(t *types.Transaction) {
	w.Key("value").Big(t.Value())
	w.Key("type").Uint(uint64(t.Type()))
	w.signature(t)
}

func (w *Writer) signature(t *types.Transaction) {
	typed := t.Type() != types.LegacyTxType
	if typed {
		w.Key("accessList").accessList(t.AccessList())
	}
	if typed || t.Protected() {
		w.Key("chainId").Big(t.ChainId())
	}
	v, r, s := t.RawSignatureValues()
	w.Key("v").Big(v)
	w.Key("r").Big(r)
	w.Key("s").Big(s)
	if typed {
		w.Key("yParity").Big(v)
	}
}

func (w *Writer) accessList(list types.AccessList) {
	w.Open('[')
	for _, entry := range list {
		w.Open('{')
		w.Key("address").Bytes(entry.Address[:])
		w.Key("storageKeys").Hashes(entry.StorageKeys)
		w.Close('}')
	}
	w.Close(']')
}

// Hashes writes an array of hashes.
func (w *Writer) Hashes(hashes []common.Hash) {
	w.Open('[')
	for _, hash := range hashes {
		w.Bytes(hash[:])
	}
	w.Close(']')
}

// Receipt writes a receipt.
func (w *Writer) Receipt(t *reader.Transaction) {
	r := t.Receipt()
	w.Open('{')
	w.Key("blockHash").Bytes(r.BlockHash[:])
	w.Key("blockNumber").Big(r.BlockNumber)
	w.Key("contractAddress").BytesOrNull(t.Row.Created)
	w.Key("cumulativeGasUsed").Uint(r.CumulativeGasUsed)
	w.Key("effectiveGasPrice").Big(r.EffectiveGasPrice)
	w.Key("from").Bytes(t.Sender[:])
	w.Key("gasUsed").Uint(r.GasUsed)
	w.Key("logs").logs(r.Logs)
	w.Key("logsBloom").Bytes(r.Bloom[:])
	w.Key("status").Uint(r.Status)
	w.Key("to").BytesOrNull(t.Row.Recipient)
	w.Key("transactionHash").Bytes(r.TxHash[:])
	w.Key("transactionIndex").Uint(uint64(r.TransactionIndex))
	w.Key("type").Uint(uint64(r.Type))
	w.Close('}')
}

func (w *Writer) logs(logs []*types.Log) {
	w.Open('[')
	for _, log := range logs {
		w.Log(log)
	}
	w.Close(']')
}

// Log writes a log.
func (w *Writer) Log(log *types.Log) {
	w.Open('{')
	w.Key("address").Bytes(log.Address[:])
	w.Key("topics").Hashes(log.Topics)
	w.Key("data").Bytes(log.Data)
	w.Key("blockNumber").Uint(log.BlockNumber)
	w.Key("transactionHash").Bytes(log.TxHash[:])
	w.Key("transactionIndex").Uint(uint64(log.TxIndex))
	w.Key("blockHash").Bytes(log.BlockHash[:])
	w.Key("logIndex").Uint(uint64(log.Index))
	w.Key("removed").Raw(strconv.FormatBool(log.Removed))
	w.Close('}')
}

// Pooled writes a transaction that is in no block yet.
func Pooled(t *txpool.Transaction) json.RawMessage {
	w := &Writer{make([]byte, 0, 1024+2*t.Size())}
	w.pooled(t.Transaction, t.Sender)
	return w.JSON
}

func (w *Writer) pooled(t *types.Transaction, sender common.Address) {
	w.Open('{')
	w.Key("blockHash").Raw("null")
	w.Key("blockNumber").Raw("null")
	w.payload(t, t.Hash(), sender, t.GasFeeCap())
	w.Key("transactionIndex").Raw("null")
	w.typed(t)
	w.Close('}')
}
