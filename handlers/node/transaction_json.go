package node

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
)

func transactionJSON(t *evm.Transaction) []byte {
	o := &object{make([]byte, 0, 1024+2*len(t.Row.Raw))}
	o.transaction(t)
	return o.json
}

func (o *object) transaction(t *evm.Transaction) {
	o.open('{')
	o.key("blockHash").bytes(t.Block.Hash[:])
	o.key("blockNumber").uint(t.Block.Number)
	o.key("from").bytes(t.Sender[:])
	o.key("gas").uint(t.Gas())
	o.key("gasPrice").big(t.Price())
	if t.Type() == types.DynamicFeeTxType {
		o.key("maxFeePerGas").big(t.GasFeeCap())
		o.key("maxPriorityFeePerGas").big(t.GasTipCap())
	}
	o.key("hash").bytes(t.Row.Hash)
	o.key("input").bytes(t.Data())
	o.key("nonce").uint(t.Nonce())
	o.key("to").bytesOrNull(t.Row.Recipient)
	o.key("transactionIndex").uint(uint64(t.Index()))
	o.key("value").big(t.Value())
	o.key("type").uint(uint64(t.Type()))
	o.signature(t.Transaction)
	o.close('}')
}

func (o *object) signature(t *types.Transaction) {
	typed := t.Type() != types.LegacyTxType
	if typed {
		o.key("accessList").accessList(t.AccessList())
	}
	if id := t.ChainId(); typed || id.Sign() != 0 {
		o.key("chainId").big(id)
	}
	v, r, s := t.RawSignatureValues()
	o.key("v").big(v)
	o.key("r").big(r)
	o.key("s").big(s)
	if typed {
		o.key("yParity").big(v)
	}
}

func (o *object) accessList(list types.AccessList) {
	o.open('[')
	for _, entry := range list {
		o.open('{')
		o.key("address").bytes(entry.Address[:])
		o.key("storageKeys").hashes(entry.StorageKeys)
		o.close('}')
	}
	o.close(']')
}

func (o *object) hashes(hashes []common.Hash) {
	o.open('[')
	for _, hash := range hashes {
		o.bytes(hash[:])
	}
	o.close(']')
}

func (o *object) receipt(t *evm.Transaction) {
	r := t.Receipt()
	o.open('{')
	o.key("blockHash").bytes(r.BlockHash[:])
	o.key("blockNumber").big(r.BlockNumber)
	o.key("contractAddress").bytesOrNull(t.Row.Created)
	o.key("cumulativeGasUsed").uint(r.CumulativeGasUsed)
	o.key("effectiveGasPrice").big(r.EffectiveGasPrice)
	o.key("from").bytes(t.Sender[:])
	o.key("gasUsed").uint(r.GasUsed)
	o.key("logs").logs(r.Logs)
	o.key("logsBloom").bytes(r.Bloom[:])
	o.key("status").uint(r.Status)
	o.key("to").bytesOrNull(t.Row.Recipient)
	o.key("transactionHash").bytes(r.TxHash[:])
	o.key("transactionIndex").uint(uint64(r.TransactionIndex))
	o.key("type").uint(uint64(r.Type))
	o.close('}')
}

func (o *object) logs(logs []*types.Log) {
	o.open('[')
	for _, log := range logs {
		o.log(log)
	}
	o.close(']')
}

func (o *object) log(log *types.Log) {
	o.open('{')
	o.key("address").bytes(log.Address[:])
	o.key("topics").hashes(log.Topics)
	o.key("data").bytes(log.Data)
	o.key("blockNumber").uint(log.BlockNumber)
	o.key("transactionHash").bytes(log.TxHash[:])
	o.key("transactionIndex").uint(uint64(log.TxIndex))
	o.key("blockHash").bytes(log.BlockHash[:])
	o.key("logIndex").uint(uint64(log.Index))
	o.key("removed").raw("false")
	o.close('}')
}

// logBytes is about what a log takes as JSON beside its data.
const logBytes = 640

func logsJSON(logs []*types.Log) []byte {
	size := 2
	for _, log := range logs {
		size += logBytes + 2*len(log.Data)
	}
	o := &object{make([]byte, 0, size)}
	o.logs(logs)
	return o.json
}
