package seed

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"math/rand/v2"
)

// dice is the root of a world's randomness.
type rng int64

// For is the randomness for one purpose, named by its parts, and for nothing else.
func (d rng) For(parts ...any) *rand.Rand {
	return rand.New(rand.NewChaCha8(d.hash(parts...)))
}

// hash is 32 bytes for one purpose.
func (d rng) hash(parts ...any) [32]byte {
	text := fmt.Appendf(nil, "%d", int64(d))
	for _, part := range parts {
		text = fmt.Appendf(text, "/%v", part)
	}
	return sha256.Sum256(text)
}

// skewed draws an index below n; small ones come far more often, as popular people and contracts do.
func skewed(r *rand.Rand, n int) int {
	u := uint64(r.Uint32())
	u = u * u >> 32 * u >> 32 // u³ in 32-bit fixed point
	return int(u * uint64(n) >> 32)
}

// chance is true in percent of all draws.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// between draws a number from low to high, both included.
func between(r *rand.Rand, low, high int64) int64 { return low + r.Int64N(high-low+1) }

// units is count * 10^decimals.
func units(count int64, decimals int) *big.Int {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return scale.Mul(scale, big.NewInt(count))
}

// part draws a part of an amount, at least 1/low and at most 1/high of it.
func part(r *rand.Rand, amount *big.Int, low, high int64) *big.Int {
	return new(big.Int).Div(amount, big.NewInt(between(r, high, low)))
}
