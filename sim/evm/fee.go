package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm/precompile"
)

// feeRules computes the header fields of the fee rules: a C-Chain's from the fee state in its headers, an L1's from the configuration in
// force after the parent.
type feeRules struct {
	kind   Kind
	config precompile.FeeConfig // L1 only
}

// beforeExecution sets the gas limit, the base fee and the part of the extra data that is known before execution.
func (f feeRules) beforeExecution(parent, header *Header) {
	if f.kind == KindC {
		state := feeStateAt(parent, header.TimeMilliseconds)
		header.GasLimit, header.BaseFee = state.maxCapacity(), state.price()
		return
	}
	window := f.windowAt(parent, header.Time)
	header.GasLimit = f.config.GasLimit.Uint64() // of a larger number only the low 64 bits count, as on the network
	header.BaseFee = f.baseFeeL1(parent, header.Time, window)
	header.Extra = window.encode()
}

// NextBaseFee returns the base fee of a block at a time in milliseconds, by the fee configuration in force after its parent. A time before
// the parent's counts as the parent's.
func NextBaseFee(kind Kind, config precompile.FeeConfig, parent *Header, timeMS uint64) *big.Int {
	next := &Header{Time: timeMS / millisPerSecond, TimeMilliseconds: timeMS}
	feeRules{kind, config}.beforeExecution(parent, next)
	return next.BaseFee
}

// GasCapacity returns the total gas that a block at a time in milliseconds may use, atomic transactions included.
func GasCapacity(kind Kind, config precompile.FeeConfig, parent *Header, timeMS uint64) uint64 {
	if kind == KindC {
		return feeStateAt(parent, timeMS).capacity
	}
	return config.GasLimit.Uint64()
}

// Desired holds a proposer's preferences for the values that validators decide together: ACP-176's gas target and, since Helicon, ACP-283's
// least price, on a C-Chain, and ACP-226's delay between blocks. Nil leaves a value unchanged.
type Desired struct{ TargetExcess, DelayExcess, PriceExponent *uint64 }

// Claimed returns the preferences that a header implies. If the header moved further than one block may, Claimed cannot reproduce it.
func (h *Header) Claimed(kind Kind) Desired {
	d := Desired{DelayExcess: &h.MinDelayExcess}
	if kind == KindC {
		d.TargetExcess, d.PriceExponent = new(h.targetExponent()), h.MinPriceExponent
	}
	return d
}

// afterExecution sets the fields that depend on the gas used, and moves the target and the delay towards the proposer's preferences.
func (f feeRules) afterExecution(parent, header *Header, d Desired) {
	if d.DelayExcess != nil {
		header.MinDelayExcess = towards(header.MinDelayExcess, *d.DelayExcess, maxDelayDiff)
	}
	if f.kind != KindC {
		return
	}
	state := feeStateAt(parent, header.TimeMilliseconds).consume(header.GasUsed).consume(header.ExtDataGasUsed.Uint64())
	if d.TargetExcess != nil {
		state = state.moveTarget(*d.TargetExcess)
	}
	header.Extra = state.encode()
}

// ChildHeader returns the header of a parent's child as far as it is known before execution. The fee configuration is the one in force
// after the parent.
func ChildHeader(kind Kind, config precompile.FeeConfig, parent *Header, hash common.Hash, timeMS uint64, o Override) (*Header, error) {
	h := parent.nextHeader(hash, timeMS)
	feeRules{kind, config}.beforeExecution(parent, h)
	return h, o.apply(h)
}

// FinishFees fills in the fee fields of a header after execution.
func (h *Header) FinishFees(kind Kind, parent *Header) {
	feeRules{kind: kind}.afterExecution(parent, h, Desired{})
}
