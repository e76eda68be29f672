package evm

import (
	"encoding/binary"
	"math"
	"math/big"
	"sort"

	"github.com/holiman/uint256"

	"snowglobe/sim/rules"
)

// Constants of ACP-176, which since Fortuna lets a C-Chain's gas limit and base fee follow load: avalanchego's vms/evm/acp176. Since Helicon
// the price follows a chain's gas time instead (ACP-194): gas_time.go.
const (
	minTarget           = 1_000_000 // gas per second that the base fee aims at unless validators ask for more
	targetConversion    = 1 << 25   // target excess that multiplies the target by e
	maxTargetExcessDiff = 1 << 15   // the most that one block moves the target excess
	maxTargetExcess     = 1_024_950_627
	targetToCapacity    = 2     // capacity grows by this multiple of the target
	timeToFillCapacity  = 5     // seconds until capacity is full
	priceConversion     = 87    // seconds of target gas that multiply the price by e; a full chain doubles it in a minute
	minGasPrice         = 1     // wei
	feeStateBytes       = 3 * 8 // at the beginning of the header's extra data
	millisPerSecond     = 1_000 // Granite counts time in milliseconds
)

// feeState is the fee state of a C-Chain after a block.
type feeState struct {
	capacity     uint64 // gas available at once
	excess       uint64 // gas used above the target
	targetExcess uint64 // how far validators have moved the target
}

func parseFeeState(extra []byte) feeState {
	if len(extra) < feeStateBytes {
		return feeState{}
	}
	return feeState{binary.BigEndian.Uint64(extra), binary.BigEndian.Uint64(extra[8:]), binary.BigEndian.Uint64(extra[16:])}
}

func (s feeState) encode() []byte {
	raw := make([]byte, 0, feeStateBytes)
	for _, v := range []uint64{s.capacity, s.excess, s.targetExcess} {
		raw = binary.BigEndian.AppendUint64(raw, v)
	}
	return raw
}

// feeStateAt returns the fee state just before a block at a time. Block 1 starts without capacity.
func feeStateAt(parent *Header, timeMS uint64) feeState {
	var s feeState
	if parent.Number.Sign() > 0 {
		s = parseFeeState(parent.Extra)
	}
	elapsed, rate := saturatingSub(timeMS, parent.TimeMilliseconds), s.target()/millisPerSecond
	s.capacity = min(saturatingAdd(s.capacity, saturatingMul(elapsed, rate*targetToCapacity)), s.maxCapacity())
	s.excess = saturatingSub(s.excess, saturatingMul(elapsed, rate))
	return s
}

// target returns the gas per second that a chain aims at.
func (s feeState) target() uint64 {
	return rules.Exponential(minTarget, s.targetExcess, targetConversion)
}

// maxCapacity returns a chain's capacity once it had time to fill up, which is the gas limit of its blocks.
func (s feeState) maxCapacity() uint64 {
	return saturatingMul(s.target(), targetToCapacity*timeToFillCapacity)
}

// price returns the base fee in wei.
func (s feeState) price() *big.Int {
	return new(big.Int).SetUint64(rules.Exponential(minGasPrice, s.excess, saturatingMul(s.target(), priceConversion)))
}

// consume subtracts the gas of a block. BlockExecution makes sure that a block uses no more than there is.
func (s feeState) consume(gas uint64) feeState {
	s.capacity, s.excess = saturatingSub(s.capacity, gas), saturatingAdd(s.excess, gas)
	return s
}

// moveTarget moves the target excess towards the proposer's preference, as far as one block may. The price stays the same.
func (s feeState) moveTarget(desired uint64) feeState {
	before := s.target()
	s.targetExcess = towards(s.targetExcess, desired, maxTargetExcessDiff)
	after := s.target()
	scaled := new(uint256.Int).Mul(uint256.NewInt(s.excess), uint256.NewInt(after))
	if scaled.Div(scaled, uint256.NewInt(before)); scaled.IsUint64() {
		s.excess = scaled.Uint64()
	} else {
		s.excess = math.MaxUint64
	}
	s.capacity = min(s.capacity, s.maxCapacity())
	return s
}

// TargetExcess returns the lowest target excess at which a C-Chain aims at the given gas per second.
func TargetExcess(target uint64) uint64 {
	return uint64(sort.Search(maxTargetExcess, func(excess int) bool { return feeState{targetExcess: uint64(excess)}.target() >= target }))
}

// towards moves a number towards another by at most one step.
func towards(from, to, step uint64) uint64 {
	if from < to {
		return from + min(to-from, step)
	}
	return from - min(from-to, step)
}

func saturatingAdd(a, b uint64) uint64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return math.MaxUint64
}

func saturatingSub(a, b uint64) uint64 { return a - min(a, b) }

func saturatingMul(a, b uint64) uint64 {
	if a != 0 && b > math.MaxUint64/a {
		return math.MaxUint64
	}
	return a * b
}
