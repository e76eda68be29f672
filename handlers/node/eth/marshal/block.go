package marshal

import (
	"encoding/json"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// HeaderBytes estimates a header's size as JSON.
const HeaderBytes = 2_048

// content holds a block's fields beyond its header.
type content struct {
	txs  []*reader.Transaction
	size uint64
	full bool

	outcomes []Outcome // of the transactions; nil leaves them out
}

// Outcome is what a transaction's outermost call returned.
type Outcome struct {
	Output       hexutil.Bytes
	RevertReason string // empty if it did not revert, or gave no reason as text
}

// Header writes a header as eth_getHeaderByNumber returns it.
func Header(kind evm.Kind, b *reader.Block) json.RawMessage { return fields(kind, b, nil) }

// Block writes a block of size bytes as eth_getBlockByNumber returns it.
func Block(kind evm.Kind, b *reader.Block, transactions []*reader.Transaction, size uint64, full bool) json.RawMessage {
	return fields(kind, b, &content{transactions, size, full, nil})
}

// DetailedBlock writes a block as evm_mine_detailed returns it: in full, with what each transaction returned.
func DetailedBlock(kind evm.Kind, b *reader.Block, transactions []*reader.Transaction, size uint64, outcomes []Outcome) json.RawMessage {
	return fields(kind, b, &content{transactions, size, true, outcomes})
}

// fields writes a header, or a block if there is content, with keys in alphabetical order.
func fields(kind evm.Kind, b *reader.Block, c *content) []byte {
	w := scratch.Get().(*Writer)
	h := b.Header
	w.Open('{')
	w.Key("baseFeePerGas").Big(h.BaseFee)
	w.Key("blobGasUsed").Uint(h.BlobGasUsed)
	if c != nil && kind == evm.KindC {
		w.Key("blockExtraData").Bytes(b.Row.ExtData)
	}
	w.Key("blockGasCost").Big(h.BlockGasCost)
	w.Key("difficulty").Big(h.Difficulty)
	w.Key("excessBlobGas").Uint(h.ExcessBlobGas)
	if kind == evm.KindC {
		w.Key("extDataGasUsed").Big(h.ExtDataGasUsed)
		w.Key("extDataHash").Bytes(h.ExtDataHash[:])
	}
	w.Key("extraData").Bytes(h.Extra)
	w.Key("gasLimit").Uint(h.GasLimit)
	w.Key("gasUsed").Uint(h.GasUsed)
	w.Key("hash").BytesOrNull(known(b, b.Hash[:]))
	w.Key("logsBloom").Bytes(h.Bloom[:])
	w.Key("minDelayExcess").Uint(h.MinDelayExcess)
	if h.Asynchronous() {
		w.Key("minPriceExponent").Uint(*h.MinPriceExponent)
	}
	w.Key("miner").BytesOrNull(known(b, h.Coinbase[:]))
	w.Key("mixHash").Bytes(h.MixDigest[:])
	w.Key("nonce").BytesOrNull(known(b, h.Nonce[:]))
	w.Key("number").Uint(b.Number)
	w.Key("parentBeaconBlockRoot").Bytes(h.ParentBeaconRoot[:])
	w.Key("parentHash").Bytes(h.ParentHash[:])
	w.Key("receiptsRoot").Bytes(h.ReceiptHash[:])
	if h.Asynchronous() {
		w.Key("settledExcess").Uint(*h.SettledExcess)
		w.Key("settledGasNumerator").Uint(*h.SettledGasNumerator)
		w.Key("settledGasUnix").Uint(*h.SettledGasUnix)
		w.Key("settledHeight").Uint(*h.SettledHeight)
	}
	w.Key("sha3Uncles").Bytes(h.UncleHash[:])
	if c != nil {
		w.Key("size").Uint(c.size)
	}
	w.Key("stateRoot").Bytes(h.Root[:])
	if h.Asynchronous() {
		w.Key("targetExponent").Uint(*h.TargetExponent)
	}
	w.Key("timestamp").Uint(h.Time)
	w.Key("timestampMilliseconds").Uint(h.TimeMilliseconds)
	w.Key("totalDifficulty").Uint(b.Number)
	if c != nil {
		w.Key("transactions").transactions(c)
	}
	w.Key("transactionsRoot").Bytes(h.TxHash[:])
	if c != nil {
		w.Key("uncles").Raw("[]")
	}
	w.Close('}')
	return w.done()
}

// known writes a field that a pending block lacks (internal/ethapi.RPCMarshalBlock with pending).
func known(b *reader.Block, field []byte) []byte {
	if b.Pending() {
		return nil
	}
	return field
}

func (w *Writer) transactions(c *content) {
	w.Open('[')
	for i, t := range c.txs {
		if !c.full {
			w.Bytes(t.Row.Hash)
			continue
		}
		w.transaction(t)
		if c.outcomes != nil {
			w.outcome(&c.outcomes[i])
		}
	}
	w.Close(']')
}

// outcome adds the outcome to the transaction that was just written.
func (w *Writer) outcome(o *Outcome) {
	w.JSON = w.JSON[:len(w.JSON)-1]
	w.Key("output").Bytes(o.Output)
	if o.RevertReason != "" {
		reason, _ := json.Marshal(o.RevertReason) // a text always encodes
		w.Key("revertReason").Raw(string(reason))
	}
	w.Close('}')
}

// NewHead writes a header for subscribers, in the order of the header's own fields.
func NewHead(kind evm.Kind, b *reader.Block) json.RawMessage {
	w := &Writer{make([]byte, 0, HeaderBytes)}
	h := b.Header
	w.Open('{')
	w.Key("parentHash").Bytes(h.ParentHash[:])
	w.Key("sha3Uncles").Bytes(h.UncleHash[:])
	w.Key("miner").Bytes(h.Coinbase[:])
	w.Key("stateRoot").Bytes(h.Root[:])
	w.Key("transactionsRoot").Bytes(h.TxHash[:])
	w.Key("receiptsRoot").Bytes(h.ReceiptHash[:])
	w.Key("logsBloom").Bytes(h.Bloom[:])
	w.Key("difficulty").Big(h.Difficulty)
	w.Key("number").Uint(b.Number)
	w.Key("gasLimit").Uint(h.GasLimit)
	w.Key("gasUsed").Uint(h.GasUsed)
	w.Key("timestamp").Uint(h.Time)
	w.Key("extraData").Bytes(h.Extra)
	w.Key("mixHash").Bytes(h.MixDigest[:])
	w.Key("nonce").Bytes(h.Nonce[:])
	if kind == evm.KindC {
		w.Key("extDataHash").Bytes(h.ExtDataHash[:])
	}
	w.Key("baseFeePerGas").Big(h.BaseFee)
	if kind == evm.KindC {
		w.Key("extDataGasUsed").Big(h.ExtDataGasUsed)
	}
	w.Key("blockGasCost").Big(h.BlockGasCost)
	w.Key("blobGasUsed").Uint(h.BlobGasUsed)
	w.Key("excessBlobGas").Uint(h.ExcessBlobGas)
	w.Key("parentBeaconBlockRoot").Bytes(h.ParentBeaconRoot[:])
	w.Key("timestampMilliseconds").Uint(h.TimeMilliseconds)
	w.Key("minDelayExcess").Uint(h.MinDelayExcess)
	if h.Asynchronous() {
		w.Key("targetExponent").Uint(*h.TargetExponent)
		w.Key("minPriceExponent").Uint(*h.MinPriceExponent)
		w.Key("settledHeight").Uint(*h.SettledHeight)
		w.Key("settledGasUnix").Uint(*h.SettledGasUnix)
		w.Key("settledGasNumerator").Uint(*h.SettledGasNumerator)
		w.Key("settledExcess").Uint(*h.SettledExcess)
	}
	w.Key("hash").Bytes(b.Hash[:])
	w.Close('}')
	return w.JSON
}
