package metric

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"

	"github.com/holiman/uint256"
)

// Reading holds the fields of one tally that a metric needs.
type Reading struct {
	Start, First, Last int64 // of the interval, its first and its last block, Unix seconds
	Amount             uint256.Int
	Over               int64
}

// AddOpenHours adds open hours to the readings of the intervals around them. The readings are in descending order.
func (m *Metric) AddOpenHours(i Interval, readings, hours []Reading) {
	for n := range hours {
		start := i.Start(hours[n].Start)
		at, found := slices.BinarySearchFunc(readings, start, func(r Reading, start int64) int { return cmp.Compare(start, r.Start) })
		if found {
			m.add(&readings[at], &hours[n])
		}
	}
}

// add adds a part of a reading's interval.
func (m *Metric) add(r, part *Reading) {
	r.First, r.Last = min(r.First, part.First), max(r.Last, part.Last)
	if !m.Highest {
		r.Amount.Add(&r.Amount, &part.Amount)
		if m.Over != "" {
			r.Over += part.Over
		}
		return
	}
	if rate, top := over(&part.Amount, part.Over), over(&r.Amount, r.Over); rate.exceeds(&top) {
		r.Amount, r.Over = part.Amount, part.Over
	}
}

// Value is an exact amount and its divisor; the division comes last.
type Value struct {
	Amount uint256.Int
	Over   int64
}

// Point is the value of an interval.
type Point struct {
	Start int64 // Unix seconds
	Value Value
}

// NewPoint makes a point with an integer value.
func NewPoint(start int64, n uint64) Point { return Point{start, Value{*uint256.NewInt(n), 1}} }

// nothing is the value of an interval without blocks.
var nothing = Value{Over: 1}

// over divides a value, and returns nothing if the divisor is zero.
func over(amount *uint256.Int, by int64) Value {
	if by <= 0 {
		return nothing
	}
	return Value{*amount, by}
}

// Append writes the value in decimal: an integer exactly, a fraction as the nearest float.
func (v *Value) Append(b []byte) []byte {
	var whole, rest uint256.Int
	whole.DivMod(&v.Amount, uint256.NewInt(uint64(v.Over)), &rest)
	switch {
	case !rest.IsZero():
		return strconv.AppendFloat(b, v.float(), 'f', -1, 64)
	case whole.IsUint64():
		return strconv.AppendUint(b, whole.Uint64(), 10)
	}
	return append(b, whole.Dec()...)
}

// exact is the limit up to which every integer is a float, so that the quotient of two floats is the nearest to the fraction.
const exact = 1 << 53

func (v *Value) float() float64 {
	if v.Amount.LtUint64(exact) && v.Over < exact {
		return float64(v.Amount.Uint64()) / float64(v.Over)
	}
	f, _ := new(big.Rat).SetFrac(v.Amount.ToBig(), big.NewInt(v.Over)).Float64()
	return f
}

// exceeds compares exactly: divided amounts are far below 2^192.
func (v *Value) exceeds(o *Value) bool {
	var a, b uint256.Int
	a.Mul(&v.Amount, uint256.NewInt(uint64(o.Over)))
	b.Mul(&o.Amount, uint256.NewInt(uint64(v.Over)))
	return a.Gt(&b)
}
