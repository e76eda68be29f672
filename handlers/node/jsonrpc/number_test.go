package jsonrpc

import (
	"math"
	"testing"
)

// TestSaturated: a sum stops at the largest number and never wraps around.
func TestSaturated(t *testing.T) {
	for _, c := range []struct {
		sum    Uint64
		amount uint64
		want   Uint64
	}{
		{1, 2, 3},
		{math.MaxUint64 - 2, 2, math.MaxUint64},
		{math.MaxUint64 - 1, 2, math.MaxUint64},
		{math.MaxUint64, math.MaxUint64, math.MaxUint64},
	} {
		if got := Saturated(c.sum, c.amount); got != c.want {
			t.Errorf("%d and %d are %d, want %d", c.sum, c.amount, got, c.want)
		}
	}
}
