package metric

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/holiman/uint256"
)

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
