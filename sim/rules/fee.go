package rules

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/holiman/uint256"
)

// Complexity is a P-Chain transaction's use of a node's resources, by dimension (ACP-103; avalanchego's gas.Dimensions). Bandwidth is in
// bytes, compute in microseconds.
type Complexity struct {
	Bandwidth, Reads, Writes, Compute uint64
}

func (c Complexity) plus(others ...Complexity) Complexity {
	for _, o := range others {
		c.Bandwidth += o.Bandwidth
		c.Reads += o.Reads
		c.Writes += o.Writes
		c.Compute += o.Compute
	}
	return c
}

func (c Complexity) times(n int) Complexity {
	k := uint64(n)
	return Complexity{c.Bandwidth * k, c.Reads * k, c.Writes * k, c.Compute * k}
}

// FeeConfig holds the constants of the P-Chain's dynamic fees.
type FeeConfig struct {
	Weights          Complexity
	MaxCapacity      uint64
	MaxPerSecond     uint64
	TargetPerSecond  uint64
	MinPrice         uint64
	ExcessConversion uint64
}

// Gas weighs and sums the dimensions of a complexity.
func (f *FeeConfig) Gas(c Complexity) uint64 {
	return c.Bandwidth*f.Weights.Bandwidth + c.Reads*f.Weights.Reads + c.Writes*f.Weights.Writes + c.Compute*f.Weights.Compute
}

// FeeState is the gas available to the next blocks, and the excess of past use over the target.
type FeeState struct {
	Capacity uint64
	Excess   uint64
}

// Advance returns the state after seconds without transactions.
func (s FeeState) Advance(f *FeeConfig, seconds uint64) FeeState {
	return FeeState{
		Capacity: min(addProduct(s.Capacity, f.MaxPerSecond, seconds), f.MaxCapacity),
		Excess:   subProduct(s.Excess, f.TargetPerSecond, seconds),
	}
}

// Consume returns the state after a block that uses gas.
func (s FeeState) Consume(gas uint64) (FeeState, error) {
	if gas > s.Capacity {
		return s, fmt.Errorf("insufficient gas capacity: attempted to consume %d gas units with %d available", gas, s.Capacity)
	}
	return FeeState{Capacity: s.Capacity - gas, Excess: addProduct(s.Excess, gas, 1)}, nil
}

// Price returns the price of a unit of gas in nAVAX.
func (s FeeState) Price(f *FeeConfig) uint64 {
	return Exponential(f.MinPrice, s.Excess, f.ExcessConversion)
}

// addProduct returns a + b*c, at most the largest number.
func addProduct(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(b, c)
	sum, carry := bits.Add64(a, lo, 0)
	if hi != 0 || carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// subProduct returns a - b*c, at least 0.
func subProduct(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(b, c)
	if hi != 0 || lo > a {
		return 0
	}
	return a - lo
}

// Exponential returns factor * e^(numerator / denominator) in integers, by the series of ACP-103 and of EIP-4844's fake exponential. It
// saturates at 64 bits.
func Exponential(factor, numerator, denominator uint64) uint64 {
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
