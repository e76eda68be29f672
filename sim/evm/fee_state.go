package evm

import (
	"encoding/binary"
	"math"
	"math/big"
	"sort"

	"github.com/holiman/uint256"
)

// Constants of ACP-176, by which a C-Chain's gas limit and base fee follow load since Fortuna: avalanchego's vms/evm/acp176.
const (
	minTarget           = 1_000_000 // gas each second that the base fee aims at when validators ask for no more
	targetConversion    = 1 << 25   // target excess that multiplies the target by e
	maxTargetExcessDiff = 1 << 15   // a block moves the target excess no further
	maxTargetExcess     = 1_024_950_627
	targetToCapacity    = 2     // capacity grows by so many times the target
	timeToFillCapacity  = 5     // in so many seconds it is full
	priceConversion     = 87    // seconds of target gas that multiply the price by e; a full chain doubles it in a minute
	minGasPrice         = 1     // wei
	feeStateBytes       = 3 * 8 // at the beginning of the header's extra data
	millisPerSecond     = 1_000 // Granite counts time in milliseconds
)

// feeState is the state of a C-Chain's fees after a block.
type feeState struct {
	capacity     uint64 // gas that could be used at once
	excess       uint64 // gas used above the target
	targetExcess uint64 // by which validators have moved the target
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

// feeStateAt is the fee state just before a block at a time. Block 1 starts without capacity.
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

// target is the gas that a chain aims at each second.
func (s feeState) target() uint64 { return exponential(minTarget, s.targetExcess, targetConversion) }

// maxCapacity is the capacity of a chain that had time to fill up, which is the gas limit of its blocks.
func (s feeState) maxCapacity() uint64 {
	return saturatingMul(s.target(), targetToCapacity*timeToFillCapacity)
}

// price is the base fee in wei.
func (s feeState) price() *big.Int {
	return new(big.Int).SetUint64(exponential(minGasPrice, s.excess, saturatingMul(s.target(), priceConversion)))
}

// consume takes the gas of a block. A block cannot use more than there is; Pending sees to that.
func (s feeState) consume(gas uint64) feeState {
	s.capacity, s.excess = saturatingSub(s.capacity, gas), saturatingAdd(s.excess, gas)
	return s
}

// moveTarget moves the target excess towards what the proposer wants, as far as one block may. The price stays what it was.
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

// TargetExcess is the least target excess with which a C-Chain aims at so much gas each second.
func TargetExcess(target uint64) uint64 {
	return uint64(sort.Search(maxTargetExcess, func(excess int) bool { return feeState{targetExcess: uint64(excess)}.target() >= target }))
}

// exponential is factor * e^(numerator / denominator) in integers, by the series of EIP-4844's fake exponential; what does not
// fit 64 bits is the largest number that does.
func exponential(factor, numerator, denominator uint64) uint64 {
	var term, sum, limit, n, d, step uint256.Int
	n.SetUint64(numerator)
	d.SetUint64(denominator)
	term.Mul(term.SetUint64(factor), &d)
	limit.Mul(limit.SetUint64(math.MaxUint64), &d)
	for i := uint64(1); !term.IsZero(); i++ {
		if sum.Add(&sum, &term); !sum.Lt(&limit) {
			return math.MaxUint64
		}
		term.Mul(&term, &n)
		term.Div(&term, step.Mul(&d, step.SetUint64(i)))
	}
	return sum.Div(&sum, &d).Uint64()
}

// towards moves a number towards another, by no more than a step.
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

// Constants of ACP-226, by which validators decide how long a block must wait after its parent since Granite: avalanchego's
// vms/evm/acp226.
const (
	minDelay        = 1       // milliseconds
	delayConversion = 1 << 20 // delay excess that multiplies the delay by e
	maxDelayDiff    = 200     // a block moves the delay excess no further
	maxDelayExcess  = 46_516_320
	initialDelay    = 7_970_124 // the delay excess that a chain starts with: two seconds
)

// delay is how many milliseconds pass at least between a block with this delay excess and its child.
func delay(excess uint64) uint64 { return exponential(minDelay, excess, delayConversion) }

// DelayExcess is the least delay excess with which blocks are so many milliseconds apart.
func DelayExcess(milliseconds uint64) uint64 {
	return uint64(sort.Search(maxDelayExcess, func(excess int) bool { return delay(uint64(excess)) >= milliseconds }))
}

// EarliestChild is the first millisecond in which a block may follow this one.
func (h *Header) EarliestChild() uint64 {
	return saturatingAdd(h.TimeMilliseconds, delay(h.MinDelayExcess))
}

// buildableGas is the most capacity for which coreth's miner waits before it makes a block: the gas limit of a C-Chain since Cortina.
const buildableGas = 15_000_000

// EarliestBlock is the first millisecond in which a node makes a block: as soon as ACP-226 allows and, on a C-Chain, once it has most of
// its capacity (coreth, miner.createCurrentEnvironment).
func EarliestBlock(kind Kind, head *Header) uint64 {
	first := head.EarliestChild()
	if kind != KindC {
		return first
	}
	state := feeStateAt(head, first)
	limit := state.maxCapacity()
	need := min(limit-limit/timeToFillCapacity, buildableGas)
	if state.capacity >= need {
		return first
	}
	rate := state.target() / millisPerSecond * targetToCapacity // each millisecond, as feeStateAt has it
	return first + (need-state.capacity+rate-1)/rate
}
