package evm

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/holiman/uint256"

	"snowglobe/sim/evm/precompile"
)

// The base fee follows load. A C-Chain keeps a fee state in its header's extra data (24 bytes, the layout of ACP-176):
// gas above the target adds to the excess, and the price is the minimum times e^(excess / conversion). An L1 keeps the
// gas used in each of the last ten seconds (80 bytes) and adjusts the base fee by its fee configuration, as subnet-evm does (customheader.BaseFee).
// The C-Chain's rates are scaled to a world whose blocks are minutes apart, so that its fee moves as a busy chain's does.
const (
	feeWindowSeconds = 10
	feeWindowBytes   = feeWindowSeconds * 8

	feeStateBytes     = 24
	capacityPerSecond = 2_000_000 // gas by which capacity grows each second
	targetPerSecond   = 1_500     // gas by which excess falls each second
	excessConversion  = 4_000_000 // excess that multiplies the price by e
	maxExcess         = 3 * excessConversion
)

// maxFee is the largest base fee that a header can hold: 256 bits.
var maxFee = new(uint256.Int).SetAllOne().ToBig()

// feeRules computes the header fields of the fee rules, by the configuration that holds after the parent.
type feeRules struct {
	kind   Kind
	config precompile.FeeConfig
}

// gasLimit is the gas limit of a block; of a larger number the last 64 bits count, as on the network.
func (f feeRules) gasLimit() uint64 { return f.config.GasLimit.Uint64() }

// beforeExecution sets gas limit, base fee and the part of the extra data that is known before execution.
func (f feeRules) beforeExecution(parent, header *Header) {
	header.GasLimit = f.gasLimit()
	if f.kind == KindC {
		header.BaseFee = f.basePriceC(f.feeStateAt(parent, header.Time).excess)
		return
	}
	window := f.windowAt(parent, header.Time)
	header.BaseFee = f.baseFeeL1(parent, header.Time, window)
	header.Extra = window.encode()
}

// NextBaseFee is the base fee of a block at a time, by the fee configuration that holds after its parent.
func NextBaseFee(kind Kind, config precompile.FeeConfig, parent *Header, time uint64) *big.Int {
	next := &Header{Time: time}
	feeRules{kind, config}.beforeExecution(parent, next)
	return next.BaseFee
}

// gasCapacity is the gas that a block may use in all.
func (f feeRules) gasCapacity(parent, header *Header) uint64 {
	if f.kind == KindC {
		return min(f.feeStateAt(parent, header.Time).capacity, header.GasLimit)
	}
	return header.GasLimit
}

// afterExecution sets the extra data of a C-Chain's header once the gas used is known.
func (f feeRules) afterExecution(parent, header *Header) {
	if f.kind != KindC {
		return
	}
	state := f.feeStateAt(parent, header.Time)
	used := header.GasUsed + header.ExtDataGasUsed.Uint64()
	state.capacity -= min(used, state.capacity)
	state.excess = min(state.excess+used, maxExcess)
	header.Extra = state.encode()
}

// feeState is the fee state of a C-Chain after a block.
type feeState struct{ capacity, excess, targetExcess uint64 }

func (s feeState) encode() []byte {
	raw := make([]byte, 0, feeStateBytes)
	for _, v := range []uint64{s.capacity, s.excess, s.targetExcess} {
		raw = binary.BigEndian.AppendUint64(raw, v)
	}
	return raw
}

// feeStateAt is the fee state of a C-Chain just before a block at the given time.
func (f feeRules) feeStateAt(parent *Header, time uint64) feeState {
	state := feeState{capacity: f.gasLimit()}
	if len(parent.Extra) >= feeStateBytes {
		state.capacity = binary.BigEndian.Uint64(parent.Extra)
		state.excess = binary.BigEndian.Uint64(parent.Extra[8:])
		state.targetExcess = binary.BigEndian.Uint64(parent.Extra[16:])
	}
	elapsed := time - parent.Time
	state.capacity = min(f.gasLimit(), saturatingAdd(state.capacity, saturatingMul(elapsed, capacityPerSecond)))
	state.excess -= min(state.excess, saturatingMul(elapsed, targetPerSecond))
	return state
}

// basePriceC is minimum * e^(excess / conversion) in integers, by the series of EIP-4844's fake exponential.
func (f feeRules) basePriceC(excess uint64) *big.Int {
	var term, sum, numerator, step uint256.Int
	denominator := uint256.NewInt(excessConversion)
	term.Mul(uint256.MustFromBig(f.config.MinBaseFee), denominator)
	numerator.SetUint64(excess)
	for i := uint64(1); !term.IsZero(); i++ {
		sum.Add(&sum, &term)
		term.Mul(&term, &numerator)
		term.Div(&term, step.Mul(denominator, uint256.NewInt(i)))
	}
	return sum.Div(&sum, denominator).ToBig()
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

// windowAt is the parent's window with the parent's own gas added, moved on to the given time.
func (f feeRules) windowAt(parent *Header, time uint64) feeWindow {
	var w feeWindow
	if len(parent.Extra) < feeWindowBytes {
		return w
	}
	for i := range w {
		w[i] = binary.BigEndian.Uint64(parent.Extra[8*i:])
	}
	w[feeWindowSeconds-1] = saturatingAdd(w[feeWindowSeconds-1], parent.GasUsed)
	elapsed := time - parent.Time
	if elapsed >= feeWindowSeconds {
		return feeWindow{}
	}
	var moved feeWindow
	copy(moved[:], w[elapsed:])
	return moved
}

// baseFeeL1 is the base fee of an L1: it rises while the window holds more gas than the target and falls otherwise, faster
// the longer no block came, and never below the configured floor.
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
		if windows := (time - parent.Time) / feeWindowSeconds; windows > 1 {
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

func saturatingAdd(a, b uint64) uint64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return math.MaxUint64
}

func saturatingMul(a, b uint64) uint64 {
	if a != 0 && b > math.MaxUint64/a {
		return math.MaxUint64
	}
	return a * b
}
