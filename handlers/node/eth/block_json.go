package eth

import (
	"encoding/json"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// headerBytes is about what a header takes as JSON.
const headerBytes = 2_048

// content is what a block has in addition to its header.
type content struct {
	txs  []*reader.Transaction
	size int
	full bool
}

// HeaderJSON is a header as eth_getHeaderByNumber answers it.
func HeaderJSON(kind evm.Kind, b *reader.Block) json.RawMessage { return headerJSON(kind, b) }

// BlockJSON is a block, size bytes long, as eth_getBlockByNumber answers it.
func BlockJSON(kind evm.Kind, b *reader.Block, transactions []*reader.Transaction, size int, full bool) json.RawMessage {
	return blockJSON(kind, b, transactions, size, full)
}

func headerJSON(kind evm.Kind, b *reader.Block) []byte { return fieldsJSON(kind, b, nil) }

func blockJSON(kind evm.Kind, b *reader.Block, transactions []*reader.Transaction, size int, full bool) []byte {
	return fieldsJSON(kind, b, &content{transactions, size, full})
}

// fieldsJSON writes a header, or a block when there is content, in the order of the keys' letters.
func fieldsJSON(kind evm.Kind, b *reader.Block, c *content) []byte {
	w := &jsonWriter{make([]byte, 0, headerBytes+4*bodySize(c))}
	h := b.Header
	w.open('{')
	w.key("baseFeePerGas").big(h.BaseFee)
	w.key("blobGasUsed").uint(h.BlobGasUsed)
	if c != nil && kind == evm.KindC {
		w.key("blockExtraData").bytes(b.Row.ExtData)
	}
	w.key("blockGasCost").big(h.BlockGasCost)
	w.key("difficulty").big(h.Difficulty)
	w.key("excessBlobGas").uint(h.ExcessBlobGas)
	if kind == evm.KindC {
		w.key("extDataGasUsed").big(h.ExtDataGasUsed)
		w.key("extDataHash").bytes(h.ExtDataHash[:])
	}
	w.key("extraData").bytes(h.Extra)
	w.key("gasLimit").uint(h.GasLimit)
	w.key("gasUsed").uint(h.GasUsed)
	w.key("hash").bytesOrNull(known(b, b.Hash[:]))
	w.key("logsBloom").bytes(h.Bloom[:])
	w.key("minDelayExcess").uint(h.MinDelayExcess)
	w.key("miner").bytesOrNull(known(b, h.Coinbase[:]))
	w.key("mixHash").bytes(h.MixDigest[:])
	w.key("nonce").bytesOrNull(known(b, h.Nonce[:]))
	w.key("number").uint(b.Number)
	w.key("parentBeaconBlockRoot").bytes(h.ParentBeaconRoot[:])
	w.key("parentHash").bytes(h.ParentHash[:])
	w.key("receiptsRoot").bytes(h.ReceiptHash[:])
	w.key("sha3Uncles").bytes(h.UncleHash[:])
	if c != nil {
		w.key("size").uint(uint64(c.size))
	}
	w.key("stateRoot").bytes(h.Root[:])
	w.key("timestamp").uint(h.Time)
	w.key("timestampMilliseconds").uint(h.TimeMilliseconds)
	w.key("totalDifficulty").uint(b.Number)
	if c != nil {
		w.key("transactions").transactions(c)
	}
	w.key("transactionsRoot").bytes(h.TxHash[:])
	if c != nil {
		w.key("uncles").raw("[]")
	}
	w.close('}')
	return w.json
}

// known is a field that a pending block does not have yet (internal/ethapi.RPCMarshalBlock with pending).
func known(b *reader.Block, field []byte) []byte {
	if b.Pending() {
		return nil
	}
	return field
}

func bodySize(c *content) int {
	if c == nil || !c.full {
		return 0
	}
	return c.size
}

func (w *jsonWriter) transactions(c *content) {
	w.open('[')
	for _, t := range c.txs {
		if c.full {
			w.transaction(t)
		} else {
			w.bytes(t.Row.Hash)
		}
	}
	w.close(']')
}

// newHeadJSON is a header as subscribers get it: in the order of the header's own fields.
func newHeadJSON(kind evm.Kind, b *reader.Block) []byte {
	w := &jsonWriter{make([]byte, 0, headerBytes)}
	h := b.Header
	w.open('{')
	w.key("parentHash").bytes(h.ParentHash[:])
	w.key("sha3Uncles").bytes(h.UncleHash[:])
	w.key("miner").bytes(h.Coinbase[:])
	w.key("stateRoot").bytes(h.Root[:])
	w.key("transactionsRoot").bytes(h.TxHash[:])
	w.key("receiptsRoot").bytes(h.ReceiptHash[:])
	w.key("logsBloom").bytes(h.Bloom[:])
	w.key("difficulty").big(h.Difficulty)
	w.key("number").uint(b.Number)
	w.key("gasLimit").uint(h.GasLimit)
	w.key("gasUsed").uint(h.GasUsed)
	w.key("timestamp").uint(h.Time)
	w.key("extraData").bytes(h.Extra)
	w.key("mixHash").bytes(h.MixDigest[:])
	w.key("nonce").bytes(h.Nonce[:])
	if kind == evm.KindC {
		w.key("extDataHash").bytes(h.ExtDataHash[:])
	}
	w.key("baseFeePerGas").big(h.BaseFee)
	if kind == evm.KindC {
		w.key("extDataGasUsed").big(h.ExtDataGasUsed)
	}
	w.key("blockGasCost").big(h.BlockGasCost)
	w.key("blobGasUsed").uint(h.BlobGasUsed)
	w.key("excessBlobGas").uint(h.ExcessBlobGas)
	w.key("parentBeaconBlockRoot").bytes(h.ParentBeaconRoot[:])
	w.key("timestampMilliseconds").uint(h.TimeMilliseconds)
	w.key("minDelayExcess").uint(h.MinDelayExcess)
	w.key("hash").bytes(b.Hash[:])
	w.close('}')
	return w.json
}
