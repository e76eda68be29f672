package secp256k1

import (
	"sync"

	"github.com/consensys/gnark-crypto/ecc/secp256k1"
)

// affine is a point of the curve other than the point at infinity.
type affine struct{ x, y fieldElement }

// jacobian is the point (x/z², y/z³).
type jacobian struct{ x, y, z fieldElement }

// add adds a point that is neither p nor its opposite; p is not the point at infinity.
func (p *jacobian) add(q *affine) {
	var zz, h, hh, hhh, r, v, t fieldElement
	zz.mul(&p.z, &p.z)
	h.mul(&q.x, &zz)
	h.sub(&h, &p.x)
	r.mul(&q.y, &zz)
	r.mul(&r, &p.z)
	r.sub(&r, &p.y)
	hh.mul(&h, &h)
	hhh.mul(&hh, &h)
	v.mul(&p.x, &hh)
	p.z.mul(&p.z, &h)
	t.mul(&p.y, &hhh)
	p.x.mul(&r, &r)
	p.x.sub(&p.x, &hhh)
	p.x.sub(&p.x, &v)
	p.x.sub(&p.x, &v)
	p.y.sub(&v, &p.x)
	p.y.mul(&p.y, &r)
	p.y.sub(&p.y, &t)
}

// double doubles p.
func (p *jacobian) double() {
	var yy, s, m, t fieldElement
	yy.mul(&p.y, &p.y)
	s.mul(&p.x, &yy)
	s.add(&s, &s)
	s.add(&s, &s)
	m.mul(&p.x, &p.x)
	t.add(&m, &m)
	m.add(&m, &t)
	p.z.mul(&p.z, &p.y)
	p.z.add(&p.z, &p.z)
	p.x.mul(&m, &m)
	p.x.sub(&p.x, &s)
	p.x.sub(&p.x, &s)
	t.mul(&yy, &yy)
	t.add(&t, &t)
	t.add(&t, &t)
	t.add(&t, &t)
	s.sub(&s, &p.x)
	p.y.mul(&m, &s)
	p.y.sub(&p.y, &t)
}

// affine is p, given 1/z.
func (p *jacobian) affine(inverse *fieldElement) (a affine) {
	var square fieldElement
	square.mul(inverse, inverse)
	a.x.mul(&p.x, &square)
	a.y.mul(&p.y, &square)
	a.y.mul(&a.y, inverse)
	a.x.reduce()
	a.y.reduce()
	return a
}

const (
	windows = 32  // of eight bits, of which the highest tells the sign
	entries = 128 // of a window: 1 to 128 times 2^(8w)
)

// multiples of the generator, made when they are first needed, in a millisecond.
var multiples = sync.OnceValue(func() *[windows][entries]affine {
	var points [windows][entries]jacobian
	_, generator := secp256k1.Generators()
	x, y := generator.X.Bytes(), generator.Y.Bytes()
	var base affine
	base.x.setBytes(&x)
	base.y.setBytes(&y)
	for w := range points {
		next := jacobian{base.x, base.y, fieldElement{1}}
		for i := range points[w] {
			points[w][i] = next
			if i == 0 {
				next.double()
			} else {
				next.add(&base)
			}
		}
		last := points[w][entries-1]
		last.double()
		var inverse fieldElement
		inverse.invert(&last.z)
		base = last.affine(&inverse)
	}
	return normalize(&points)
})

// normalize inverts all z with one inversion: from the inverse of the product of them all, each is got with the product of those before.
func normalize(points *[windows][entries]jacobian) *[windows][entries]affine {
	all := new([windows][entries]affine)
	product := fieldElement{1}
	for w := range points {
		for i := range points[w] {
			all[w][i].x = product // of those before, kept where the point will be
			product.mul(&product, &points[w][i].z)
		}
	}
	var inverse fieldElement
	inverse.invert(&product)
	for w := windows - 1; w >= 0; w-- {
		for i := entries - 1; i >= 0; i-- {
			var one fieldElement
			one.mul(&inverse, &all[w][i].x)
			inverse.mul(&inverse, &points[w][i].z)
			all[w][i] = points[w][i].affine(&one)
		}
	}
	return all
}

// timesGenerator is k times the generator. k, highest byte first, is at least 1 and at most half of the group's order, so that the signed
// digits need no carry out of the highest, and no sum of the lower ones is as large as the next or its opposite.
func timesGenerator(k *[32]byte) affine {
	table := multiples()
	var sum jacobian
	empty, carry := true, 0
	for w := range windows {
		digit := int(k[31-w]) + carry
		carry = 0
		if digit > entries {
			digit, carry = digit-256, 1
		}
		if digit == 0 {
			continue
		}
		point := table[w][max(digit, -digit)-1]
		if digit < 0 {
			point.y.sub(&fieldElement{}, &point.y)
		}
		if empty {
			sum, empty = jacobian{point.x, point.y, fieldElement{1}}, false
		} else {
			sum.add(&point)
		}
	}
	var inverse fieldElement
	inverse.invert(&sum.z)
	return sum.affine(&inverse)
}
