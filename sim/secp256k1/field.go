package secp256k1

import (
	"encoding/binary"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fp"
)

// fieldElement is a number modulo p = 2^256 - fold, lowest word first. It may be p or larger until it is reduced.
type fieldElement [4]uint64

// fold is 2^256 modulo p.
const fold = 1<<32 + 977

// mul sets z to the product of x and y.
func (z *fieldElement) mul(x, y *fieldElement) {
	y0, y1, y2, y3 := y[0], y[1], y[2], y[3]

	h0, r0 := bits.Mul64(x[0], y0)
	h1, l1 := bits.Mul64(x[0], y1)
	h2, l2 := bits.Mul64(x[0], y2)
	h3, l3 := bits.Mul64(x[0], y3)
	r1, c := bits.Add64(h0, l1, 0)
	r2, c := bits.Add64(h1, l2, c)
	r3, c := bits.Add64(h2, l3, c)
	r4 := h3 + c

	h0, l0 := bits.Mul64(x[1], y0)
	h1, l1 = bits.Mul64(x[1], y1)
	h2, l2 = bits.Mul64(x[1], y2)
	h3, l3 = bits.Mul64(x[1], y3)
	r1, c = bits.Add64(r1, l0, 0)
	r2, c = bits.Add64(r2, l1, c)
	r3, c = bits.Add64(r3, l2, c)
	r4, c = bits.Add64(r4, l3, c)
	r5 := h3 + c
	r2, c = bits.Add64(r2, h0, 0)
	r3, c = bits.Add64(r3, h1, c)
	r4, c = bits.Add64(r4, h2, c)
	r5 += c

	h0, l0 = bits.Mul64(x[2], y0)
	h1, l1 = bits.Mul64(x[2], y1)
	h2, l2 = bits.Mul64(x[2], y2)
	h3, l3 = bits.Mul64(x[2], y3)
	r2, c = bits.Add64(r2, l0, 0)
	r3, c = bits.Add64(r3, l1, c)
	r4, c = bits.Add64(r4, l2, c)
	r5, c = bits.Add64(r5, l3, c)
	r6 := h3 + c
	r3, c = bits.Add64(r3, h0, 0)
	r4, c = bits.Add64(r4, h1, c)
	r5, c = bits.Add64(r5, h2, c)
	r6 += c

	h0, l0 = bits.Mul64(x[3], y0)
	h1, l1 = bits.Mul64(x[3], y1)
	h2, l2 = bits.Mul64(x[3], y2)
	h3, l3 = bits.Mul64(x[3], y3)
	r3, c = bits.Add64(r3, l0, 0)
	r4, c = bits.Add64(r4, l1, c)
	r5, c = bits.Add64(r5, l2, c)
	r6, c = bits.Add64(r6, l3, c)
	r7 := h3 + c
	r4, c = bits.Add64(r4, h0, 0)
	r5, c = bits.Add64(r5, h1, c)
	r6, c = bits.Add64(r6, h2, c)
	r7 += c

	h0, l0 = bits.Mul64(r4, fold)
	h1, l1 = bits.Mul64(r5, fold)
	h2, l2 = bits.Mul64(r6, fold)
	h3, l3 = bits.Mul64(r7, fold)
	r0, c = bits.Add64(r0, l0, 0)
	r1, c = bits.Add64(r1, l1, c)
	r2, c = bits.Add64(r2, l2, c)
	r3, c = bits.Add64(r3, l3, c)
	r4 = h3 + c
	r1, c = bits.Add64(r1, h0, 0)
	r2, c = bits.Add64(r2, h1, c)
	r3, c = bits.Add64(r3, h2, c)
	r4 += c

	h0, l0 = bits.Mul64(r4, fold)
	r0, c = bits.Add64(r0, l0, 0)
	r1, c = bits.Add64(r1, h0, c)
	r2, c = bits.Add64(r2, 0, c)
	r3, c = bits.Add64(r3, 0, c)
	r0, c = bits.Add64(r0, c*fold, 0) // what is left after a carry is less than 2^68
	z[0], z[1], z[2], z[3] = r0, r1+c, r2, r3
}

// add sets z to x + y.
func (z *fieldElement) add(x, y *fieldElement) {
	r0, c := bits.Add64(x[0], y[0], 0)
	r1, c := bits.Add64(x[1], y[1], c)
	r2, c := bits.Add64(x[2], y[2], c)
	r3, c := bits.Add64(x[3], y[3], c)
	r0, c = bits.Add64(r0, c*fold, 0)
	r1, c = bits.Add64(r1, 0, c)
	r2, c = bits.Add64(r2, 0, c)
	r3, c = bits.Add64(r3, 0, c)
	z[0], z[1], z[2], z[3] = r0+c*fold, r1, r2, r3
}

// sub sets z to x - y.
func (z *fieldElement) sub(x, y *fieldElement) {
	r0, b := bits.Sub64(x[0], y[0], 0)
	r1, b := bits.Sub64(x[1], y[1], b)
	r2, b := bits.Sub64(x[2], y[2], b)
	r3, b := bits.Sub64(x[3], y[3], b)
	r0, b = bits.Sub64(r0, b*fold, 0)
	r1, b = bits.Sub64(r1, 0, b)
	r2, b = bits.Sub64(r2, 0, b)
	r3, b = bits.Sub64(r3, 0, b)
	z[0], z[1], z[2], z[3] = r0-b*fold, r1, r2, r3
}

// reduce makes z less than p.
func (z *fieldElement) reduce() {
	r0, c := bits.Add64(z[0], fold, 0)
	r1, c := bits.Add64(z[1], 0, c)
	r2, c := bits.Add64(z[2], 0, c)
	r3, c := bits.Add64(z[3], 0, c)
	if c != 0 {
		z[0], z[1], z[2], z[3] = r0, r1, r2, r3
	}
}

// invert sets z to 1/x.
func (z *fieldElement) invert(x *fieldElement) {
	var e fp.Element
	b := x.bytes()
	e.SetBytes(b[:])
	e.Inverse(&e)
	b = e.Bytes()
	z.setBytes(&b)
}

// bytes are those of the number modulo p, highest first.
func (z *fieldElement) bytes() (b [32]byte) {
	reduced := *z
	reduced.reduce()
	for i, word := range reduced {
		binary.BigEndian.PutUint64(b[24-8*i:], word)
	}
	return b
}

func (z *fieldElement) setBytes(b *[32]byte) {
	for i := range z {
		z[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
}
