package evm

import (
	"encoding/binary"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/precompile"
)

// An L1 keeps the gas used in each of the last ten seconds in its header's extra data and adjusts the base fee by its fee
// configuration (subnet-evm plugin/evm/customheader.BaseFee and feeWindow).
const (
	feeWindowSeconds = 10
	feeWindowBytes   = feeWindowSeconds * 8
)

// maxFee is the largest base fee that a header can hold: 256 bits.
var maxFee = new(uint256.Int).SetAllOne().ToBig()

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
		target := h.targetExponent()
		d.TargetExcess, d.PriceExponent = &target, h.MinPriceExponent
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

// feeWindow is the gas used in each of the last ten seconds, oldest first.
type feeWindow [feeWindowSeconds]uint64

func (w feeWindow) encode() []byte {
	raw := make([]byte, 0, feeWindowBytes)
	for _, v := range w {
		raw = binary.BigEndian.AppendUint64(raw, v)
	}
	return raw
}

func (w feeWindow) sum() uint64 {
	var total uint64
	for _, v := range w {
		total = saturatingAdd(total, v)
	}
	return total
}

// windowAt advances the parent's window, with the parent's own gas added, to the given time. Block 0 leaves an empty window.
func (f feeRules) windowAt(parent *Header, time uint64) feeWindow {
	var w feeWindow
	if parent.Number.Sign() == 0 || len(parent.Extra) < feeWindowBytes {
		return w
	}
	for i := range w {
		w[i] = binary.BigEndian.Uint64(parent.Extra[8*i:])
	}
	w[feeWindowSeconds-1] = saturatingAdd(w[feeWindowSeconds-1], parent.GasUsed)
	elapsed := saturatingSub(time, parent.Time)
	if elapsed >= feeWindowSeconds {
		return feeWindow{}
	}
	var moved feeWindow
	copy(moved[:], w[elapsed:])
	return moved
}

// baseFeeL1 returns an L1's base fee: it rises while the window holds more gas than the target and falls otherwise, faster the longer no
// block came, and never below the configured minimum.
func (f feeRules) baseFeeL1(parent *Header, time uint64, w feeWindow) *big.Int {
	floor := f.config.MinBaseFee
	if parent.Number.Sign() == 0 {
		return new(big.Int).Set(floor)
	}
	fee, gap := new(big.Int).Set(parent.BaseFee), new(big.Int).SetUint64(w.sum())
	switch gap.Sub(gap, f.config.TargetGas); gap.Sign() {
	case 1:
		fee.Add(fee, f.feeChange(parent, gap))
	case -1:
		delta := f.feeChange(parent, gap.Neg(gap))
		if windows := saturatingSub(time, parent.Time) / feeWindowSeconds; windows > 1 {
			delta.Mul(delta, new(big.Int).SetUint64(windows))
		}
		fee.Sub(fee, delta)
	default:
		return fee
	}
	switch {
	case fee.Cmp(floor) < 0:
		return new(big.Int).Set(floor)
	case fee.Cmp(maxFee) > 0:
		return new(big.Int).Set(maxFee)
	}
	return fee
}

func (f feeRules) feeChange(parent *Header, gap *big.Int) *big.Int {
	delta := new(big.Int).Mul(gap, parent.BaseFee)
	delta.Div(delta, f.config.TargetGas)
	delta.Div(delta, f.config.BaseFeeChangeDenominator)
	if delta.Sign() == 0 {
		delta.SetUint64(1)
	}
	return delta
}
