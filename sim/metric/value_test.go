package metric

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/holiman/uint256"
)

// TestWholeQuotientsAreExact: an integer average is written with all its digits, however many there are.
func TestWholeQuotientsAreExact(t *testing.T) {
	odd := uint256.NewInt(116912141156538295) // no float64 equals this number
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

// TestValuesAreExactOrTheNearestFloat writes quotients of numbers of every size.
func TestValuesAreExactOrTheNearestFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole := 0
	for range 20_000 {
		amount := new(big.Int).Rsh(new(big.Int).SetUint64(r.Uint64()), uint(r.IntN(64)))
		amount.Lsh(amount, uint(r.IntN(100)))
		over := int64(r.Uint64()>>(1+r.IntN(63))) + 1
		if r.IntN(4) == 0 {
			amount.Mul(amount, big.NewInt(over))
		}
		want := new(big.Rat).SetFrac(amount, big.NewInt(over))
		text := want.RatString()
		if !want.IsInt() {
			f, _ := want.Float64()
			text = strconv.FormatFloat(f, 'f', -1, 64)
		} else {
			whole++
		}
		v := Value{*uint256.MustFromBig(amount), over}
		if have := string(v.Append(nil)); have != text {
			t.Fatalf("%s / %d is %s, want %s", amount, over, have, text)
		}
	}
	if whole < 1000 {
		t.Errorf("only %d quotients are integers", whole)
	}
}
