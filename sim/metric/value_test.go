package metric

import (
	"testing"

	"github.com/holiman/uint256"
)

// TestWholeQuotientsAreExact: an average that is an integer is written with all its digits, however many they are.
func TestWholeQuotientsAreExact(t *testing.T) {
	odd := uint256.NewInt(116912141156538295) // no float64 is this number
	large := new(uint256.Int).Lsh(uint256.NewInt(1), 200)
	for want, v := range map[string]Value{
		"116912141156538295": {*new(uint256.Int).Mul(odd, uint256.NewInt(7)), 7},
		"1606938044258990275541962092341162602522202993782792835301376": {*large, 1},
		"0":   {uint256.Int{}, 9},
		"2.5": {*uint256.NewInt(5), 2},
		"12":  {*uint256.NewInt(12), 1},
	} {
		if got := string(v.Append(nil)); got != want {
			t.Errorf("%s/%d is %s: want %s", &v.Amount, v.Over, got, want)
		}
	}
}
