package metric

import (
	"math/big"
	"strconv"
)

// Reading is what a metric needs of one tally.
type Reading struct {
	Start, First, Last int64 // of the interval, its first and its last block, Unix seconds
	Amount             *big.Int
	Over               int64
}

// Value is an exact amount, and what it must be divided by at the very end.
type Value struct {
	Amount *big.Int
	Over   int64
}

// Point is the value of an interval.
type Point struct {
	Start int64 // Unix seconds
	Value Value
}

// NewPoint is one whose value is an integer.
func NewPoint(start int64, n uint64) Point { return Point{start, Value{new(big.Int).SetUint64(n), 1}} }

// nothing is the value of an interval without blocks.
var nothing = Value{new(big.Int), 1}

// over is a value, or nothing if there is nothing to divide by.
func over(amount *big.Int, by int64) Value {
	if by <= 0 {
		return nothing
	}
	return Value{amount, by}
}

// String is the value in decimal: an integer as it is, a fraction as the nearest float.
func (v Value) String() string {
	r := new(big.Rat).SetFrac(v.Amount, big.NewInt(v.Over))
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// exceeds compares exactly.
func (v Value) exceeds(o Value) bool {
	a := new(big.Int).Mul(v.Amount, big.NewInt(o.Over))
	return a.Cmp(new(big.Int).Mul(o.Amount, big.NewInt(v.Over))) > 0
}
