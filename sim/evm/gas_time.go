package evm

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"

	"github.com/holiman/uint256"

	"snowglobe/sim/rules"
)

// Constants of ACP-194, under which a C-Chain accepts blocks before it executes them since Helicon: avalanchego's vms/saevm/params.
const (
	settlementDelay    = 5_000 // milliseconds from the execution of a block to the first block that may settle it: Tau
	minGasDivisor      = 2     // a transaction is charged at least its gas limit divided by this: Lambda
	maxFullBlocks      = 2     // in the queue of accepted blocks while it takes another one
	maxBlockSeconds    = settlementDelay / millisPerSecond * minGasDivisor
	maxPriceDiff       = 288_230_376_151_711_744 / 3_600 // the most that one block moves the exponent of the least price (ACP-283)
	priceExponentScale = 415_828_534_307_635_077         // exponent that multiplies the least price by e
)

// gasTime is a time that gas drives: the chain's rate is twice its target per second. The excess over the target decides the price. It does
// what avalanchego's vms/saevm/gastime.Time does.
type gasTime struct {
	unix      uint64 // seconds
	numerator uint64 // of the rest of a second, whose denominator is the rate
	target    uint64 // gas per second
	excess    uint64
	minPrice  uint64
}

// gasTimeAt begins gas time at a time in Unix milliseconds.
func gasTimeAt(timeMS, target, excess, minPrice uint64) gasTime {
	t := gasTime{target: target, excess: excess, minPrice: minPrice}
	t.unix, t.numerator = t.split(timeMS)
	t.raiseExcess()
	return t
}

func (t *gasTime) rate() uint64 { return t.target * targetToCapacity }

// split divides milliseconds into seconds and a numerator, rounded up.
func (t *gasTime) split(timeMS uint64) (unix, numerator uint64) {
	return timeMS / millisPerSecond, mulDivUp(timeMS%millisPerSecond, t.rate(), millisPerSecond)
}

// price returns the price of gas in wei.
func (t *gasTime) price() uint64 { return max(t.minPrice, t.priceOf(t.excess)) }

func (t *gasTime) priceOf(excess uint64) uint64 {
	return rules.Exponential(minGasPrice, excess, saturatingMul(t.target, priceConversion))
}

// maxBlockGas returns the gas limit of a block.
func (t *gasTime) maxBlockGas() uint64 {
	return min(t.rate(), math.MaxUint64/((maxFullBlocks+1)*maxBlockSeconds)) * maxBlockSeconds
}

// beforeBlock moves on to a block's time, unless gas time is past it.
func (t *gasTime) beforeBlock(timeMS uint64) {
	unix, numerator := t.split(timeMS)
	if unix < t.unix || unix == t.unix && numerator <= t.numerator {
		return
	}
	seconds, rest := unix-t.unix, numerator-t.numerator
	if t.numerator > numerator {
		seconds, rest = seconds-1, t.rate()-(t.numerator-numerator)
	}
	t.unix, t.numerator = unix, numerator
	t.excess = saturatingSub(t.excess, saturatingMul(seconds, t.target))
	t.excess = saturatingSub(t.excess, rest/targetToCapacity)
	t.raiseExcess()
}

// afterBlock adds the gas of a block, and changes over to the target and the least price that follow it.
func (t *gasTime) afterBlock(gas, target, minPrice uint64) {
	sum, carry := bits.Add64(t.numerator, gas, 0)
	seconds, numerator := bits.Div64(carry, sum, t.rate())
	t.unix += seconds
	t.excess = mulDivUp(saturatingAdd(t.excess, gas/targetToCapacity), target, t.target)
	before := t.rate()
	t.target, t.minPrice = target, minPrice
	t.numerator = mulDivUp(numerator, t.rate(), before)
	t.raiseExcess()
}

// raiseExcess makes sure that the excess gives the least price.
func (t *gasTime) raiseExcess() {
	if t.priceOf(t.excess) < t.minPrice {
		t.excess = max(t.excess, t.excessFor(t.minPrice))
	}
}

// excessFor returns the least excess with a price, or, if no excess has exactly this price, the greatest one with a lower price.
func (t *gasTime) excessFor(price uint64) uint64 {
	if price <= minGasPrice {
		return 0
	}
	excess := leastUint64(func(excess uint64) bool { return t.priceOf(excess) >= price })
	if t.priceOf(excess) > price {
		excess--
	}
	return excess
}

// leastUint64 is sort.Search over all numbers of 64 bits.
func leastUint64(fits func(uint64) bool) uint64 {
	low, high := uint64(0), uint64(math.MaxUint64)
	for low < high {
		if middle := low + (high-low)/2; fits(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// after compares gas time with a time in Unix milliseconds.
func (t *gasTime) after(timeMS uint64) bool {
	if c := cmp.Compare(t.unix, timeMS/millisPerSecond); c != 0 {
		return c > 0
	}
	high, low := bits.Mul64(t.numerator, millisPerSecond)
	otherHigh, otherLow := bits.Mul64(timeMS%millisPerSecond, t.rate())
	return high > otherHigh || high == otherHigh && low > otherLow
}

// milliseconds returns the first Unix millisecond that gas time is not after.
func (t *gasTime) milliseconds() uint64 {
	return t.unix*millisPerSecond + mulDivUp(t.numerator, millisPerSecond, t.rate())
}

// mulDivUp returns a*b/c, rounded up; it saturates at 64 bits.
func mulDivUp(a, b, c uint64) uint64 {
	var x, d uint256.Int
	x.Mul(x.SetUint64(a), d.SetUint64(b))
	x.Add(&x, d.SetUint64(c-1))
	if x.Div(&x, d.SetUint64(c)); !x.IsUint64() {
		return math.MaxUint64
	}
	return x.Uint64()
}

// minPrice returns the least price of gas after a block, in wei (ACP-283).
func (h *Header) minPrice() uint64 {
	if h.MinPriceExponent == nil {
		return minGasPrice
	}
	return rules.Exponential(minGasPrice, *h.MinPriceExponent, priceExponentScale)
}

// targetExponent returns how far validators have moved a C-Chain's target at a block. The last block before Helicon has it in its fee state.
func (h *Header) targetExponent() uint64 {
	if h.TargetExponent != nil {
		return *h.TargetExponent
	}
	if h.Number.Sign() == 0 {
		return 0
	}
	return parseFeeState(h.Extra).targetExcess
}

// GasTarget returns the gas per second that a C-Chain is to use after a block.
func (h *Header) GasTarget() uint64 { return feeState{targetExcess: h.targetExponent()}.target() }

// gasTimeAfter returns the gas time after a block that was executed when it was accepted: the last one before Helicon.
func (h *Header) gasTimeAfter() gasTime {
	t := gasTime{target: h.GasTarget()}
	price := uint64(math.MaxUint64)
	if h.BaseFee.IsUint64() {
		price = h.BaseFee.Uint64()
	}
	return gasTimeAt(h.TimeMilliseconds, t.target, t.excessFor(price), h.minPrice())
}

func bigOf(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
