package population

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"math/rand/v2"
)

// RNG is the root of a world's randomness.
type RNG int64

// For returns the random generator of one purpose, named by its parts.
func (g RNG) For(parts ...any) *rand.Rand {
	return rand.New(rand.NewChaCha8(g.Hash(parts...)))
}

// Hash returns 32 random bytes for one purpose.
func (g RNG) Hash(parts ...any) [32]byte {
	text := fmt.Appendf(nil, "%d", int64(g))
	for _, part := range parts {
		text = fmt.Appendf(text, "/%v", part)
	}
	return sha256.Sum256(text)
}

// Skewed draws an index below n; small ones come far more often, like popular accounts and contracts.
func Skewed(r *rand.Rand, n int) int {
	u := uint64(r.Uint32())
	u = u * u >> 32 * u >> 32 // u³ in 32-bit fixed point
	return int(u * uint64(n) >> 32)
}

// Chance is true in percent of all draws.
func Chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// Between draws a number from low to high, both included.
func Between(r *rand.Rand, low, high int64) int64 { return low + r.Int64N(high-low+1) }

// Units returns count * 10^decimals.
func Units(count int64, decimals int) *big.Int {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return scale.Mul(scale, big.NewInt(count))
}

// Fraction draws a part of an amount, from 1/low to 1/high of it.
func Fraction(r *rand.Rand, amount *big.Int, low, high int64) *big.Int {
	return new(big.Int).Div(amount, big.NewInt(Between(r, high, low)))
}
