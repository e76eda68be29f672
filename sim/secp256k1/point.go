package secp256k1

import (
	"sync"

	"github.com/consensys/gnark-crypto/ecc/secp256k1"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
)

const (
	width   = 11
	windows = (254 + width) / width // of a number up to half of the group's order, which has 255 bits
	entries = 1 << (width - 1)      // of a window: 1 to entries times 2^(width·w)
)

// affine is a point that is not at infinity.
type affine struct{ x, y field }

// multiples of the generator, a window's after another's, made when they are first needed, in milliseconds.
var multiples = sync.OnceValue(func() []affine {
	double, _ := secp256k1.Generators()
	var doubles [windows * width]secp256k1.G1Jac
	for i := range doubles {
		doubles[i] = double
		double.DoubleAssign()
	}
	powers := secp256k1.BatchJacobianToAffineG1(doubles[:])
	table := make([]affine, windows*entries)
	for i, power := range powers {
		table[i/width*entries+1<<(i%width)-1] = affine{power.X.Bits(), power.Y.Bits()}
	}
	// Of m multiples and the next power of two, 2m of them are made.
	products := make([]field, 0, windows*entries/2)
	for m := 2; m < entries; m *= 2 {
		product := field{1}
		products = products[:0]
		for w := 0; w < len(table); w += entries {
			for i := range m - 1 {
				var d field
				d.sub(&table[w+m-1].x, &table[w+i].x)
				products = append(products, product)
				product.mul(&product, &d)
			}
		}
		product.inverse(&product)
		for w := len(table) - entries; w >= 0; w -= entries {
			for i := m - 2; i >= 0; i-- {
				var d, inverse field
				p, q, r := &table[w+i], &table[w+m-1], &table[w+m+i]
				d.sub(&q.x, &p.x)
				inverse.mul(&product, &products[len(products)-1])
				product.mul(&product, &d)
				products = products[:len(products)-1]
				r.add(p, q, &inverse)
			}
		}
	}
	return table
})

// add sets r to p+q, which have different x, of which the difference's inverse is known.
func (r *affine) add(p, q *affine, inverse *field) {
	var slope, x, y field
	slope.sub(&q.y, &p.y)
	slope.mul(&slope, inverse)
	x.square(&slope)
	x.sub(&x, &p.x)
	x.sub(&x, &q.x)
	y.sub(&p.x, &x)
	y.mul(&y, &slope)
	y.sub(&y, &p.y)
	r.x, r.y = x, y
}

// extended is the point (x/zz, y/zzz) where zz³ = zzz²: https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html.
type extended struct{ x, y, zz, zzz field }

// add adds a point that is neither the same nor its opposite: madd-2008-s.
func (p *extended) add(q *affine) {
	var u, s, uu, uuu, v, t field
	u.mul(&q.x, &p.zz)
	s.mul(&q.y, &p.zzz)
	u.sub(&u, &p.x)
	s.sub(&s, &p.y)
	uu.square(&u)
	uuu.mul(&u, &uu)
	v.mul(&p.x, &uu)
	p.x.square(&s)
	p.x.sub(&p.x, &uuu)
	p.x.sub(&p.x, &v)
	p.x.sub(&p.x, &v)
	t.mul(&p.y, &uuu)
	v.sub(&v, &p.x)
	p.y.mul(&s, &v)
	p.y.sub(&p.y, &t)
	p.zz.mul(&p.zz, &uu)
	p.zzz.mul(&p.zzz, &uuu)
}

// affine divides by zz and zzz.
func (p *extended) affine() (q affine) {
	var i, t field
	i.inverse(&p.zzz)
	q.y.mul(&p.y, &i)
	t.mul(&p.zz, &i)
	t.square(&t)
	q.x.mul(&p.x, &t)
	return q
}

// multiple is k times the generator, for k that is not 0.
func multiple(k *fr.Element) affine {
	// Of a number up to half of the group's order, the highest digit leaves nothing to carry.
	least, opposite := *k, k.LexicographicallyLargest()
	if opposite {
		least.Neg(&least)
	}
	number, table := least.Bits(), multiples()
	var terms [windows]affine // read first: the table is too large for the fastest memory, which is waited for once then
	count, carry := 0, 0
	for w := range windows {
		digit := int(number[0]&(1<<width-1)) + carry
		number[0] = number[0]>>width | number[1]<<(64-width)
		number[1] = number[1]>>width | number[2]<<(64-width)
		number[2] = number[2]>>width | number[3]<<(64-width)
		number[3] >>= width
		carry = 0
		if digit > entries {
			digit, carry = digit-1<<width, 1
		}
		if digit == 0 {
			continue
		}
		term := &terms[count]
		*term = table[w*entries+max(digit, -digit)-1]
		if (digit < 0) != opposite {
			term.y.sub(new(field), &term.y)
		}
		count++
	}
	sum := extended{terms[0].x, terms[0].y, field{1}, field{1}}
	for i := range terms[1:count] {
		sum.add(&terms[1+i])
	}
	return sum.affine()
}
