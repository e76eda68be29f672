package secp256k1

import (
	"encoding/binary"
	"math/bits"
)

// field is a number modulo the prime p = 2^256 - excess, in four words, the lowest first. It may be p or more; reduced makes it less.
//
// Package fp reduces products modulo any prime. This prime is so close to 2^256 that the upper half of a product folds into the lower:
// 2^256 = excess modulo p.
type field [4]uint64

const excess = 1<<32 + 977

// mul sets z to x·y.
func (z *field) mul(x, y *field) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	var low field
	var a0, a1, a2, a3, k uint64
	for i, b := range y {
		h0, l0 := bits.Mul64(b, x0)
		h1, l1 := bits.Mul64(b, x1)
		h2, l2 := bits.Mul64(b, x2)
		h3, l3 := bits.Mul64(b, x3)
		low[i], k = bits.Add64(a0, l0, 0)
		l1, k = bits.Add64(a1, l1, k)
		l2, k = bits.Add64(a2, l2, k)
		l3, k = bits.Add64(a3, l3, k)
		h3 += k
		a0, k = bits.Add64(l1, h0, 0)
		a1, k = bits.Add64(l2, h1, k)
		a2, k = bits.Add64(l3, h2, k)
		a3 = h3 + k
	}
	z.fold(&low, a0, a1, a2, a3)
}

// square sets z to x².
func (z *field) square(x *field) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	var k uint64
	// the products of different words, each of which occurs twice
	t2, t1 := bits.Mul64(x0, x1)
	h02, l02 := bits.Mul64(x0, x2)
	t4, t3 := bits.Mul64(x0, x3)
	h12, l12 := bits.Mul64(x1, x2)
	h13, l13 := bits.Mul64(x1, x3)
	t6, t5 := bits.Mul64(x2, x3)
	t2, k = bits.Add64(t2, l02, 0)
	t3, k = bits.Add64(t3, h02, k)
	t4, k = bits.Add64(t4, l13, k)
	t5, k = bits.Add64(t5, h13, k)
	t6 += k
	t3, k = bits.Add64(t3, l12, 0)
	t4, k = bits.Add64(t4, h12, k)
	t5, k = bits.Add64(t5, 0, k)
	t6 += k
	t7 := t6 >> 63
	t6 = t6<<1 | t5>>63
	t5 = t5<<1 | t4>>63
	t4 = t4<<1 | t3>>63
	t3 = t3<<1 | t2>>63
	t2 = t2<<1 | t1>>63
	t1 <<= 1
	h0, t0 := bits.Mul64(x0, x0)
	h1, l1 := bits.Mul64(x1, x1)
	h2, l2 := bits.Mul64(x2, x2)
	h3, l3 := bits.Mul64(x3, x3)
	t1, k = bits.Add64(t1, h0, 0)
	t2, k = bits.Add64(t2, l1, k)
	t3, k = bits.Add64(t3, h1, k)
	t4, k = bits.Add64(t4, l2, k)
	t5, k = bits.Add64(t5, h2, k)
	t6, k = bits.Add64(t6, l3, k)
	t7 += h3 + k
	z.fold(&field{t0, t1, t2, t3}, t4, t5, t6, t7)
}

// fold sets z to the low four words of a product plus excess times the high ones, which leaves a fifth word of 34 bits, and folds that once
// more. After a further carry so little is left that a last excess fits.
func (z *field) fold(low *field, a0, a1, a2, a3 uint64) {
	h0, l0 := bits.Mul64(a0, excess)
	h1, l1 := bits.Mul64(a1, excess)
	h2, l2 := bits.Mul64(a2, excess)
	h3, l3 := bits.Mul64(a3, excess)
	t0, k := bits.Add64(low[0], l0, 0)
	t1, k := bits.Add64(low[1], l1, k)
	t2, k := bits.Add64(low[2], l2, k)
	t3, k := bits.Add64(low[3], l3, k)
	h3 += k
	t1, k = bits.Add64(t1, h0, 0)
	t2, k = bits.Add64(t2, h1, k)
	t3, k = bits.Add64(t3, h2, k)
	h3 += k
	h3, l3 = bits.Mul64(h3, excess)
	t0, k = bits.Add64(t0, l3, 0)
	t1, k = bits.Add64(t1, h3, k)
	t2, k = bits.Add64(t2, 0, k)
	t3, k = bits.Add64(t3, 0, k)
	if k != 0 {
		t0, k = bits.Add64(t0, excess, 0)
		t1 += k
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
}

// sub sets z to x-y.
func (z *field) sub(x, y *field) {
	t0, k := bits.Sub64(x[0], y[0], 0)
	t1, k := bits.Sub64(x[1], y[1], k)
	t2, k := bits.Sub64(x[2], y[2], k)
	t3, k := bits.Sub64(x[3], y[3], k)
	t0, k = bits.Sub64(t0, excess&-k, 0)
	t1, k = bits.Sub64(t1, 0, k)
	t2, k = bits.Sub64(t2, 0, k)
	t3, k = bits.Sub64(t3, 0, k)
	if k != 0 { // less than excess was left, so this does not borrow
		t0 -= excess
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
}

// reduced returns the same number, less than p.
func (z *field) reduced() field {
	t0, k := bits.Add64(z[0], excess, 0)
	t1, k := bits.Add64(z[1], 0, k)
	t2, k := bits.Add64(z[2], 0, k)
	t3, k := bits.Add64(z[3], 0, k)
	if k != 0 {
		return field{t0, t1, t2, t3}
	}
	return *z
}

// bytes returns the number modulo p, the highest byte first.
func (z *field) bytes() [32]byte { return bytesOf(z.reduced()) }

func bytesOf(words [4]uint64) (b [32]byte) {
	for i, word := range words {
		binary.BigEndian.PutUint64(b[24-8*i:], word)
	}
	return b
}

// inverse sets z to 1/x, or to 0 for 0.
func (z *field) inverse(x *field) { *z = primeModulus.inverse(x.reduced()) }
