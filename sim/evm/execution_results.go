package evm

import (
	"cmp"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"
)

// ExecutionResults holds what executing a block gave. Before Helicon, and on an L1, the block's own header has it; since Helicon the header
// of the C-Chain block that settles this one has it, in part, and the file keeps it beside the block.
type ExecutionResults struct {
	BaseFee      *big.Int    // what gas cost, in wei; no more than the header's
	GasCharged   uint64      // to transactions and atomic transactions
	Root         common.Hash // of the state afterwards
	ReceiptHash  common.Hash
	GasUnix      uint64 // the gas time at the end, in Unix seconds
	GasNumerator uint64 // of the rest of a second; the denominator is twice the gas target
	Excess       uint64 // gas used above the target so far
}

// DecodeResults returns the results of a block, from its row's Execution and its header. A block that was executed when it was accepted has those of its
// header.
func DecodeResults(execution []byte, h *Header) (*ExecutionResults, error) {
	if !h.Asynchronous() {
		return &ExecutionResults{BaseFee: h.BaseFee, GasCharged: h.GasUsed, Root: h.Root, ReceiptHash: h.ReceiptHash}, nil
	}
	r := new(ExecutionResults)
	if err := rlp.DecodeBytes(execution, r); err != nil {
		return nil, fmt.Errorf("execution results: %w", err)
	}
	return r, nil
}

// PaidBaseFee returns what gas cost in a block, in wei, from its row's header and results.
func PaidBaseFee(kind Kind, header, execution []byte) (*big.Int, error) {
	h, err := DecodeHeader(kind, header)
	if err != nil {
		return nil, err
	}
	r, err := DecodeResults(execution, h)
	if err != nil {
		return nil, err
	}
	return r.BaseFee, nil
}

// Executed returns the header as the block's code saw it, with the results in place of the bounds and of what it settles but the bloom
// (avalanchego vms/saevm/sae/rpc, executedHeader).
func (r *ExecutionResults) Executed(h *Header) *Header {
	if !h.Asynchronous() {
		return h
	}
	executed := *h
	executed.BaseFee, executed.GasUsed, executed.Root, executed.ReceiptHash = r.BaseFee, r.GasCharged, r.Root, r.ReceiptHash
	return &executed
}

// GasTime returns the gas time after a block with these results, in Unix seconds.
func (r *ExecutionResults) GasTime(h *Header) float64 {
	t := r.gasTime(h)
	return float64(t.unix) + float64(t.numerator)/float64(t.rate())
}

// SettlesAt returns the first Unix millisecond at which a block may settle one with these results. delay is in milliseconds, 0 for the network's.
func (r *ExecutionResults) SettlesAt(h *Header, delay uint64) uint64 {
	t := r.gasTime(h)
	return saturatingAdd(max(h.TimeMilliseconds, t.milliseconds()), cmp.Or(delay, settlementDelay))
}

func (r *ExecutionResults) gasTime(h *Header) gasTime {
	if !h.Asynchronous() {
		return h.gasTimeAfter()
	}
	return gasTime{unix: r.GasUnix, numerator: r.GasNumerator, target: h.GasTarget(), excess: r.Excess, minPrice: h.minPrice()}
}

// AsynchronousChild returns the header of a block since Helicon on top of another one, as if that one were settled and nothing else waited,
// as far as it is known before execution. Simulations use it, which accept nothing.
func (r *ExecutionResults) AsynchronousChild(parent *Header, hash common.Hash, timeMS uint64) *Header {
	h, before := parent.nextHeader(hash, timeMS), r.gasTime(parent)
	target, price := parent.targetExponent(), uint64(0)
	if parent.MinPriceExponent != nil {
		price = *parent.MinPriceExponent
	}
	h.TargetExponent, h.MinPriceExponent, h.SettledHeight = &target, &price, new(parent.Number.Uint64())
	h.SettledGasUnix, h.SettledGasNumerator, h.SettledExcess = &before.unix, &before.numerator, &before.excess
	now := before
	now.beforeBlock(timeMS)
	h.GasLimit, h.BaseFee = now.maxBlockGas(), bigOf(now.price())
	return h
}

// Finish returns the results of such a block, given its header after execution and the results of its parent.
func (r *ExecutionResults) Finish(parent, h *Header) *ExecutionResults {
	t := r.gasTime(parent)
	t.beforeBlock(h.TimeMilliseconds)
	t.afterBlock(h.GasUsed, h.GasTarget(), h.minPrice())
	return &ExecutionResults{
		BaseFee: h.BaseFee, GasCharged: h.GasUsed, Root: h.Root, ReceiptHash: h.ReceiptHash, GasUnix: t.unix, GasNumerator: t.numerator, Excess: t.excess,
	}
}

// PriceBound is the most that gas can cost after a C-Chain's accepted blocks, whose gas is not known before they are executed (avalanchego
// vms/saevm/blocks.WorstCaseBounds).
type PriceBound struct{ gasTime }

// NewPriceBound begins with a settled block.
func NewPriceBound(h *Header, r *ExecutionResults) *PriceBound { return &PriceBound{r.gasTime(h)} }

// Add adds the next block, as if it used all the gas that it may.
func (b *PriceBound) Add(h *Header) {
	b.beforeBlock(h.TimeMilliseconds)
	b.afterBlock(h.GasUsed, h.GasTarget(), h.minPrice())
}

// Excess returns the gas above the target in that case.
func (b *PriceBound) Excess() uint64 { return b.excess }

// Price returns the bound in wei.
func (b *PriceBound) Price() *big.Int { return bigOf(b.price()) }
