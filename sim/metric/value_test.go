package metric

import (
	"math/big"
	"testing"
)

// TestWholeQuotientsAreExact: an average that is an integer is written with all its digits, however many they are.
func TestWholeQuotientsAreExact(t *testing.T) {
	large, _ := new(big.Int).SetString("116912141156538295", 10) // no float64 is this number
	for want, v := range map[string]Value{
		"116912141156538295": {new(big.Int).Mul(large, big.NewInt(7)), 7},
		"0":                  {new(big.Int), 9},
		"2.5":                {big.NewInt(5), 2},
		"12":                 {big.NewInt(12), 1},
	} {
		if got := v.String(); got != want {
			t.Errorf("%s/%d is %s: want %s", v.Amount, v.Over, got, want)
		}
	}
}
