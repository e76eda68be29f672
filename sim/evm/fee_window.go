package evm

import (
	"encoding/binary"
	"math/big"

	"github.com/holiman/uint256"
)

// An L1 keeps the gas used in each of the last ten seconds in its header's extra data and adjusts the base fee by its fee
// configuration (subnet-evm plugin/evm/customheader.BaseFee and feeWindow).
const (
	feeWindowSeconds = 10
	feeWindowBytes   = feeWindowSeconds * 8
)

// maxFee is the largest base fee that a header can hold: 256 bits.
var maxFee = new(uint256.Int).SetAllOne().ToBig()

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
