package node

import (
	"snowglobe/sim/evm"
)

// headerBytes is about what a header takes as JSON.
const headerBytes = 2_048

// content is what a block has beside its header.
type content struct {
	txs  []*evm.Transaction
	size int
	full bool
}

func headerJSON(kind evm.Kind, b *evm.Block) []byte { return fieldsJSON(kind, b, nil) }

func blockJSON(kind evm.Kind, b *evm.Block, txs []*evm.Transaction, size int, full bool) []byte {
	return fieldsJSON(kind, b, &content{txs, size, full})
}

// fieldsJSON writes a header, or a block when there is content, in the order of the keys' letters.
func fieldsJSON(kind evm.Kind, b *evm.Block, c *content) []byte {
	o := &object{make([]byte, 0, headerBytes+4*bodySize(c))}
	h := b.Header
	o.open('{')
	o.key("baseFeePerGas").big(h.BaseFee)
	o.key("blobGasUsed").uint(h.BlobGasUsed)
	if c != nil && kind == evm.KindC {
		o.key("blockExtraData").bytes(b.Row.ExtData)
	}
	o.key("blockGasCost").big(h.BlockGasCost)
	o.key("difficulty").big(h.Difficulty)
	o.key("excessBlobGas").uint(h.ExcessBlobGas)
	if kind == evm.KindC {
		o.key("extDataGasUsed").big(h.ExtDataGasUsed)
		o.key("extDataHash").bytes(h.ExtDataHash[:])
	}
	o.key("extraData").bytes(h.Extra)
	o.key("gasLimit").uint(h.GasLimit)
	o.key("gasUsed").uint(h.GasUsed)
	o.key("hash").bytes(b.Hash[:])
	o.key("logsBloom").bytes(h.Bloom[:])
	o.key("minDelayExcess").uint(h.MinDelayExcess)
	o.key("miner").bytes(h.Coinbase[:])
	o.key("mixHash").bytes(h.MixDigest[:])
	o.key("nonce").bytes(h.Nonce[:])
	o.key("number").uint(b.Number)
	o.key("parentBeaconBlockRoot").bytes(h.ParentBeaconRoot[:])
	o.key("parentHash").bytes(h.ParentHash[:])
	o.key("receiptsRoot").bytes(h.ReceiptHash[:])
	o.key("sha3Uncles").bytes(h.UncleHash[:])
	if c != nil {
		o.key("size").uint(uint64(c.size))
	}
	o.key("stateRoot").bytes(h.Root[:])
	o.key("timestamp").uint(h.Time)
	o.key("timestampMilliseconds").uint(h.TimeMilliseconds)
	o.key("totalDifficulty").uint(b.Number)
	if c != nil {
		o.key("transactions").transactions(c)
	}
	o.key("transactionsRoot").bytes(h.TxHash[:])
	if c != nil {
		o.key("uncles").raw("[]")
	}
	o.close('}')
	return o.json
}

func bodySize(c *content) int {
	if c == nil || !c.full {
		return 0
	}
	return c.size
}

func (o *object) transactions(c *content) {
	o.open('[')
	for _, t := range c.txs {
		if c.full {
			o.transaction(t)
		} else {
			o.bytes(t.Row.Hash)
		}
	}
	o.close(']')
}

// newHeadJSON is a header as subscribers get it: in the order of the header's own fields.
func newHeadJSON(kind evm.Kind, b *evm.Block) []byte {
	o := &object{make([]byte, 0, headerBytes)}
	h := b.Header
	o.open('{')
	o.key("parentHash").bytes(h.ParentHash[:])
	o.key("sha3Uncles").bytes(h.UncleHash[:])
	o.key("miner").bytes(h.Coinbase[:])
	o.key("stateRoot").bytes(h.Root[:])
	o.key("transactionsRoot").bytes(h.TxHash[:])
	o.key("receiptsRoot").bytes(h.ReceiptHash[:])
	o.key("logsBloom").bytes(h.Bloom[:])
	o.key("difficulty").big(h.Difficulty)
	o.key("number").uint(b.Number)
	o.key("gasLimit").uint(h.GasLimit)
	o.key("gasUsed").uint(h.GasUsed)
	o.key("timestamp").uint(h.Time)
	o.key("extraData").bytes(h.Extra)
	o.key("mixHash").bytes(h.MixDigest[:])
	o.key("nonce").bytes(h.Nonce[:])
	if kind == evm.KindC {
		o.key("extDataHash").bytes(h.ExtDataHash[:])
	}
	o.key("baseFeePerGas").big(h.BaseFee)
	if kind == evm.KindC {
		o.key("extDataGasUsed").big(h.ExtDataGasUsed)
	}
	o.key("blockGasCost").big(h.BlockGasCost)
	o.key("blobGasUsed").uint(h.BlobGasUsed)
	o.key("excessBlobGas").uint(h.ExcessBlobGas)
	o.key("parentBeaconBlockRoot").bytes(h.ParentBeaconRoot[:])
	o.key("timestampMilliseconds").uint(h.TimeMilliseconds)
	o.key("minDelayExcess").uint(h.MinDelayExcess)
	o.key("hash").bytes(b.Hash[:])
	o.close('}')
	return o.json
}
